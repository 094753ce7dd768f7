#include "interface/sequencers/pace_sequencer.hpp"

namespace certree {

void PaceSequencer::begin_cycle(Cycle now, UnitState units) {
  if (!counter_.may_advance(now, units, step_is_issued())) return;
  counter_.go_to(counter_.step() + 1);
  counter_.load(now, step_is_issued());
}

std::optional<Firing> PaceSequencer::pending() const {
  if (rows_.is_over()) return std::nullopt;
  return rows_.firing();
}

std::optional<Firing> PaceSequencer::head(Cycle now) {
  if (!counter_.has_started(now) || rows_.is_over() || rows_.step() != counter_.step()) return std::nullopt;
  return rows_.firing();
}

bool PaceSequencer::pop(Cycle) {
  rows_.advance();
  return false;
}

}  // namespace certree
