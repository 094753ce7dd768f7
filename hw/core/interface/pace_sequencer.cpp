#include "interface/pace_sequencer.hpp"

namespace certree {

PaceSequencer::PaceSequencer(const Program& program, NodeId node)
    : program_(program),
      next_(program.row_begin[node.value]),
      end_(program.row_begin[node.value + 1]),
      start_(program.local_time(node.value, 0)),
      step_cycles_(program.local_cycles(node.value, program.step_cycles)) {
  load_down_counter(start_);
}

void PaceSequencer::load_down_counter(Cycle now) {
  if (step_is_issued()) lockstep_end_ = now + step_cycles_;  // a step without rows at this node: NOP
}

void PaceSequencer::begin_cycle(Cycle now, UnitState units) {
  if (!may_advance(now, units)) return;
  ++timestep_;
  load_down_counter(now);
}

std::optional<Firing> PaceSequencer::pending() const {
  if (is_done()) return std::nullopt;
  return Firing{{next_}, 0};
}

std::optional<Firing> PaceSequencer::head(Cycle now) const {
  if (now < start_ || is_done() || program_.row_step[next_] != timestep_) return std::nullopt;
  return pending();
}

bool PaceSequencer::pop(Cycle) {
  ++next_;
  return false;
}

Cycle PaceSequencer::wake(Cycle now, UnitState units) const {
  if (now < start_) return start_;
  if (!step_is_issued()) return kNever;
  if (now < lockstep_end_) return lockstep_end_;
  return units.are_idle ? now + 1 : kNever;
}

}  // namespace certree
