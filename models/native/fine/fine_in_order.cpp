#include "fine_in_order.hpp"

#include <algorithm>
#include <limits>
#include <type_traits>

#include "fine_lanes.hpp"
#include "fine_meetings.hpp"

namespace certree {
namespace {

constexpr int MOST_TRIES = 1 << 10;  // slots for transfers that have to leave together

// Of one cell: when all that was sent into it has landed, when copies have, and the last cycle in which it is read.
struct Cell {
  int64_t landed = 0, copied = 0, read = 0;
};

// Takes what all transfers of a group need, or nothing. Lanes give nothing back: there groups of several find no slot.
template <typename Calendar>
bool take_all(Calendar& calendar, const Places& places, const int32_t* begin, const int32_t* end, int64_t fire) {
  if (!std::is_same_v<Calendar, Meetings> && end - begin > 1) return false;
  for (const int32_t* row = begin; row != end; ++row) {
    if (const PlaceRoute route{places.begin(*row), places.end(*row)}; first_slot(calendar, route, fire, 1) == fire) {
      take(calendar, route, fire);
      continue;
    }
    if constexpr (std::is_same_v<Calendar, Meetings>) {
      while (row-- != begin) {
        for (const Place* place = places.begin(*row); place != places.end(*row); ++place)
          calendar.drop(*place, fire + place->after);
      }
    }
    return false;
  }
  return true;
}

// The first slot from a cycle on in which all transfers of a group can leave, taken; -1 where there is none within MOST_TRIES.
template <typename Calendar>
int64_t leave_together(Calendar& calendar, const StatedJobs& jobs, const int32_t* begin, const int32_t* end, int64_t fire) {
  fire = rounded(fire, jobs.slot);
  for (int tries = 0; tries < MOST_TRIES; ++tries, fire += jobs.slot) {
    for (int64_t late = 1; late > 0; fire += rounded(late, jobs.slot)) {
      late = 0;
      for (const int32_t* row = begin; row != end; ++row) {
        for (const Place* place = jobs.places.begin(*row); place != jobs.places.end(*row); ++place) {
          late = std::max(late, calendar.wait(*place, fire + place->after));
        }
      }
    }
    if (take_all(calendar, jobs.places, begin, end, fire)) return fire;
  }
  return -1;
}

template <typename Calendar>
StatedTimes book(Calendar calendar, const StatedJobs& jobs) {
  const auto last = [](const std::vector<int32_t>& cells) {
    return cells.empty() ? -1 : *std::max_element(cells.begin(), cells.end());
  };
  std::vector<Cell> cells(static_cast<size_t>(std::max(last(jobs.reads), last(jobs.writes)) + 1));
  StatedTimes times{std::vector<int64_t>(jobs.reads.size(), 0)};
  for (size_t group = 0; group + 1 < jobs.groups.offset.size(); ++group) {
    const int32_t *begin = jobs.groups.begin(group), *end = jobs.groups.end(group);
    int64_t fire = 0;
    for (const int32_t* row = begin; row != end; ++row) {
      const Cell &reads = cells[jobs.reads[*row]], &writes = cells[jobs.writes[*row]];
      fire = std::max({fire, jobs.release[*row], reads.landed, writes.read, jobs.copies[*row] ? writes.landed : writes.copied});
    }
    fire = leave_together(calendar, jobs, begin, end, fire);
    if (fire < 0) {
      times.met = static_cast<int64_t>(group);
      return times;
    }
    for (const int32_t* row = begin; row != end; ++row) {
      times.fire[*row] = fire;
      Cell &reads = cells[jobs.reads[*row]], &writes = cells[jobs.writes[*row]];
      reads.read = std::max(reads.read, fire);
      writes.landed = std::max(writes.landed, fire + jobs.lands[*row]);
      if (jobs.copies[*row]) writes.copied = std::max(writes.copied, fire + jobs.lands[*row]);
    }
  }
  return times;
}

}  // namespace

StatedTimes book_in_order(const StatedJobs& jobs) {
  int64_t shortest = std::numeric_limits<int64_t>::max(), longest = 0;
  for (const Place& place : jobs.places.place) {
    shortest = std::min(shortest, place.length);
    longest = std::max(longest, place.length);
  }
  if (jobs.sharing == Sharing::meetings) return book(Meetings(jobs.lanes, jobs.taken, longest, jobs.guard), jobs);
  if (jobs.sharing == Sharing::between) return book(Lanes<true>(jobs.lanes, jobs.taken, shortest), jobs);
  return book(Lanes<false>(jobs.lanes, jobs.taken, shortest), jobs);
}

}  // namespace certree
