// The rows of a node in the order in which they fire: row r of iteration i in step step(r) + i · period.
#pragma once

#include <algorithm>
#include <numeric>
#include <vector>

#include "interface/sequencers/sequencer.hpp"

namespace certree {

// Rows are kept by `step mod period`, each with its stage = `step div period`; in the q-th period a row serves iteration q - stage
// and is switched off outside 0 .. repeats - 1. Memory O(rows of the node).
class RowOrder {
 public:
  RowOrder(const Program& program, NodeId node)
      : program_(program),
        period_(program.period),
        repeats_(program.repeats),
        order_(program.row_begin[node.value + 1] - program.row_begin[node.value]) {
    std::iota(order_.begin(), order_.end(), program.row_begin[node.value]);
    std::stable_sort(order_.begin(), order_.end(), [&](std::uint32_t a, std::uint32_t b) {
      return program.row_step[a] % period_ < program.row_step[b] % period_;
    });
    for (const std::uint32_t row : order_) turns_ = std::max(turns_, program.row_step[row] / period_ + repeats_);
    skip_switched_off();
  }

  bool is_over() const { return turn_ == turns_; }
  // Of the next row, unless all have fired: its step, and the row with its iteration.
  std::uint64_t step() const { return turn_ * period_ + program_.row_step[order_[position_]] % period_; }
  Firing firing() const { return {{order_[position_]}, static_cast<std::uint32_t>(turn_ - stage())}; }
  void advance() {
    ++position_;
    skip_switched_off();
  }

 private:
  std::uint64_t stage() const { return program_.row_step[order_[position_]] / period_; }
  void skip_switched_off() {
    for (; turn_ < turns_; ++position_) {
      if (position_ == order_.size()) {
        position_ = 0;
        if (++turn_ == turns_) return;
      }
      if (stage() <= turn_ && turn_ - stage() < repeats_) return;
    }
  }

  const Program& program_;
  std::uint64_t period_, repeats_;
  std::vector<std::uint32_t> order_;
  std::size_t position_ = 0;
  std::uint64_t turn_ = 0;  // q, the number of the period
  std::uint64_t turns_ = 0;
};

}  // namespace certree
