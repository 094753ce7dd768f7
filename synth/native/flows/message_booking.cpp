#include "message_booking.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <queue>
#include <tuple>
#include <utility>

namespace certree {
namespace {

int64_t rounded(int64_t cycle, int64_t slot) { return (cycle + slot - 1) / slot * slot; }

template <typename T>
using Earliest = std::priority_queue<T, std::vector<T>, std::greater<>>;

// Rows that need the same row: `next[i]` for i in offset[row] .. offset[row + 1].
struct Successors {
  std::vector<int32_t> offset, next;
  explicit Successors(const std::vector<int32_t>& before) : offset(before.size() + 1), next(before.size()) {
    for (const auto row : before) {
      if (row >= 0) ++offset[row + 1];
    }
    for (size_t row = 0; row < before.size(); ++row) offset[row + 1] += offset[row];
    auto place = offset;
    for (size_t row = 0; row < before.size(); ++row) {
      if (before[row] >= 0) next[place[before[row]]++] = static_cast<int32_t>(row);
    }
  }
};

// A row that cannot fire waits at one of the links that are not free for it; a link with a free lane looks at the rows that wait
// for it, those of the lowest priority first.
class Turns {
 public:
  Turns(const Messages& messages, const std::vector<int32_t>& lanes, int64_t slot)
      : messages_(messages),
        slot_(slot),
        successors_(messages.before),
        waiting_(lanes.size()),
        called_(lanes.size(), -1),
        booked_(messages) {
    for (const auto count : lanes) {
      free_.emplace_back();
      for (int32_t lane = 0; lane < count; ++lane) free_.back().emplace_back(0, lane);
    }
  }

  BookedMessages run() {
    for (size_t row = 0; row < messages_.before.size(); ++row) {
      if (messages_.before[row] < 0) events_.emplace(0, messages_.priority[row], static_cast<int32_t>(row), kRow);
    }
    while (!events_.empty()) {
      const auto [now, priority, number, is_link] = events_.top();
      events_.pop();
      if (is_link) {
        serve(number, now);
      } else {
        start(number, now);
      }
    }
    return booked_;
  }

 private:
  static constexpr bool kRow = false, kLink = true;

  // The first link on the way of a row that has no lane for it now; -1 where all have.
  int32_t busy(int32_t row, int64_t now) const {
    for (int32_t i = messages_.offset[row]; i < messages_.offset[row + 1]; ++i) {
      if (free_[messages_.link[i]].front().first > now + messages_.after[i]) return i;
    }
    return -1;
  }

  // The row fires, or waits where it has to.
  void start(int32_t row, int64_t now) {
    if (const int32_t use = busy(row, now); use >= 0) {
      wait(row, use, now);
      return;
    }
    booked_.fire[row] = now;
    for (int32_t i = messages_.offset[row]; i < messages_.offset[row + 1]; ++i) {
      auto& lanes = free_[messages_.link[i]];  // a heap, the lane that is free first in front
      std::pop_heap(lanes.begin(), lanes.end(), std::greater<>());
      lanes.back().first = now + messages_.after[i] + messages_.length[row];
      booked_.lane[i] = lanes.back().second;
      std::push_heap(lanes.begin(), lanes.end(), std::greater<>());
    }
    for (int32_t i = successors_.offset[row]; i < successors_.offset[row + 1]; ++i) {
      const auto next = successors_.next[i];
      events_.emplace(rounded(now + messages_.flight[row], slot_), messages_.priority[next], next, kRow);
    }
  }

  void wait(int32_t row, int32_t use, int64_t now) {
    auto& queue = waiting_[messages_.link[use]];
    const bool is_first = queue.empty() || messages_.priority[row] < std::get<0>(queue.top());
    queue.emplace(messages_.priority[row], row, use);
    if (is_first) call(messages_.link[use], now);
  }

  // The link is served when the first of those that wait for it could enter it.
  void call(int32_t link, int64_t now) {
    const int64_t free = free_[link].front().first - messages_.after[std::get<2>(waiting_[link].top())];
    const int64_t cycle = std::max(rounded(free, slot_), now);
    if (called_[link] >= 0 && called_[link] <= cycle) return;
    called_[link] = cycle;
    events_.emplace(cycle, INT64_MIN, link, kLink);
  }

