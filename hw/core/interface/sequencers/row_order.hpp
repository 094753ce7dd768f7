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
      : program_(program), order_(program.row_begin[node.value + 1] - program.row_begin[node.value]) {
    std::iota(order_.begin(), order_.end(), program.row_begin[node.value]);
    std::stable_sort(order_.begin(), order_.end(), [&](std::uint32_t a, std::uint32_t b) {
      return program.row_step[a] % program.period < program.row_step[b] % program.period;
    });
    for (const std::uint32_t row : order_) {
      turns_ = std::max<std::uint64_t>(turns_, program.row_step[row] / program.period + program.repeats);
    }
    skip_switched_off();
  }

  bool is_over() const { return turn_ == turns_; }
  // Of the next row, unless all have fired: its step, and the row with its iteration.
  std::uint64_t step() const { return turn_ * program_.period + program_.row_step[order_[position_]] % program_.period; }
  Firing firing() const { return {{order_[position_]}, static_cast<std::uint32_t>(turn_ - stage())}; }
  void advance() {
    ++position_;
    skip_switched_off();
  }

 private:
  std::uint64_t stage() const { return program_.row_step[order_[position_]] / program_.period; }
  void skip_switched_off() {
    for (; turn_ < turns_; ++position_) {
      if (position_ == order_.size()) {
        position_ = 0;
        if (++turn_ == turns_) return;
      }
      if (stage() <= turn_ && turn_ - stage() < program_.repeats) return;
    }
  }

  const Program& program_;
  std::vector<std::uint32_t> order_;
  std::size_t position_ = 0;
  std::uint64_t turn_ = 0;  // q, the number of the period
  std::uint64_t turns_ = 0;
};

}  // namespace certree
