// Slotted: each step has a slot, in which its rows fire.
#pragma once

#include "interface/sequencers/row_order.hpp"

namespace certree {

class SlotSequencer final : public Sequencer {
 public:
  SlotSequencer(const Program& program, NodeId node);
  void begin_cycle(Cycle, UnitState) override {}
  std::optional<Firing> head(Cycle now) override;
  bool pop(Cycle now) override;
  Cycle wake(Cycle now, UnitState) const override;
  bool is_listening(Cycle now) const override;
  std::optional<Firing> pending() const override;

 private:
  Cycle opening() const;

  const Program& program_;
  NodeId node_;
  RowOrder rows_;
};

}  // namespace certree
