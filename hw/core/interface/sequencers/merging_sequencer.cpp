#include "interface/sequencers/merging_sequencer.hpp"

#include <algorithm>
#include <numeric>

namespace certree {

MergingSequencer::MergingSequencer(const Program& program, NodeId node, IterationOrder& order)
    : program_(program),
      order_(order),
      counter_(program, node),
      rows_(program.row_begin[node.value + 1] - program.row_begin[node.value]) {
  std::iota(rows_.begin(), rows_.end(), program.row_begin[node.value]);
  std::stable_sort(rows_.begin(), rows_.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return program.row_step[a] < program.row_step[b]; });
}

void MergingSequencer::learn(Cycle now) {
  if (rows_.empty()) return;
  while (const Begun* one = order_.at(known_, now, counter_.step(), next_.empty())) {
    const bool was_idle = next_.empty();
    next_.push({one->first_step + program_.row_step[rows_[0]], rows_[0], one->iteration, known_++, 0});
    in_progress_.push_back({one->first_step, one->is_fresh, rows_.size()});
    if (was_idle && one->is_fresh) go_to(one->first_step, now);
  }
}

void MergingSequencer::go_to(std::uint64_t step, Cycle now) {
  counter_.go_to(step);
  order_.note_step(counter_.step());
  learn(now);  // a row of this step may be that of an iteration that begins in it
  counter_.load(now, step_is_issued());
}

void MergingSequencer::begin_cycle(Cycle now, UnitState units) {
  learn(now);
  if (counter_.may_advance(now, units, step_is_issued())) go_to(counter_.step() + 1, now);
}

std::optional<Firing> MergingSequencer::pending() const {
  if (next_.empty()) return std::nullopt;
  return Firing{{next_.top().row}, next_.top().iteration};
}

std::optional<Firing> MergingSequencer::head(Cycle now) {
  learn(now);
  if (!counter_.has_started(now) || next_.empty() || next_.top().step > counter_.step()) return std::nullopt;
  if (!order_.is_asked_for(next_.top().iteration, now)) return std::nullopt;
  return pending();
}

bool MergingSequencer::pop(Cycle now) {
  const Next fired = next_.top();
  next_.pop();
  if (const std::size_t position = fired.position + 1; position < rows_.size()) {
    const std::uint32_t row = rows_[position];
    const std::uint64_t step = fired.step - program_.row_step[fired.row] + program_.row_step[row];
    next_.push({step, row, fired.iteration, fired.place, position});
  }
  --in_progress_[fired.place - oldest_].rows_left;
  while (!in_progress_.empty() && in_progress_.front().rows_left == 0) {
    in_progress_.pop_front();
    ++oldest_;
    if (in_progress_.empty() || !in_progress_.front().is_fresh) continue;
    if (in_progress_.front().first_step > counter_.step()) go_to(in_progress_.front().first_step, now);
  }
  return false;
}

}  // namespace certree
