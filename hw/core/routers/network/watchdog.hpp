// Looks for packets that wait while others pass.
#pragma once

#include <cstdint>
#include <vector>

#include "common/types.hpp"

namespace certree {

// What may wait, as it is at one time.
struct Waiter {
  bool waits;             // it has a flit that nothing but others keeps from leaving
  std::uint64_t sent;     // flits that it has sent so far
  std::uint64_t carried;  // flits that the channel that it wants has carried so far
};

// A waiter that waited as long as the bound, or longer, while its channel carried flits of others.
struct Starvation {
  std::uint32_t waiter;
  std::uint64_t since;   // the cycle in which it was first seen waiting
  std::uint64_t cycles;  // from then on
  std::uint64_t passed;  // flits of others meanwhile
};

// Waiters are looked at every eighth of the bound. What waits for less than the bound is never reported; a longer wait is when five
// quarters of it are over at the latest, if others have passed since its first eighth. O(waiters) time a look, and memory.
class Watchdog {
 public:
  static constexpr std::size_t kMostReports = 4096;  // further ones are counted only

  Watchdog(std::uint64_t bound, std::size_t waiters, Cycle now)
      : bound_(bound), period_(bound < 8 ? 1 : bound / 8), next_look_(now), seen_(waiters) {}

  bool is_due(Cycle now) const { return now >= next_look_; }
  void begin_look(Cycle now) {
    now_ = now;
    next_look_ = now + period_;
  }
  // Whether this is the look at which the waiter starves; later ones of the same wait make its report longer.
  bool look_at(std::uint32_t waiter, const Waiter& state) {
    Seen& seen = seen_[waiter];
    if (!state.waits || !seen.waits || seen.sent != state.sent) {
      seen = {state.sent, state.carried, now_, kNoReport, state.waits};
      return false;
    }
    const std::uint64_t cycles = now_ - seen.since, passed = state.carried - seen.carried;
    if (cycles < bound_ || passed == 0) return false;
    if (seen.report == kNoReport) {
      ++found_;
      if (reports_.size() == kMostReports) {
        seen.report = kUnlisted;
        return false;
      }
      seen.report = static_cast<std::uint32_t>(reports_.size());
      reports_.push_back({waiter, seen.since.value, cycles, passed});
      return true;
    }
    if (seen.report == kUnlisted) return false;
    reports_[seen.report].cycles = cycles;
    reports_[seen.report].passed = passed;
    return false;
  }

  std::uint64_t found() const { return found_; }
  const std::vector<Starvation>& reports() const { return reports_; }

 private:
  static constexpr std::uint32_t kNoReport = UINT32_MAX, kUnlisted = UINT32_MAX - 1;
  struct Seen {
    std::uint64_t sent = 0;
    std::uint64_t carried = 0;  // when first seen
    Cycle since;
    std::uint32_t report = kNoReport;
    bool waits = false;
  };
  std::uint64_t bound_;
  std::uint64_t period_;
  Cycle next_look_;
  Cycle now_;
  std::vector<Seen> seen_;
  std::uint64_t found_ = 0;
  std::vector<Starvation> reports_;
};

}  // namespace certree
