// The engine's SRAM: a partition for every phase, and one for results.
#pragma once

#include <algorithm>
#include <vector>

#include "common/types.hpp"

namespace certree::endpoint {

class Sram {
 public:
  // `rooms`, `sizes`: bytes of every partition, and of a chunk in it.
  Sram(std::vector<std::uint64_t> rooms, std::vector<std::uint64_t> sizes)
      : rooms_(std::move(rooms)), sizes_(std::move(sizes)), held_(rooms_.size()), peak_(rooms_.size()), entered_(rooms_.size()) {}

  bool fits(std::uint32_t partition) const { return held_[partition] + sizes_[partition] <= rooms_[partition]; }
  // How many chunks have ever entered: whose turn it is when they enter in the order of loading.
  std::uint64_t entered(std::uint32_t partition) const { return entered_[partition]; }
  std::uint64_t peak(std::uint32_t partition) const { return peak_[partition]; }
  bool is_empty() const {
    return std::all_of(held_.begin(), held_.end(), [](std::uint64_t bytes) { return bytes == 0; });
  }

  void enter(Cycle now, std::uint32_t partition) {
    integrate(now);
    held_[partition] += sizes_[partition];
    total_ += sizes_[partition];
    peak_[partition] = std::max(peak_[partition], held_[partition]);
    ++entered_[partition];
  }

  void leave(Cycle now, std::uint32_t partition) {
    integrate(now);
    held_[partition] -= sizes_[partition];
    total_ -= sizes_[partition];
  }

  // Bytes held times cycles, so far.
  std::uint64_t byte_cycles() const { return byte_cycles_; }

 private:
  void integrate(Cycle now) {
    byte_cycles_ += total_ * (now - since_);
    since_ = now;
  }

  std::vector<std::uint64_t> rooms_, sizes_, held_, peak_, entered_;
  std::uint64_t total_ = 0;
  std::uint64_t byte_cycles_ = 0;
  Cycle since_;
};

}  // namespace certree::endpoint
