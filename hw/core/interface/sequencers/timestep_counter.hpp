// The timestep counter of a node, and its lockstep down-counter (MultiTree, section IV-A).
#pragma once

#include <algorithm>

#include "common/program.hpp"
#include "interface/sequencers/sequencer.hpp"

namespace certree {

// `is_issued`: all rows of the step have fired, and later ones are left. The counter then waits for the down-counter, which is
// loaded with the time of a step without rows (NOP), and for the units.
class TimestepCounter {
 public:
  TimestepCounter(const Program& program, NodeId node)
      : start_(program.local_time(node.value, 0)), step_cycles_(program.local_cycles(node.value, program.step_cycles)) {}

  bool has_started(Cycle now) const { return now >= start_; }
  std::uint64_t step() const { return step_; }
  void go_to(std::uint64_t step) { step_ = std::max(step_, step); }
  void load(Cycle now, bool is_issued) {
    if (is_issued) end_ = std::max(now, start_) + step_cycles_;
  }
  bool may_advance(Cycle now, UnitState units, bool is_issued) const { return is_issued && now >= end_ && units.are_idle; }
  Cycle wake(Cycle now, UnitState units, bool is_issued) const {
    if (now < start_) return start_;
    if (!is_issued) return kNever;
    if (now < end_) return end_;
    return units.are_idle ? now + 1 : kNever;
  }

 private:
  Cycle start_;                // the node's skew
  std::uint64_t step_cycles_;  // how long a step without rows lasts, by the clock of the node
  std::uint64_t step_ = 0;
  Cycle end_{};  // when the down-counter reaches zero
};

}  // namespace certree
