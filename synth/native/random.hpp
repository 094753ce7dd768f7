// SplitMix64: a small generator whose sequence is part of "same seed, same bytes" (std distributions are not portable).
#pragma once

#include <cstdint>

namespace certree {

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t next() {
    uint64_t z = (state_ += 0x9E3779B97F4A7C15ULL);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 31);
  }
  // A number in 0..bound-1 (bound >= 1).
  int32_t below(int32_t bound) {
    return static_cast<int32_t>((static_cast<unsigned __int128>(next()) * static_cast<uint64_t>(bound)) >> 64);
  }

 private:
  uint64_t state_;
};

}  // namespace certree
