#include "interface/sequencers/merging_sequencer.hpp"

#include <algorithm>
#include <numeric>

namespace certree {

MergingSequencer::MergingSequencer(const Program& program, NodeId node, IterationOrder& order)
    : program_(program),
      order_(order),
      start_(program.local_time(node.value, 0)),
      step_cycles_(program.local_cycles(node.value, program.step_cycles)),
      rows_(program.row_begin[node.value + 1] - program.row_begin[node.value]) {
  std::iota(rows_.begin(), rows_.end(), program.row_begin[node.value]);
  std::stable_sort(rows_.begin(), rows_.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return program.row_step[a] < program.row_step[b]; });
}

void MergingSequencer::learn(Cycle now) {
  if (rows_.empty()) return;
  while (const Begun* one = order_.at(known_, now, timestep_, next_.empty())) {
    const bool was_idle = next_.empty();
    next_.push({one->first_step + program_.row_step[rows_[0]], rows_[0], one->iteration, known_++, 0});
    in_progress_.push_back({one->first_step, one->is_fresh, rows_.size()});
    if (was_idle && one->is_fresh) go_to(one->first_step, now);
  }
}

void MergingSequencer::go_to(std::uint64_t step, Cycle now) {
  timestep_ = std::max(timestep_, step);
  order_.note_step(timestep_);
  load_down_counter(std::max(now, start_));
}

void MergingSequencer::begin_cycle(Cycle now, UnitState units) {
  learn(now);
  if (!step_is_issued() || now < lockstep_end_ || !units.are_idle) return;
  order_.note_step(++timestep_);
  load_down_counter(now);
}

std::optional<Firing> MergingSequencer::pending() const {
  if (next_.empty()) return std::nullopt;
  return Firing{{next_.top().row}, next_.top().iteration};
}

std::optional<Firing> MergingSequencer::head(Cycle now) {
  learn(now);
  if (now < start_ || next_.empty() || next_.top().step > timestep_) return std::nullopt;
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
    if (in_progress_.front().first_step > timestep_) go_to(in_progress_.front().first_step, now);
  }
  return false;
}

Cycle MergingSequencer::wake(Cycle now, UnitState units) const {
  if (now < start_) return start_;
  if (!step_is_issued()) return kNever;
  if (now < lockstep_end_) return lockstep_end_;
  return units.are_idle ? now + 1 : kNever;
}

}  // namespace certree
