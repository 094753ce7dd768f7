// How many of something are in use over time.
#pragma once

#include <algorithm>

#include "common/types.hpp"

namespace certree {

class Occupancy {
 public:
  void take(Cycle now) {
    settle(now);
    most_ = std::max(most_, ++used_);
  }
  void free(Cycle now) {
    settle(now);
    --used_;
  }
  std::uint64_t most() const { return most_; }
  // Summed up over all cycles until `now`.
  std::uint64_t cycles(Cycle now) const { return cycles_ + used_ * (now - since_); }

 private:
  void settle(Cycle now) {
    cycles_ = cycles(now);
    since_ = now;
  }

  std::uint64_t used_ = 0;
  std::uint64_t most_ = 0;
  std::uint64_t cycles_ = 0;
  Cycle since_;
};

}  // namespace certree
