// Ids and times that cannot be mixed up.
#pragma once

#include <compare>
#include <cstdint>

namespace certree {

template <class Tag>
struct Id {
  std::uint32_t value = 0;
  auto operator<=>(const Id&) const = default;
};

using NodeId = Id<struct NodeTag>;
using LaneId = Id<struct LaneTag>;
using BundleId = Id<struct BundleTag>;
using RowId = Id<struct RowTag>;
using ArrivalId = Id<struct ArrivalTag>;
using MessageId = Id<struct MessageTag>;

// A point in time: cycle t lasts from time t to time t + 1.
struct Cycle {
  std::uint64_t value = 0;
  auto operator<=>(const Cycle&) const = default;
  friend Cycle operator+(Cycle cycle, std::uint64_t cycles) { return {cycle.value + cycles}; }
  friend std::uint64_t operator-(Cycle later, Cycle earlier) { return later.value - earlier.value; }
};

inline constexpr Cycle kNever{UINT64_MAX};

// Opcodes of table rows, as in the contract.
enum class RowOp : std::uint8_t { kNop = 0, kReduce = 1, kGather = 2 };

}  // namespace certree
