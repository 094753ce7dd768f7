#include "interface/sequencers/slot_sequencer.hpp"

namespace certree {

SlotSequencer::SlotSequencer(const Program& program, NodeId node) : program_(program), node_(node), rows_(program, node) {}

Cycle SlotSequencer::opening() const { return program_.local_time(node_.value, rows_.step() * program_.slot_cycles); }

std::optional<Firing> SlotSequencer::pending() const {
  if (rows_.is_over()) return std::nullopt;
  return rows_.firing();
}

std::optional<Firing> SlotSequencer::head(Cycle now) {
  if (rows_.is_over() || now < opening()) return std::nullopt;
  return rows_.firing();
}

bool SlotSequencer::pop(Cycle now) {
  const bool late = opening() < now;
  rows_.advance();
  return late;
}

Cycle SlotSequencer::wake(Cycle now, UnitState) const { return rows_.is_over() || opening() <= now ? kNever : opening(); }

// While the slot of the next row is still to open, nothing else matters.
bool SlotSequencer::is_listening(Cycle now) const { return wake(now, {}) == kNever; }

}  // namespace certree
