// One flow at one host: sends numbered packets in a window, again when no result comes, and takes results.
#pragma once

#include <queue>
#include <span>
#include <vector>

#include "common/types.hpp"

namespace certree {

struct SenderRules {
  std::uint32_t window;   // packets that may be in flight, from the oldest without a result on
  std::uint64_t timeout;  // cycles after which a packet without result is sent again, for the first time
  std::uint64_t salt;     // of this sender's pauses
};

// The pause before a packet is sent once more doubles each time, six times at most, and is up to twice as long, by chance: hosts
// that all send again at once would fill up the same buffers in the same order for ever. Time O(log window) for each time a packet
// is sent; memory O(window) and the packets' values, which results replace.
class WindowSender {
 public:
  // `cells`: an integer for each packet, the host's own at first, the result in the end.
  WindowSender(SenderRules rules, std::span<std::uint64_t> cells);

  // Appends the numbers that may be sent now and have not been, in order.
  void fill(Cycle now, std::vector<std::uint32_t>& out);
  // Appends the numbers whose results are overdue.
  void retry(Cycle now, std::vector<std::uint32_t>& out);
  // A result; returns whether it is the first for its number.
  bool take(std::uint32_t number, std::uint64_t value);

  // When the next result will be overdue; kNever: all are there.
  Cycle next_retry();
  bool is_done() const { return oldest_ == cells_.size(); }
  std::uint32_t oldest() const { return oldest_; }  // the first without a result
  std::uint32_t next() const { return next_; }      // the first that was never sent
  std::uint64_t value(std::uint32_t number) const { return cells_[number]; }
  std::uint32_t times_sent(std::uint32_t number) const { return entry(number).times_sent; }

 private:
  struct Entry {
    bool has_result = false;
    std::uint32_t times_sent = 0;
  };
  struct Deadline {
    Cycle when;
    std::uint32_t number = 0;
    bool operator>(const Deadline& other) const { return when != other.when ? when > other.when : number > other.number; }
  };
  Entry& entry(std::uint32_t number) { return entries_[number % rules_.window]; }
  const Entry& entry(std::uint32_t number) const { return entries_[number % rules_.window]; }
  bool has_result(std::uint32_t number) const { return number < oldest_ || entry(number).has_result; }
  void note_sent(std::uint32_t number, Cycle now);

  SenderRules rules_;
  std::span<std::uint64_t> cells_;
  std::vector<Entry> entries_;  // of the packets from the oldest on, a window of them
  std::priority_queue<Deadline, std::vector<Deadline>, std::greater<>> deadlines_;
  std::uint32_t oldest_ = 0;
  std::uint32_t next_ = 0;
};

}  // namespace certree
