// The lanes of links and other resources, and the messages that are booked on them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <vector>

#include "fine_booking.hpp"

namespace certree {

inline int64_t rounded(int64_t cycle, int64_t slot) { return slot == 1 ? cycle : (cycle + slot - 1) / slot * slot; }

// Places one after the other.
struct PlaceRoute {
  const Place *begin, *end;
  using Cursor = const Place*;

  std::ptrdiff_t size() const { return end - begin; }
  Cursor first() const { return begin; }
  bool is_end(Cursor here) const { return here == end; }
  std::ptrdiff_t number(Cursor here) const { return here - begin; }
  Place at(Cursor here) const { return *here; }
  void step(Cursor& here) const { ++here; }
};

// Links, each of which a message takes for `length` cycles, and the next one `hop` of this one later.
struct LinkRoute {
  const int32_t *begin, *end;
  const int64_t* hop;
  int64_t length;

  struct Cursor {
    const int32_t* link;
    int64_t after;
  };

  std::ptrdiff_t size() const { return end - begin; }
  Cursor first() const { return {begin, 0}; }
  bool is_end(const Cursor& here) const { return here.link == end; }
  std::ptrdiff_t number(const Cursor& here) const { return here.link - begin; }
  Place at(const Cursor& here) const { return {*here.link, -1, here.after, length}; }
  void step(Cursor& here) const { here.after += hop[*here.link++]; }
};

// The first slot from `fire` on in which all places of a route are free; `last`: the number of the place for which it waits last.
template <typename Calendar, typename Route>
int64_t first_slot(const Calendar& calendar, const Route& route, int64_t fire, int64_t slot, int32_t* last = nullptr) {
  fire = rounded(fire, slot);
  auto here = route.first();
  for (auto left = route.size(); left > 0;) {  // places in a row that have to be free, round and round
    const Place place = route.at(here);
    if (const int64_t late = calendar.wait(place, fire + place.after); late > 0) {
      fire += rounded(late, slot);
      left = route.size();
      if (last != nullptr) *last = static_cast<int32_t>(route.number(here));
      continue;
    }
    --left;
    route.step(here);
    if (route.is_end(here)) here = route.first();
  }
  return fire;
}

// Takes all places of a way for a transfer that leaves then; they are free.
template <typename Calendar, typename Route>
void take(Calendar& calendar, const Route& route, int64_t fire) {
  for (auto here = route.first(); !route.is_end(here); route.step(here)) {
    const Place place = route.at(here);
    calendar.insert(place, fire + place.after);
  }
}

// Cycles in which a lane is taken. Bookings with gaps that are too short for any message are one run, so that a search passes over
// them at once.
struct Span {
  int64_t begin, end;
};
using Lane = std::vector<Span>;

// Each message has a lane for itself. With GAPS it may be booked between others, else behind all that have been booked there, on
// the lane that is free first.
template <bool GAPS>
class Lanes {
 public:
  Lanes(const std::vector<int32_t>& lanes, const std::vector<Taken>& taken, int64_t shortest)
      : begin_(lanes.size() + 1, 0), before_(taken), shortest_(shortest) {
    for (size_t one = 0; one < lanes.size(); ++one) begin_[one + 1] = begin_[one] + lanes[one];
    taken_.resize(begin_.back());
    for (const Taken& one : taken) shortest_ = std::min(shortest_, one.length);
    clear();
  }

  void clear() {
    for (Lane& lane : taken_) lane.clear();
    for (const Taken& one : before_) {
      const Place place{one.resource, -1, 0, one.length};
      if (wait(place, one.entry) > 0) throw std::invalid_argument("more is taken beforehand than there are lanes");
      insert(place, one.entry);
    }
  }

  // Cycles until a message can enter, on any of the lanes; 0 or less where it can.
  int64_t wait(const Place& place, int64_t entry) const {
    int64_t least = std::numeric_limits<int64_t>::max();
    for (int32_t lane = begin_[place.resource]; lane < begin_[place.resource + 1]; ++lane) {
      least = std::min(least, wait(taken_[lane], entry, place.length));
      if (GAPS && least == 0) break;
    }
    return least;
  }

  // Takes the first lane that is free, or free first. Nothing is taken where none is: where a route passes a resource again before
  // the message has left it, as it can where links stand for others.
  void insert(const Place& place, int64_t entry) {
    const int64_t late = GAPS ? 0 : wait(place, entry);
    for (int32_t lane = begin_[place.resource]; lane < begin_[place.resource + 1]; ++lane) {
      if (wait(taken_[lane], entry, place.length) > late) continue;
      insert(taken_[lane], {entry, entry + place.length});
      return;
    }
  }

 private:
  static int64_t wait(const Lane& lane, int64_t entry, int64_t length) {
    if (!GAPS) return (lane.empty() ? 0 : lane.back().end) - entry;
    if (lane.empty() || lane.back().end <= entry) return 0;
    const auto at =
        std::upper_bound(lane.begin(), lane.end(), entry, [](int64_t cycle, const Span& span) { return cycle < span.end; });
    return at->begin < entry + length ? at->end - entry : 0;
  }

  // Joins spans between which no message fits.
  void insert(Lane& lane, Span span) const {
    auto from = std::lower_bound(lane.begin(), lane.end(), span.begin - shortest_ + 1,
                                 [](const Span& one, int64_t cycle) { return one.end < cycle; });
    auto to = from;
    for (; to != lane.end() && to->begin < span.end + shortest_; ++to) {
      span.begin = std::min(span.begin, to->begin);
      span.end = std::max(span.end, to->end);
    }
    if (from == to) {
      lane.insert(from, span);
    } else {
      *from = span;
      lane.erase(from + 1, to);
    }
  }

  std::vector<int32_t> begin_;  // by resource, its first lane
  std::vector<Lane> taken_;
  const std::vector<Taken> before_;
  int64_t shortest_;  // of all messages
};

}  // namespace certree
