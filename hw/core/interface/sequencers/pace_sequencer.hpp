// Paced, as in the MultiTree paper (section IV-A): a timestep counter, which counts on from iteration to iteration, and a lockstep
// down-counter.
#pragma once

#include "interface/sequencers/row_order.hpp"

namespace certree {

class PaceSequencer final : public Sequencer {
 public:
  PaceSequencer(const Program& program, NodeId node);
  void begin_cycle(Cycle now, UnitState units) override;
  std::optional<Firing> head(Cycle now) override;
  bool pop(Cycle now) override;
  Cycle wake(Cycle now, UnitState units) const override;
  bool is_listening(Cycle) const override { return true; }
  std::optional<Firing> pending() const override;

 private:
  bool step_is_issued() const { return !rows_.is_over() && rows_.step() > timestep_; }
  bool may_advance(Cycle now, UnitState units) const { return step_is_issued() && lockstep_end_ <= now && units.are_idle; }
  void load_down_counter(Cycle now);

  RowOrder rows_;
  Cycle start_;                // the node's skew
  std::uint64_t step_cycles_;  // how long a step without rows lasts, by the clock of the node
  std::uint64_t timestep_ = 0;
  Cycle lockstep_end_;  // when the down-counter reaches zero
};

}  // namespace certree
