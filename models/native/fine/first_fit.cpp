#include "first_fit.hpp"

#include <algorithm>
#include <bit>
#include <functional>
#include <queue>
#include <tuple>
#include <unordered_map>

namespace certree {
namespace {

// The free capacity of every resource in every round.
class Room {
 public:
  explicit Room(const StepJobs& jobs)
      : jobs_(jobs), used_(jobs.capacity.size()), full_(jobs.capacity.size()), count_(jobs.capacity.size(), 0) {}

  // The rounds of some transfers, the first from `earliest` on that fits.
  void take(const int32_t* begin, const int32_t* end, int32_t earliest, std::vector<int32_t>& round) {
    need(begin, end);
    const bool fits = std::all_of(needed_.begin(), needed_.end(), [&](int32_t one) { return count_[one] <= jobs_.capacity[one]; });
    if (!fits && end - begin > 1) {
      for (const int32_t* row = begin; row != end; ++row) take(row, row + 1, earliest, round);
      return;
    }
    for (const int32_t one : needed_) count_[one] = std::min(count_[one], jobs_.capacity[one]);  // alone it fits, if crowded
    const auto at = static_cast<size_t>(first_round(static_cast<size_t>(earliest)));
    for (const int32_t one : needed_) {
      auto& used = used_[one];
      if ((used[at] += count_[one]) < jobs_.capacity[one]) continue;
      used.erase(at);
      if (full_[one].size() <= at / 64) full_[one].resize(at / 64 + 1, 0);
      full_[one][at / 64] |= uint64_t{1} << (at % 64);
    }
    for (const int32_t* row = begin; row != end; ++row) round[*row] = static_cast<int32_t>(at);
  }

 private:
  // How much of which resources some transfers need together.
  void need(const int32_t* begin, const int32_t* end) {
    for (const int32_t one : needed_) count_[one] = 0;
    needed_.clear();
    for (const int32_t* row = begin; row != end; ++row) {
      for (const int32_t* one = jobs_.claims.begin(*row); one != jobs_.claims.end(*row); ++one) {
        if (!count_[*one]++) needed_.push_back(*one);
      }
    }
  }

  size_t first_round(size_t at) const {
    while (true) {
      const size_t word = at / 64;
      uint64_t full = (uint64_t{1} << (at % 64)) - 1;
      for (const int32_t one : needed_) full |= word < full_[one].size() ? full_[one][word] : 0;
      if (full == ~uint64_t{0}) {
        at = (word + 1) * 64;
        continue;
      }
      at = word * 64 + static_cast<size_t>(std::countr_one(full));
      const bool has_room = std::all_of(needed_.begin(), needed_.end(), [&](int32_t one) {
        const auto found = used_[one].find(at);
        return (found == used_[one].end() ? 0 : found->second) + count_[one] <= jobs_.capacity[one];
      });
      if (has_room) return at;
      ++at;
    }
  }

  const StepJobs& jobs_;
  std::vector<std::unordered_map<size_t, int32_t>> used_;  // by resource, of the rounds in which something more fits
  std::vector<std::vector<uint64_t>> full_;                // by resource, a bit for each round in which nothing more fits
  std::vector<int32_t> count_, needed_;
};

}  // namespace

std::vector<int32_t> first_fit(const StepJobs& jobs) {
  const size_t groups = jobs.members.offset.size() - 1;
  std::vector<int32_t> round(jobs.key.size(), 0), earliest(groups, 0), waiting(groups, 0);
  for (const int32_t group : jobs.later.value) ++waiting[group];
  using Entry = std::tuple<int64_t, int32_t, int32_t>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> ready;
  const auto add = [&](int32_t group) {
    const int32_t row = *jobs.members.begin(group);
    ready.emplace(jobs.key[row], row, group);
  };
  for (size_t group = 0; group < groups; ++group) {
    if (!waiting[group]) add(static_cast<int32_t>(group));
  }
  Room room(jobs);
  while (!ready.empty()) {
    const auto group = std::get<2>(ready.top());
    ready.pop();
    const int32_t *begin = jobs.members.begin(group), *end = jobs.members.end(group);
    room.take(begin, end, earliest[group], round);
    int32_t last = 0;
    for (const int32_t* row = begin; row != end; ++row) last = std::max(last, round[*row]);
    for (const int32_t* after = jobs.later.begin(group); after != jobs.later.end(group); ++after) {
      earliest[*after] = std::max(earliest[*after], last);
      if (!--waiting[*after]) add(*after);
    }
  }
  return round;
}

}  // namespace certree
