// The iterations of a node in the order in which it begins them.
#pragma once

#include <vector>

#include "endpoint/node/collectives.hpp"

namespace certree::endpoint {

// By place in that order: without `collectives` iteration n is at place n, and may begin from cycle 0 on.
class IterationQueue {
 public:
  IterationQueue(Collectives* collectives, std::uint64_t repeats)
      : collectives_(collectives), repeats_(repeats), place_(collectives == nullptr ? 0 : repeats, kNone) {}

  static constexpr std::uint64_t kNone = UINT64_MAX;
  bool knows_next(Cycle now) const { return begun_ < repeats_ && (collectives_ == nullptr || collectives_->knows(begun_, now)); }
  void begin_next() {
    if (collectives_ != nullptr) place_[(*collectives_)[begun_]] = begun_;
    ++begun_;
  }
  std::uint64_t begun() const { return begun_; }  // how many
  std::uint32_t at(std::uint64_t place) const {
    return collectives_ == nullptr ? static_cast<std::uint32_t>(place) : (*collectives_)[place];
  }
  // kNone: it has not begun.
  std::uint64_t place_of(std::uint32_t iteration) const {
    if (collectives_ != nullptr) return place_[iteration];
    return iteration < begun_ ? iteration : kNone;
  }
  Cycle asked_for(std::uint32_t iteration) const { return collectives_ == nullptr ? Cycle{} : collectives_->asked_for(iteration); }
  void note_end(std::uint32_t iteration, Cycle now) {
    if (collectives_ != nullptr) collectives_->note_end(iteration, now);
  }

 private:
  Collectives* collectives_;
  std::uint64_t repeats_;
  std::vector<std::uint64_t> place_;  // of each iteration
  std::uint64_t begun_ = 0;
};

}  // namespace certree::endpoint
