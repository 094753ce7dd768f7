#include "slot_passes.hpp"

#include <algorithm>
#include <numeric>

namespace certree {

SlotPasses::SlotPasses(const Jobs& jobs, const std::vector<int64_t>& capacity, int32_t reducers, const SlotRules& rules)
    : jobs_(jobs), capacity_(capacity), reducers_(reducers), rules_(rules), predecessor_offset_(jobs.count() + 1, 0) {
  for (const int32_t s : jobs.successor) ++predecessor_offset_[s + 1];
  std::partial_sum(predecessor_offset_.begin(), predecessor_offset_.end(), predecessor_offset_.begin());
  predecessor_.resize(jobs.successor.size());
  auto next = predecessor_offset_;
  for (size_t j = 0; j < jobs.count(); ++j) {
    for (int32_t i = jobs.successor_offset[j]; i < jobs.successor_offset[j + 1]; ++i) {
      predecessor_[next[jobs.successor[i]]++] = static_cast<int32_t>(j);
    }
  }
}

std::vector<int32_t> SlotPasses::run(std::vector<int32_t> start, int32_t rounds) {
  const auto last = [](const std::vector<int32_t>& slots) { return *std::max_element(slots.begin(), slots.end()); };
  width_ = rules_.period > 0 ? rules_.period : static_cast<size_t>(last(start)) + 1;
  auto best = start;
  for (int32_t i = 0; i < 2 * rounds && pass(start, i % 2 == 0); ++i) {
    if (i % 2 == 1 && last(start) < last(best)) best = start;
  }
  return best;
}

bool SlotPasses::room(int32_t job, size_t residue) const {
  for (const int32_t link : jobs_.links(job)) {
    if (used_[link * width_ + residue] >= capacity_[link]) return false;
  }
  const int32_t reducer = jobs_.reducer[job];
  return rules_.reductions == 0 || reducer < 0 || arrivals_[reducer * width_ + residue] < rules_.reductions;
}

void SlotPasses::put(int32_t job, size_t residue) {
  for (const int32_t link : jobs_.links(job)) ++used_[link * width_ + residue];
  if (jobs_.reducer[job] >= 0) ++arrivals_[jobs_.reducer[job] * width_ + residue];
}

// Time runs from the end of the schedule when it goes backwards. False, and the schedule as it was, when a transfer of several
// links, or one for a busy unit, finds all of them free in no slot.
bool SlotPasses::pass(std::vector<int32_t>& start, bool backwards) {
  std::vector<int32_t> order(start.size()), time(start.size(), 0);
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [&](int32_t a, int32_t b) { return start[a] != start[b] ? (start[a] > start[b]) == backwards : a < b; });
  used_.assign(capacity_.size() * width_, 0);
  arrivals_.assign(static_cast<size_t>(reducers_) * width_, 0);
  const auto& offset = backwards ? jobs_.successor_offset : predecessor_offset_;
  const auto& earlier = backwards ? jobs_.successor : predecessor_;
  int32_t last = 0;
  for (const int32_t job : order) {
    int32_t slot = 0;
    for (int32_t i = offset[job]; i < offset[job + 1]; ++i) slot = std::max(slot, time[earlier[i]] + rules_.delay);
    const int32_t latest = rules_.period > 0 ? slot + rules_.period - 1 : static_cast<int32_t>(width_) - 1;
    size_t residue = static_cast<size_t>(slot) % width_;
    ++work_;
    for (; slot <= latest && !room(job, residue); ++slot, ++work_) residue = residue + 1 == width_ ? 0 : residue + 1;
    if (slot > latest) return false;
    put(job, residue);
    time[job] = slot;
    last = std::max(last, slot);
  }
  for (size_t j = 0; j < start.size(); ++j) start[j] = backwards ? last - time[j] : time[j];
  return true;
}

}  // namespace certree
