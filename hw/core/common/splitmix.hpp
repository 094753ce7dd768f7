// Pseudo-random numbers, the same for the same seed.
#pragma once

#include <cstdint>

namespace certree {

// SplitMix64 (Steele, Lea, Flood 2014).
constexpr std::uint64_t splitmix64(std::uint64_t value) {
  value += 0x9E3779B97F4A7C15U;
  value = (value ^ value >> 30U) * 0xBF58476D1CE4E5B9U;
  value = (value ^ value >> 27U) * 0x94D049BB133111EBU;
  return value ^ value >> 31U;
}

}  // namespace certree
