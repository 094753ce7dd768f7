// A physical link in one direction: what serializes messages, and the wires behind it.
#pragma once

#include "endpoint/units/rate.hpp"

namespace certree::endpoint {

class Wire {
 public:
  Wire(Rate rate, std::uint64_t latency) : server_(rate), latency_(latency) {}

  // A message whose first byte is there in cycle `head` and whose last is in `tail`: when both have come out. O(1).
  Span send(Cycle head, Cycle tail, std::uint64_t bytes) {
    const Span span = server_.reserve(head, bytes, 0, tail);
    bytes_ += bytes;
    return {span.first + latency_, span.last + latency_};
  }

  std::uint64_t busy_cycles() const { return server_.busy_cycles(); }
  std::uint64_t bytes() const { return bytes_; }

 private:
  Server server_;
  std::uint64_t latency_;
  std::uint64_t bytes_ = 0;
};

}  // namespace certree::endpoint
