// A unit that works on whole chunks one by one, first come first served: adds them to memory, or moves them within the node.
#pragma once

#include <algorithm>
#include <deque>

#include "common/types.hpp"

namespace certree {

class QueuedUnit {
 public:
  explicit QueuedUnit(std::uint64_t start_cycles) : start_cycles_(start_cycles) {}

  // Takes a message that is complete at time `complete`, and works on it for `cycles`.
  void accept(MessageId message, Cycle complete, std::uint64_t cycles) {
    free_at_ = std::max(free_at_, complete + start_cycles_) + cycles;
    jobs_.push_back({message, free_at_});
  }
  bool is_idle() const { return jobs_.empty(); }

  // When the chunk in front will be done; kNever without a chunk.
  Cycle next_finish() const { return jobs_.empty() ? kNever : jobs_.front().finish; }

  MessageId retire() {
    MessageId message = jobs_.front().message;
    jobs_.pop_front();
    return message;
  }

 private:
  struct Job {
    MessageId message;
    Cycle finish;
  };
  std::uint64_t start_cycles_;
  Cycle free_at_;
  std::deque<Job> jobs_;
};

}  // namespace certree
