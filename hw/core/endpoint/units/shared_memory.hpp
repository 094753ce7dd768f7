// The memory of a node, which computing shares with the DMAs.
#pragma once

#include <limits>

#include "endpoint/units/parameters.hpp"

namespace certree::endpoint {

// Computing asks for blocks at its rate from cycle 0 on, each in the cycle in which the one before it is through: late ones follow
// at once. They take the bus for their bytes alone. What a DMA asks for comes to the bus behind its overhead, and goes behind
// blocks that are asked for by then. Blocks are counted when a DMA, or `settle`, comes by: between the two nothing sees them.
// O(blocks) in all.
class SharedMemory {
 public:
  explicit SharedMemory(const Parameters& parameters)
      : bus_(parameters.memory), overhead_(parameters.memory.overhead), computing_(parameters.computing) {}

  Cycle transfer(Cycle now, std::uint64_t bytes, bool ends = true) {
    settle(now + overhead_);
    return bus_.transfer(now, bytes, ends);
  }

  // What computing has asked for by then.
  void settle(Cycle now) {
    if (computing_.block_bytes == 0) return;
    while (next_ <= now) {
      last_ = bus_.occupy(next_, computing_.block_bytes);
      __extension__ using Wide = unsigned __int128;
      const Wide due = Wide{++blocks_} * computing_.block_bytes * computing_.rate.cycles / computing_.rate.bytes;
      constexpr std::uint64_t kNever = std::numeric_limits<std::uint64_t>::max();
      next_ = std::max(Cycle{due > kNever ? kNever : static_cast<std::uint64_t>(due)}, Cycle{last_.value - 1});
    }
  }
  // The bytes that computing has had by a time up to which all is settled.
  std::uint64_t computed(Cycle now) const { return (blocks_ - (blocks_ > 0 && last_ > now)) * computing_.block_bytes; }
  // Cycles in which the bus has been busy by then.
  std::uint64_t busy_cycles(Cycle now) const { return bus_.busy_cycles(now); }
  const Bus& bus() const { return bus_; }

 private:
  Bus bus_;
  std::uint64_t overhead_;
  Computing computing_;
  std::uint64_t blocks_ = 0;
  Cycle next_;  // when the next block is asked for
  Cycle last_;  // when the last one is through
};

}  // namespace certree::endpoint
