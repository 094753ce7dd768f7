// Slotted: row r of iteration i fires in slot step(r) + i · period.
#pragma once

#include "interface/sequencer.hpp"

namespace certree {

// Rows are kept by `step mod period`, each with its stage = `step div period`; in the q-th period a row serves iteration q - stage
// and is switched off outside 0 .. repeats - 1. Memory O(rows of the node).
class SlotSequencer final : public Sequencer {
 public:
  SlotSequencer(const Program& program, NodeId node);
  void begin_cycle(Cycle, UnitState) override {}
  std::optional<Firing> head(Cycle now) const override;
  bool pop(Cycle now) override;
  Cycle wake(Cycle now, UnitState) const override;
  bool is_listening(Cycle now) const override;
  std::optional<Firing> pending() const override;

 private:
  Cycle opening() const;
  std::uint64_t stage() const { return program_.row_step[order_[position_]] / program_.period; }
  void skip_switched_off();

  const Program& program_;
  NodeId node_;
  std::vector<std::uint32_t> order_;  // rows by (step mod period, table order)
  std::size_t position_ = 0;
  std::uint64_t turn_ = 0;  // q, the number of the period
  std::uint64_t turns_ = 0;
};

}  // namespace certree
