// Resources on which a message may meet others, fewer than there are lanes, and guards between messages of different nodes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "fine_booking.hpp"

namespace certree {

// A message meets those that are on the resource while it is, or within `guard` cycles before or after that where they are of
// another node. Time O(messages near it).
class Meetings {
  static constexpr int32_t NOBODY = INT32_MIN;

  struct Stay {
    int64_t begin, end;
    int32_t source;
  };
  using Stays = std::vector<Stay>;  // by their begins, then their sources

  // The first that begins then or later; of those that begin then, one of that source or a higher one.
  template <typename Some>
  static auto first_of(Some& stays, int64_t begin, int32_t source = NOBODY) {
    return std::lower_bound(stays.begin(), stays.end(), std::pair(begin, source),
                            [](const Stay& one, const auto& other) { return std::pair(one.begin, one.source) < other; });
  }

 public:
  Meetings(const std::vector<int32_t>& lanes, const std::vector<Taken>& taken, int64_t longest, int64_t guard)
      : lanes_(lanes), there_(lanes.size()), longest_(longest), guard_(guard) {
    for (const Taken& one : taken) longest_ = std::max(longest_, one.length);
    for (const Taken& one : taken) insert({one.resource, NOBODY, 0, one.length}, one.entry);
  }

  // 0 where a message can enter; else cycles until the last one but `lanes` - 1 of those that it would meet has gone.
  int64_t wait(const Place& place, int64_t entry) const {
    const auto& stays = there_[place.resource];
    ends_.clear();
    for (auto one = first_of(stays, entry - longest_ - guard_ + 1); one != stays.end(); ++one) {
      const int64_t guard = one->source == place.source ? 0 : guard_;
      if (one->begin >= entry + place.length + guard_) break;
      if (one->end + guard > entry && one->begin < entry + place.length + guard) ends_.push_back(one->end + guard);
    }
    const auto lanes = static_cast<size_t>(lanes_[place.resource]);
    return ends_.size() < lanes ? 0 : ends_[ends_.size() - lanes] - entry;
  }

  void insert(const Place& place, int64_t entry) {
    auto& stays = there_[place.resource];
    stays.insert(first_of(stays, entry, place.source), {entry, entry + place.length, place.source});
  }

  // Gives back what has been inserted.
  void drop(const Place& place, int64_t entry) {
    auto& stays = there_[place.resource];
    stays.erase(first_of(stays, entry, place.source));
  }

 private:
  const std::vector<int32_t> lanes_;
  std::vector<Stays> there_;
  int64_t longest_;
  const int64_t guard_;
  mutable std::vector<int64_t> ends_;
};

}  // namespace certree
