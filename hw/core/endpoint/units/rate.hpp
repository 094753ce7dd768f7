// Exact bandwidths: N bytes in M cycles, and a unit that serves one request after the other at such a rate.
#pragma once

#include <algorithm>
#include <stdexcept>

#include "common/types.hpp"

namespace certree::endpoint {

// `bytes` every `cycles` cycles; neither is zero.
struct Rate {
  std::uint64_t bytes = 1;
  std::uint64_t cycles = 1;
};

// When a request was served, in whole cycles around the exact times.
struct Span {
  Cycle first;
  Cycle last;
};

// First come, first served. It counts in ticks, of which a cycle has as many as the rate has bytes: no rounding adds up.
class Server {
 public:
  explicit Server(Rate rate) : rate_(rate), last_(kMost / rate.bytes), longest_(kMost / rate.cycles) {}

  // The request is there in cycle `ready`, takes what its bytes take and `gap` cycles more, and cannot end before `last_byte`.
  // Throws std::overflow_error where that makes more ticks than 64 bits hold.
  Span reserve(Cycle ready, std::uint64_t bytes, std::uint64_t gap = 0, Cycle last_byte = {}) {
    if (std::max({ready.value, last_byte.value, gap}) > last_ || bytes > longest_ || free_at_ > kMost) {
      throw std::overflow_error("endpoints: too many ticks");
    }
    const std::uint64_t start = std::max(free_at_, ready.value * rate_.bytes);
    const std::uint64_t end = std::max(start + bytes * rate_.cycles, last_byte.value * rate_.bytes);
    free_at_ = end + gap * rate_.bytes;
    busy_ += free_at_ - start;
    return {rounded_up(start), rounded_up(end)};
  }

  // Rounded up.
  std::uint64_t busy_cycles() const { return cycles_of(busy_); }
  // The same without what the last request takes after a cycle.
  std::uint64_t busy_cycles(Cycle now) const {
    const std::uint64_t until = now.value > last_ ? free_at_ : std::min(free_at_, now.value * rate_.bytes);
    return cycles_of(busy_ - (free_at_ - until));
  }

 private:
  static constexpr std::uint64_t kMost = std::uint64_t{1} << 61U;  // ticks: three such terms make a sum below 2^63

  std::uint64_t cycles_of(std::uint64_t ticks) const { return (ticks + rate_.bytes - 1) / rate_.bytes; }
  Cycle rounded_up(std::uint64_t ticks) const { return {cycles_of(ticks)}; }

  Rate rate_;
  std::uint64_t last_;     // cycle, and
  std::uint64_t longest_;  // bytes, of a request
  std::uint64_t free_at_ = 0;
  std::uint64_t busy_ = 0;
};

}  // namespace certree::endpoint
