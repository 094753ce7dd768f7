// Paced, for endpoints that choose which iteration is begun next: rows in the order of steps, counted from the first step of each
// iteration.
#pragma once

#include <deque>
#include <queue>
#include <vector>

#include "interface/sequencers/iteration_order.hpp"
#include "interface/sequencers/timestep_counter.hpp"

namespace certree {

// With iterations that begin a period after each other, all known from the start, this is PaceSequencer to the cycle. The counter
// of a node goes to the first step of a fresh iteration at once when all rows before have fired: a collective that is asked for
// when nothing is in progress takes as long as at the start. O(log(iterations in progress)) for each row.
class MergingSequencer final : public Sequencer {
 public:
  MergingSequencer(const Program& program, NodeId node, IterationOrder& order);
  void begin_cycle(Cycle now, UnitState units) override;
  std::optional<Firing> head(Cycle now) override;
  bool pop(Cycle now) override;
  Cycle wake(Cycle now, UnitState units) const override { return counter_.wake(now, units, step_is_issued()); }
  bool is_listening(Cycle) const override { return true; }
  std::optional<Firing> pending() const override;

 private:
  // Of an iteration: its next row.
  struct Next {
    std::uint64_t step;
    std::uint32_t row;
    std::uint32_t iteration;
    std::uint64_t place;
    std::size_t position;  // among rows_
    bool operator>(const Next& than) const { return step != than.step ? step > than.step : row > than.row; }
  };
  struct InProgress {
    std::uint64_t first_step;
    bool is_fresh;
    std::size_t rows_left;
  };

  void learn(Cycle now);
  void go_to(std::uint64_t step, Cycle now);
  bool step_is_issued() const { return !next_.empty() && next_.top().step > counter_.step(); }

  const Program& program_;
  IterationOrder& order_;
  TimestepCounter counter_;
  std::vector<std::uint32_t> rows_;  // of an iteration, in the order of steps
  std::priority_queue<Next, std::vector<Next>, std::greater<>> next_;
  std::deque<InProgress> in_progress_;  // from place `oldest_` on
  std::uint64_t oldest_ = 0, known_ = 0;
};

}  // namespace certree