  void serve(int32_t link, int64_t now) {
    if (called_[link] != now) return;  // it has been served since
    called_[link] = -1;
    auto& queue = waiting_[link];
    while (!queue.empty()) {
      const auto [priority, row, use] = queue.top();
      if (free_[link].front().first > now + messages_.after[use]) {
        call(link, now);
        return;
      }
      queue.pop();
      start(row, now);
    }
  }

  const Messages& messages_;
  int64_t slot_;
  Successors successors_;
  std::vector<Earliest<std::tuple<int64_t, int32_t, int32_t>>> waiting_;  // by link: priority, row, its use of the link
  std::vector<std::vector<std::pair<int64_t, int32_t>>> free_;            // by link: from when on, lane
  std::vector<int64_t> called_;                                           // by link: when it is served, or -1
  BookedMessages booked_;
  Earliest<std::tuple<int64_t, int64_t, int32_t, bool>> events_;  // cycle, priority, row or link
};

// A lane: disjoint bookings, by their starts.
using Lane = std::vector<std::pair<int64_t, int64_t>>;

// The first cycle from `entry` on in which a message of that length can enter the lane.
int64_t first_gap(const Lane& lane, int64_t entry, int64_t length) {
  auto next = std::partition_point(lane.begin(), lane.end(), [&](const auto& one) { return one.second <= entry; });
  for (; next != lane.end() && next->first < entry + length; ++next) entry = next->second;
  return entry;
}

class Booking {
 public:
  Booking(const Messages& messages, const std::vector<int32_t>& lanes, int64_t slot)
      : messages_(messages), slot_(slot), booked_(messages) {
    for (const auto count : lanes) lanes_.emplace_back(count);
  }

  // Books a row from `ready` on; returns the cycle in which it fires.
  int64_t book(int32_t row, int64_t ready) {
    const int32_t begin = messages_.offset[row], end = messages_.offset[row + 1];
    const int64_t length = messages_.length[row];
    int64_t fire = rounded(ready, slot_);
    for (int32_t i = begin, clear = 0; clear < end - begin; i = i + 1 == end ? begin : i + 1) {  // until all are free in a row
      const int64_t entry = fire + messages_.after[i];
      const int64_t later = rounded(best(i, entry, length).first - messages_.after[i], slot_);
      clear = later > fire ? 0 : clear + 1;
      fire = std::max(fire, later);
    }
    for (int32_t i = begin; i < end; ++i) {
      const int64_t entry = fire + messages_.after[i];
      const size_t number = best(i, entry, length).second;
      Lane& lane = lanes_[messages_.link[i]][number];
      const auto place = std::partition_point(lane.begin(), lane.end(), [&](const auto& one) { return one.first < entry; });
      lane.insert(place, {entry, entry + length});
      booked_.lane[i] = static_cast<int32_t>(number);
    }
    booked_.fire[row] = fire;
    return fire;
  }

  const BookedMessages& booked() const { return booked_; }

 private:
  // (the first cycle from `entry` on in which a lane of the link has room, that lane)
  std::pair<int64_t, size_t> best(int32_t use, int64_t entry, int64_t length) const {
    const auto& lanes = lanes_[messages_.link[use]];
    std::pair<int64_t, size_t> found{first_gap(lanes[0], entry, length), 0};
    for (size_t lane = 1; lane < lanes.size() && found.first > entry; ++lane) {
      found = std::min(found, {first_gap(lanes[lane], entry, length), lane});
    }
    return found;
  }

  const Messages& messages_;
  int64_t slot_;
  BookedMessages booked_;
  std::vector<std::vector<Lane>> lanes_;
};

}  // namespace

BookedMessages book_messages(const Messages& messages, const std::vector<int32_t>& lanes, int64_t slot, bool patient) {
  const size_t rows = messages.before.size();
  if (patient) return Turns(messages, lanes, slot).run();
  const Successors successors(messages.before);
  Booking booking(messages, lanes, slot);
  Earliest<std::tuple<int64_t, int64_t, int32_t>> ready;  // cycle, priority, row
  for (size_t row = 0; row < rows; ++row) {
    if (messages.before[row] < 0) ready.emplace(0, messages.priority[row], static_cast<int32_t>(row));
  }
  while (!ready.empty()) {
    const auto [cycle, priority, row] = ready.top();
    ready.pop();
    const int64_t fire = booking.book(row, cycle);
    for (int32_t i = successors.offset[row]; i < successors.offset[row + 1]; ++i) {
      const auto next = successors.next[i];
      ready.emplace(rounded(fire + messages.flight[row], slot), messages.priority[next], next);
    }
  }
  return booking.booked();
}

}  // namespace certree
