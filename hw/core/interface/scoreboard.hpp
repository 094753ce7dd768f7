// Counts arrivals: iteration i of a row waits for counters of i + 1.
#pragma once

#include <vector>

#include "common/types.hpp"

namespace certree {

class Scoreboard {
 public:
  explicit Scoreboard(std::size_t arrivals) : counts_(arrivals) {}
  void count(ArrivalId arrival) { ++counts_[arrival.value]; }
  bool has(ArrivalId arrival, std::uint32_t iteration) const { return counts_[arrival.value] > iteration; }

 private:
  std::vector<std::uint32_t> counts_;
};

}  // namespace certree
