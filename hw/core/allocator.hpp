// Matches requesters (inputs) with resources (outputs): each gets one of the other at most.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "network_layout.hpp"

namespace certree {

struct Request {
  std::uint32_t input;
  std::uint32_t output;
  std::uint32_t label;  // the caller's, for instance the VC behind an input port
};

// Round-robin arbiters on both sides. iSLIP (McKeown 1999) grants first: each output picks an input, then each input accepts one
// grant; pointers move past a match of the first iteration only. The separable allocator lets the inputs pick first. A cycle costs
// O(requests · iterations).
class Allocator {
 public:
  Allocator(AllocatorKind kind, std::uint32_t iterations, std::uint32_t inputs, std::uint32_t outputs);

  // Indices of the requests that are granted, at most one for each input and each output; no pair asks twice.
  std::span<const std::uint32_t> allocate(std::span<const Request> requests);

 private:
  struct Side {
    explicit Side(std::uint32_t size) : pointer(size), best(size), distance(size), is_matched(size) {}
    std::vector<std::uint32_t> pointer;   // who is preferred
    std::vector<std::uint32_t> best;      // request that is preferred so far
    std::vector<std::uint32_t> distance;  // of it from the pointer
    std::vector<std::uint8_t> is_matched;
  };
  // The arbiter `index` of a side sees a request of requester `who` out of `size`.
  static void consider(Side& side, std::uint32_t index, std::uint32_t who, std::uint32_t size, std::uint32_t request);
  void iterate(std::span<const Request> requests, bool is_first);

  AllocatorKind kind_;
  std::uint32_t iterations_;
  std::uint32_t input_count_;
  std::uint32_t output_count_;
  Side inputs_;
  Side outputs_;
  std::vector<std::uint32_t> granted_;
};

}  // namespace certree
