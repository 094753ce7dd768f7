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
  // Of one input or output.
  struct Arbiter {
    std::uint32_t pointer = 0;   // who is preferred
    std::uint32_t best = 0;      // request that is preferred so far
    std::uint32_t distance = 0;  // of it from the pointer
    bool is_matched = false;
  };
  // The arbiter sees a request of requester `who` out of `size`.
  static void consider(Arbiter& arbiter, std::uint32_t who, std::uint32_t size, std::uint32_t request);
  void iterate(std::span<const Request> requests, bool is_first);
  void move_pointers(const Request& request);

  AllocatorKind kind_;
  std::uint32_t iterations_;
  std::uint32_t input_count_;
  std::uint32_t output_count_;
  std::vector<Arbiter> inputs_;
  std::vector<Arbiter> outputs_;
  std::vector<std::uint32_t> granted_;
};

}  // namespace certree
