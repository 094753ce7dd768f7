#include "interface/sequencers/pace_sequencer.hpp"

namespace certree {

PaceSequencer::PaceSequencer(const Program& program, NodeId node)
    : rows_(program, node),
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
  if (rows_.is_over()) return std::nullopt;
  return rows_.firing();
}

std::optional<Firing> PaceSequencer::head(Cycle now) {
  if (now < start_ || rows_.is_over() || rows_.step() != timestep_) return std::nullopt;
  return rows_.firing();
}

bool PaceSequencer::pop(Cycle) {
  rows_.advance();
  return false;
}

Cycle PaceSequencer::wake(Cycle now, UnitState units) const {
  if (now < start_) return start_;
  if (!step_is_issued()) return kNever;
  if (now < lockstep_end_) return lockstep_end_;
  return units.are_idle ? now + 1 : kNever;
}

}  // namespace certree
