// The lanes of links, and the messages that are booked on them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "fine_booking.hpp"

namespace certree {

inline int64_t rounded(int64_t cycle, int64_t slot) { return (cycle + slot - 1) / slot * slot; }

// The cycles in which no message can enter a lane of a link, since it would meet another one there: first and last of each run of
// them, ascending. Bookings with gaps that are too short for a message are one run, so that a search passes over them at once.
struct Span {
  int64_t first, last;
};
using Lane = std::vector<Span>;

class Lanes {
 public:
  Lanes(const FineJobs& jobs, const FineCosts& costs) : costs_(costs), begin_(jobs.lanes.size() + 1, 0) {
    for (size_t link = 0; link < jobs.lanes.size(); ++link) begin_[link + 1] = begin_[link] + jobs.lanes[link];
    taken_.resize(begin_.back());
  }

  void clear() {
    for (Lane& lane : taken_) lane.clear();
  }

  // The first slot from `fire` on in which a message can leave along a way; `last`: the place of the link for which it waits last.
  int64_t first(const int32_t* begin, const int32_t* end, int64_t fire, int32_t* last = nullptr) const {
    const auto length = end - begin;
    fire = rounded(fire, costs_.slot);
    int64_t entry = fire;
    for (int64_t clear = 0, place = 0; clear < length;) {  // links in a row that are free, round and round
      const int64_t late = rounded(wait(begin[place], entry), costs_.slot);
      if (late > 0) {
        fire += late;
        entry += late;
        clear = 0;
        if (last != nullptr) *last = static_cast<int32_t>(place);
        continue;
      }
      entry += costs_.hop[begin[place]];
      ++clear;
      if (++place == length) {
        place = 0;
        entry = fire;
      }
    }
    return fire;
  }

  // Takes the links of a way, each of which it passes once, for a message that leaves then; false, and nothing taken, where one of
  // them is not free.
  bool take(const int32_t* begin, const int32_t* end, int64_t fire) {
    int64_t entry = fire;
    for (const int32_t* link = begin; link != end; entry += costs_.hop[*link++]) {
      if (wait(*link, entry) > 0) return false;
    }
    entry = fire;
    for (const int32_t* link = begin; link != end; entry += costs_.hop[*link++]) {
      Lane *lane = taken_.data() + begin_[*link], *last = taken_.data() + begin_[*link + 1];
      while (lane != last && wait(*lane, entry) > 0) ++lane;
      if (lane != last) insert(*lane, {entry - costs_.ser + 1, entry + costs_.ser - 1});
    }
    return true;
  }

  // Cycles until a message can enter a link, on any of its lanes.
  int64_t wait(int32_t link, int64_t entry) const {
    int64_t least = -1;
    for (int32_t lane = begin_[link]; lane < begin_[link + 1]; ++lane) {
      const int64_t late = wait(taken_[lane], entry);
      if (late == 0) return 0;
      if (least < 0 || late < least) least = late;
    }
    return least;
  }

 private:
  // Cycles until a lane is free for a message; 0 where it is.
  int64_t wait(const Lane& lane, int64_t entry) const {
    if (lane.empty() || lane.back().last < entry) return 0;
    const auto at =
        std::lower_bound(lane.begin(), lane.end(), entry, [](const Span& span, int64_t cycle) { return span.last < cycle; });
    return at->first <= entry ? at->last + 1 - entry : 0;
  }

  // Joins spans between which no cycle is left.
  static void insert(Lane& lane, Span span) {
    auto from =
        std::lower_bound(lane.begin(), lane.end(), span.first - 1, [](const Span& one, int64_t cycle) { return one.last < cycle; });
    auto to = from;
    for (; to != lane.end() && to->first <= span.last + 1; ++to) {
      span.first = std::min(span.first, to->first);
      span.last = std::max(span.last, to->last);
    }
    if (from == to) {
      lane.insert(from, span);
    } else {
      *from = span;
      lane.erase(from + 1, to);
    }
  }

  const FineCosts& costs_;
  std::vector<int32_t> begin_;  // by link, its first lane
  std::vector<Lane> taken_;
};

}  // namespace certree
