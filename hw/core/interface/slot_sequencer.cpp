#include "interface/slot_sequencer.hpp"

#include <algorithm>
#include <numeric>

namespace certree {

SlotSequencer::SlotSequencer(const Program& program, NodeId node) : program_(program), node_(node) {
  order_.resize(program.row_begin[node.value + 1] - program.row_begin[node.value]);
  std::iota(order_.begin(), order_.end(), program.row_begin[node.value]);
  std::stable_sort(order_.begin(), order_.end(), [&](std::uint32_t a, std::uint32_t b) {
    return program.row_step[a] % program.period < program.row_step[b] % program.period;
  });
  for (std::uint32_t row : order_) {
    turns_ = std::max<std::uint64_t>(turns_, program.row_step[row] / program.period + program.repeats);
  }
  skip_switched_off();
}

Cycle SlotSequencer::opening() const {
  const std::uint64_t slot = turn_ * program_.period + program_.row_step[order_[position_]] % program_.period;
  return program_.local_time(node_.value, slot * program_.slot_cycles);
}

std::optional<Firing> SlotSequencer::pending() const {
  if (turn_ == turns_) return std::nullopt;
  return Firing{{order_[position_]}, static_cast<std::uint32_t>(turn_ - stage())};
}

std::optional<Firing> SlotSequencer::head(Cycle now) const {
  if (turn_ == turns_ || now < opening()) return std::nullopt;
  return pending();
}

bool SlotSequencer::pop(Cycle now) {
  const bool late = opening() < now;
  ++position_;
  skip_switched_off();
  return late;
}

Cycle SlotSequencer::wake(Cycle now, UnitState) const { return turn_ == turns_ || opening() <= now ? kNever : opening(); }

// While the slot of the next row is still to open, nothing else matters.
bool SlotSequencer::is_listening(Cycle now) const { return wake(now, {}) == kNever; }

void SlotSequencer::skip_switched_off() {
  for (; turn_ < turns_; ++position_) {
    if (position_ == order_.size()) {
      position_ = 0;
      if (++turn_ == turns_) return;
    }
    if (stage() <= turn_ && turn_ - stage() < program_.repeats) return;
  }
}

}  // namespace certree
