// A shift register: what goes in comes out `depth` cycles later.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "lanes/flit.hpp"

namespace certree {

// 8 bytes a stage. Depth 0 is a plain wire.
class DelayLine {
 public:
  explicit DelayLine(std::size_t depth) : stages_(depth), scratch_(depth) {}

  // As many cycles as the block has flits: flit i goes in, and is replaced by what comes out, in cycle i. O(block + depth).
  void shift(std::span<Flit> block) {
    const std::size_t depth = stages_.size();
    if (block.size() < depth) {
      const std::size_t first = std::min(block.size(), depth - cursor_);
      std::swap_ranges(block.begin(), block.begin() + first, stages_.begin() + cursor_);
      std::swap_ranges(block.begin() + first, block.end(), stages_.begin());
      cursor_ = (cursor_ + block.size()) % depth;
      return;
    }
    // Everything in the line comes out, then the front of the block; its end stays inside.
    std::copy(block.end() - depth, block.end(), scratch_.begin());
    std::move_backward(block.begin(), block.end() - depth, block.end());
    std::rotate_copy(stages_.begin(), stages_.begin() + cursor_, stages_.end(), block.begin());
    stages_.swap(scratch_);
    cursor_ = 0;
  }

 private:
  std::vector<Flit> stages_;
  std::vector<Flit> scratch_;
  std::size_t cursor_ = 0;  // the flit that comes out next
};

}  // namespace certree
