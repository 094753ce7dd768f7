// What arrives when: a ring of future cycles, each with the events due in it.
#pragma once

#include <bit>
#include <vector>

#include "common/types.hpp"

namespace certree {

// Scheduling and taking an event are O(1); finding the next occupied cycle looks at 64 cycles at once. Memory O(horizon + events).
template <class Event>
class EventWheel {
 public:
  // No event is scheduled more than `horizon` cycles ahead.
  explicit EventWheel(std::uint64_t horizon)
      : buckets_(std::bit_ceil(std::max<std::uint64_t>(64, horizon + 1))),
        occupied_(buckets_.size() / 64),
        mask_(buckets_.size() - 1) {}

  bool is_empty() const { return pending_ == 0; }

  void schedule(Cycle when, const Event& event) {
    const std::uint64_t bucket = when.value & mask_;
    buckets_[bucket].push_back(event);
    occupied_[bucket / 64] |= std::uint64_t{1} << (bucket % 64);
    ++pending_;
  }

  // Hands every event of cycle `now` to `handle`, in the order in which they were scheduled; handlers may schedule later ones.
  template <class Handle>
  void take(Cycle now, Handle&& handle) {
    const std::uint64_t bucket = now.value & mask_;
    if (buckets_[bucket].empty()) return;
    std::vector<Event>& events = buckets_[bucket];
    for (const Event& event : events) handle(event);
    pending_ -= events.size();
    events.clear();
    occupied_[bucket / 64] &= ~(std::uint64_t{1} << (bucket % 64));
  }

  // The first cycle from `from` on that has events; kNever without events.
  Cycle next(Cycle from) const {
    if (is_empty()) return kNever;
    std::uint64_t bucket = from.value & mask_;
    std::uint64_t word = occupied_[bucket / 64] & (~std::uint64_t{0} << (bucket % 64));
    for (std::uint64_t passed = 0; word == 0;) {
      passed += 64 - bucket % 64;
      bucket = (from.value + passed) & mask_;
      word = occupied_[bucket / 64];
    }
    const std::uint64_t found = bucket / 64 * 64 + static_cast<std::uint64_t>(std::countr_zero(word));
    return from + ((found - from.value) & mask_);
  }

  // Every event in flight, for checks. O(horizon + events).
  template <class Visit>
  void visit(Visit&& inspect) const {
    for (const auto& events : buckets_) {
      for (const Event& event : events) inspect(event);
    }
  }

 private:
  std::vector<std::vector<Event>> buckets_;
  std::vector<std::uint64_t> occupied_;
  std::uint64_t mask_;
  std::uint64_t pending_ = 0;
};

}  // namespace certree
