// Paced, as in the MultiTree paper (section IV-A): a timestep counter, which counts on from iteration to iteration, and a lockstep
// down-counter.
#pragma once

#include "interface/sequencers/row_order.hpp"
#include "interface/sequencers/timestep_counter.hpp"

namespace certree {

class PaceSequencer final : public Sequencer {
 public:
  PaceSequencer(const Program& program, NodeId node) : rows_(program, node), counter_(program, node) {
    counter_.load(Cycle{}, step_is_issued());
  }
  void begin_cycle(Cycle now, UnitState units) override;
  std::optional<Firing> head(Cycle now) override;
  bool pop(Cycle now) override;
  Cycle wake(Cycle now, UnitState units) const override { return counter_.wake(now, units, step_is_issued()); }
  bool is_listening(Cycle) const override { return true; }
  std::optional<Firing> pending() const override;

 private:
  bool step_is_issued() const { return !rows_.is_over() && rows_.step() > counter_.step(); }

  RowOrder rows_;
  TimestepCounter counter_;
};

}  // namespace certree
