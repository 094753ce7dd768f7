#include "slot_compactor.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

namespace certree {

namespace {
constexpr int32_t kFree = -1;
constexpr int32_t kPart =
    3;  // a part of all jobs: misfits of one sweep, and work without fewer, for which a horizon is given up, at first
constexpr int32_t kPatient = 32;  // times as many in the end
constexpr int32_t kSteps = 32;    // the horizon is first lowered by 1/kSteps of the slots above the longest chain
}  // namespace

SlotCompactor::SlotCompactor(const Jobs& jobs, const std::vector<int64_t>& capacity, int32_t reducers, const SlotRules& rules,
                             std::vector<int32_t> start, uint64_t seed)
    : jobs_(jobs), capacity_(capacity), rules_(rules), start_(std::move(start)), random_(seed) {
  best_ = start_;
  horizon_ = *std::max_element(start_.begin(), start_.end());
  width_ = rules.period > 0 ? rules.period : static_cast<size_t>(horizon_) + 1;
  measure();
  offset_.assign(capacity.size() + 1, 0);
  for (size_t l = 0; l < capacity.size(); ++l) offset_[l + 1] = offset_[l] + static_cast<size_t>(capacity[l]);
  places_.resize(offset_.back() * width_);
  arrivals_.resize(static_cast<size_t>(reducers) * width_);
  restore();
}

void SlotCompactor::measure() {
  const size_t count = start_.size();
  predecessor_offset_.assign(count + 1, 0);
  for (const int32_t s : jobs_.successor) ++predecessor_offset_[s + 1];
  std::partial_sum(predecessor_offset_.begin(), predecessor_offset_.end(), predecessor_offset_.begin());
  predecessor_.resize(jobs_.successor.size());
  auto next = predecessor_offset_;
  for (size_t j = 0; j < count; ++j) {
    for (int32_t i = jobs_.successor_offset[j]; i < jobs_.successor_offset[j + 1]; ++i) {
      predecessor_[next[jobs_.successor[i]]++] = static_cast<int32_t>(j);
    }
  }
  order_.resize(count);  // by start: predecessors start earlier, so this is a topological order, and stays one
  std::iota(order_.begin(), order_.end(), 0);
  std::sort(order_.begin(), order_.end(),
            [this](int32_t a, int32_t b) { return start_[a] != start_[b] ? start_[a] < start_[b] : a < b; });
  position_.resize(count);
  for (size_t place = 0; place < count; ++place) position_[order_[place]] = static_cast<int32_t>(place);
  late_.assign((count + 63) / 64, 0);
  early_.assign((count + 63) / 64, 0);
  head_.assign(count, 0);
  tail_.assign(count, 0);
  for (const int32_t j : order_) {
    for (int32_t i = predecessor_offset_[j]; i < predecessor_offset_[j + 1]; ++i) {
      head_[j] = std::max(head_[j], head_[predecessor_[i]] + rules_.delay);
    }
  }
  for (auto it = order_.rbegin(); it != order_.rend(); ++it) {
    for (int32_t i = jobs_.successor_offset[*it]; i < jobs_.successor_offset[*it + 1]; ++i) {
      tail_[*it] = std::max(tail_[*it], tail_[jobs_.successor[i]] + rules_.delay);
    }
  }
}

void SlotCompactor::restore() {
  std::fill(places_.begin(), places_.end(), kFree);
  std::fill(arrivals_.begin(), arrivals_.end(), 0);
  for (size_t j = 0; j < best_.size(); ++j) put(static_cast<int32_t>(j), best_[j]);
  std::fill(late_.begin(), late_.end(), 0);  // a valid schedule has no misfits
  std::fill(early_.begin(), early_.end(), 0);
}

int32_t SlotCompactor::earliest(int32_t job) const {
  int32_t slot = head_[job];
  for (int32_t i = predecessor_offset_[job]; i < predecessor_offset_[job + 1]; ++i) {
    slot = std::max(slot, start_[predecessor_[i]] + rules_.delay);
  }
  return slot;
}

int32_t SlotCompactor::latest(int32_t job) const {
  int32_t slot = horizon_ - tail_[job];
  for (int32_t i = jobs_.successor_offset[job]; i < jobs_.successor_offset[job + 1]; ++i) {
    slot = std::min(slot, start_[jobs_.successor[i]] - rules_.delay);
  }
  return slot;
}

bool SlotCompactor::has_place(int32_t link, size_t residue) {
  const int32_t* place = places(link, residue);
  return std::find(place, place + capacity_[link], kFree) != place + capacity_[link];
}

bool SlotCompactor::room(int32_t job, size_t residue) {
  const auto links = jobs_.links(job);
  return std::all_of(links.begin(), links.end(), [&](int32_t link) { return has_place(link, residue); }) &&
         (rules_.reductions == 0 || jobs_.reducer[job] < 0 || arrivals_[jobs_.reducer[job] * width_ + residue] < rules_.reductions);
}

void SlotCompactor::put(int32_t job, int32_t slot) {
  for (const int32_t link : jobs_.links(job)) {
    int32_t* place = places(link, residue(slot));
    while (*place != kFree) ++place;  // the caller has made sure of a free one
    *place = job;
  }
  if (jobs_.reducer[job] >= 0) ++arrivals_[jobs_.reducer[job] * width_ + residue(slot)];
  start_[job] = slot;
  mark(late_, job);
  mark(early_, job);
  for (int32_t i = predecessor_offset_[job]; i < predecessor_offset_[job + 1]; ++i) mark(late_, predecessor_[i]);
  for (int32_t i = jobs_.successor_offset[job]; i < jobs_.successor_offset[job + 1]; ++i) mark(early_, jobs_.successor[i]);
}

void SlotCompactor::take(int32_t job) {
  for (const int32_t link : jobs_.links(job)) {
    int32_t* place = places(link, residue(start_[job]));
    while (*place != job) ++place;
    *place = kFree;
  }
  if (jobs_.reducer[job] >= 0) --arrivals_[jobs_.reducer[job] * width_ + residue(start_[job])];
}

bool SlotCompactor::move_to(int32_t job, int32_t slot) {
  if (residue(slot) != residue(start_[job]) && !room(job, residue(slot))) return false;
  take(job);
  put(job, slot);
  return true;
}

// A slot for `partner` in the residue of `given`: within its slack, or (forced) the nearest within head, tail and horizon.
int32_t SlotCompactor::partner_slot(int32_t partner, int32_t given, bool forced) {
  const auto width = static_cast<int32_t>(width_);
  const int32_t low = forced ? head_[partner] : earliest(partner);
  const int32_t high = forced ? horizon_ - tail_[partner] : latest(partner);
  const int32_t first = low + ((given - low) % width + width) % width;
  if (first > high) return kFree;
  const int32_t choices = (high - first) / width + 1;
  if (!forced) return first + width * random_.below(choices);
  const int32_t nearest = std::clamp((start_[partner] - first + width / 2) / width, 0, choices - 1);
  return first + width * nearest;
}

// The first link of a job that is full in that residue; its first link when none is.
int32_t SlotCompactor::contested_link(int32_t job, size_t residue) {
  const auto links = jobs_.links(job);
  const auto full = std::find_if(links.begin(), links.end(), [&](int32_t link) { return !has_place(link, residue); });
  return full == links.end() ? links[0] : *full;
}

bool SlotCompactor::swap_into(int32_t job, int32_t slot, bool forced) {
  const int32_t link = contested_link(job, residue(slot)), old = start_[job];
  for (int64_t i = 0; i < capacity_[link]; ++i) {
    const int32_t partner = places(link, residue(slot))[i];
    if (partner == kFree || partner == job) continue;
    const int32_t given = partner_slot(partner, old, forced);
    if (given == kFree) continue;
    const int32_t partner_old = start_[partner];
    take(job);
    take(partner);
    if (room(job, residue(slot))) {
      put(job, slot);
      if (room(partner, residue(given))) {
        put(partner, given);
        return true;
      }
      take(job);
    }
    put(job, old);
    put(partner, partner_old);
  }
  return false;
}

// The first slot from `first` towards `last` (one period at most) that is free or can be won; by force if need be.
bool SlotCompactor::relocate(int32_t job, int32_t first, int32_t last, int32_t step) {
  const int32_t span = std::min(static_cast<int32_t>(width_), (last - first) * step + 1);
  for (int32_t i = 0; i < span; ++i) {
    ++work_;
    if (move_to(job, first + i * step) || swap_into(job, first + i * step, false)) return true;
  }
  for (int32_t tries = 0; tries < 3 && span > 0; ++tries) {
    const int32_t near = std::min(random_.below(span), random_.below(span));
    if (swap_into(job, first + near * step, true)) return true;
  }
  return false;
}

void SlotCompactor::mark(std::vector<uint64_t>& doubtful, int32_t job) {
  const auto place = static_cast<size_t>(position_[job]);
  doubtful[place / 64] |= uint64_t{1} << (place % 64);
}

// Only what moved, and what waits for it or is waited for, can have become a misfit; what stays one stays in doubt.
int64_t SlotCompactor::sweep_backward(int64_t most) {
  int64_t misfits = 0;
  for (size_t word = late_.size(); misfits <= most && word-- > 0;) {
    for (uint64_t left = ~uint64_t{0}; (late_[word] & left) != 0;) {
      const int bit = 63 - std::countl_zero(late_[word] & left);
      left = (uint64_t{1} << bit) - 1;
      const int32_t job = order_[word * 64 + bit];
      const int32_t slot = latest(job);
      ++work_;
      bool fits = start_[job] <= slot;
      if (!fits) {
        ++misfits;
        fits = slot >= head_[job] && relocate(job, slot, head_[job], -1);
      }
      if (fits) late_[word] &= ~(uint64_t{1} << bit);
    }
  }
  return misfits;
}

int64_t SlotCompactor::sweep_forward(int64_t most) {
  int64_t misfits = 0;
  for (size_t word = 0; misfits <= most && word < early_.size(); ++word) {
    for (uint64_t left = ~uint64_t{0}; (early_[word] & left) != 0;) {
      const int bit = std::countr_zero(early_[word] & left);
      left = ~uint64_t{1} << bit;
      const int32_t job = order_[word * 64 + bit];
      const int32_t slot = earliest(job);
      ++work_;
      bool fits = start_[job] >= slot;
      if (!fits) {
        ++misfits;
        fits = slot <= horizon_ - tail_[job] && relocate(job, slot, horizon_ - tail_[job], +1);
      }
      if (fits) early_[word] &= ~(uint64_t{1} << bit);
    }
  }
  return misfits;
}

// Where many do not fit, what is moved pushes out as many others: `patience` is for misfits and for work.
bool SlotCompactor::repair(int32_t horizon, int64_t patience, int64_t limit) {
  horizon_ = horizon;
  for (size_t job = 0; job < start_.size(); ++job) {
    if (start_[job] > horizon - tail_[job]) mark(late_, static_cast<int32_t>(job));
  }
  work_ += static_cast<int64_t>(order_.size()) / 8 + 1;
  int64_t fewest = INT64_MAX;
  for (int64_t end = work_ + patience; work_ < std::min(limit, end);) {
    const int64_t late = sweep_backward(patience);
    const int64_t early = late > patience ? 0 : sweep_forward(patience);
    if (std::max(late, early) > patience) return false;
    if (late + early == 0) return true;
    if (late + early < fewest) {
      fewest = late + early;
      end = work_ + patience;
    }
  }
  return false;
}

void SlotCompactor::run(int64_t limit) {
  const int32_t floor = least_horizon();
  int32_t reached = horizon_;
  int64_t patience = static_cast<int64_t>(start_.size()) / kPart + 1;
  const int64_t most = patience * kPatient;
  for (int32_t step = std::max(1, (reached - floor) / kSteps); work_ < limit && reached > floor && patience <= most;) {
    if (repair(std::max(floor, reached - step), patience, limit)) {
      best_ = start_;
      reached = *std::max_element(start_.begin(), start_.end());
    } else {
      start_ = best_;
      restore();
      if (step == 1) patience *= 2;
      step = std::max(1, step / 2);
    }
  }
}

// The longest chain, and what the busiest link has to carry.
int32_t SlotCompactor::least_horizon() const {
  std::vector<int64_t> uses(capacity_.size(), 0);
  for (const int32_t link : jobs_.link) ++uses[link];
  int64_t floor = *std::max_element(tail_.begin(), tail_.end());
  for (size_t l = 0; l < uses.size(); ++l) floor = std::max(floor, (uses[l] + capacity_[l] - 1) / capacity_[l] - 1);
  return static_cast<int32_t>(floor);
}

}  // namespace certree
