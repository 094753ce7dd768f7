#include "fine_search.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "../random.hpp"

namespace certree {
namespace {

constexpr size_t LATE = 200;
constexpr int64_t NEVER = std::numeric_limits<int64_t>::max();

using Members = std::vector<std::vector<int32_t>>;

Members members_of(const std::vector<int32_t>& group) {
  Members found(group.empty() ? 0 : *std::max_element(group.begin(), group.end()) + 1);
  for (size_t row = 0; row < group.size(); ++row) found[group[row]].push_back(static_cast<int32_t>(row));
  return found;
}

int64_t end_of(const FineTimes& times) {
  return times.outcome == Booking::done ? *std::max_element(times.landed.begin(), times.landed.end()) : NEVER;
}

class Search {
 public:
  Search(const FineCosts& costs, const FineGroups& groups, uint64_t seed)
      : costs_(costs), sets_{Members(groups.family.size()), members_of(groups.family), members_of(groups.part)}, random_(seed) {
    for (size_t row = 0; row < groups.family.size(); ++row) sets_[0][row] = {static_cast<int32_t>(row)};
  }

  // The end of all, and the mean end of the parts.
  int64_t cost(const FineTimes& times) const {
    const int64_t end = end_of(times);
    if (end == NEVER) return NEVER;
    int64_t sum = 0;
    for (const auto& part : sets_[2]) {
      int64_t last = 0;
      for (const int32_t row : part) last = std::max(last, times.landed[row]);
      sum += last;
    }
    return end * static_cast<int64_t>(sets_[2].size()) + sum;
  }

  // Changes the turns, which gave some times, somewhere; false where they have stayed the same.
  bool change(FineTurns& turns, const FineTimes& times) {
    bool is_changed = false;
    const auto set = [&is_changed](int64_t& value, int64_t other) {
      is_changed |= value != other;
      value = other;
    };
    const Members& members = sets_[below(3)];
    const auto& rows = members[below(members.size())];
    switch (below(4)) {
      case 0:
      case 1: {  // others first, or last; sometimes from a cycle on
        const int64_t reach = int64_t{1} << (2 + below(9));
        const auto by = static_cast<int64_t>(below(2 * reach + 1)) - reach;
        const int64_t from = below(2) ? 0 : below(1 + *std::max_element(times.fire.begin(), times.fire.end()));
        for (const int32_t row : rows) {
          if (times.fire[row] >= from) set(turns.priority[row], turns.priority[row] + by);
        }
        break;
      }
      case 2: {
        const int64_t by = 1 + below(std::max<int64_t>(1, below(2) ? costs_.red : costs_.ser));
        for (const int32_t row : rows) set(turns.release[row], times.fire[row] + by);
        break;
      }
      default:
        for (const int32_t row : rows) set(turns.release[row], 0);
    }
    return is_changed;
  }

 private:
  int64_t below(int64_t bound) { return random_.below(static_cast<int32_t>(std::min<int64_t>(bound, INT32_MAX))); }

  const FineCosts& costs_;
  std::array<Members, 3> sets_;  // single transfers, families, parts
  Random random_;
};

}  // namespace

FineFound search(const FineJobs& jobs, const FineCosts& costs, FineTurns turns, const FineGroups& groups, int64_t tries,
                 int64_t bound, uint64_t seed) {
  Search around(costs, groups, seed);
  FineScheduler scheduler(jobs, costs);
  FineTimes times = scheduler.book(turns);
  FineFound best{end_of(times), turns};
  int64_t least = around.cost(times);
  std::vector<int64_t> late(LATE, least);
  if (least == NEVER) return best;
  for (int64_t turn = 0; turn < tries && best.end > bound; ++turn) {
    FineTurns other = turns;
    while (!around.change(other, times)) {
    }
    FineTimes found = scheduler.book(other);
    const int64_t cost = around.cost(found);
    int64_t& before = late[static_cast<size_t>(turn) % LATE];
    if (cost != NEVER && (cost <= least || cost <= before)) {
      least = cost;
      turns = std::move(other);
      times = std::move(found);
      if (const int64_t end = end_of(times); end < best.end) best = {end, turns};
    }
    before = std::min(before, least);
  }
  return best;
}

}  // namespace certree
