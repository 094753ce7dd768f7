// The sending end of a lane: messages leave one after the other, a flit a cycle.
#pragma once

#include <algorithm>
#include <deque>
#include <span>

#include "lanes/flit.hpp"

namespace certree {

class InjectionPort {
 public:
  // Flits handed over and not yet sent.
  std::uint64_t backlog() const { return backlog_; }

  void enqueue(MessageId message, std::uint32_t flits) {
    if (queue_.empty()) left_of_head_ = flits;
    queue_.push_back({message, flits});
    backlog_ += flits;
  }

  // The message whose flits are next, and how many of them there are; there must be one.
  MessageId head() const { return queue_.front().message; }
  std::uint32_t left_of_head() const { return left_of_head_; }
  bool is_at_message_start() const { return left_of_head_ == queue_.front().flits; }

  // Sends a block of flits, one a cycle, no more than `left_of_head`; bubbles when nothing waits. Returns the flits sent.
  std::uint64_t send(std::span<Flit> block) {
    if (queue_.empty()) {
      std::fill(block.begin(), block.end(), Flit());
      return 0;
    }
    std::fill(block.begin(), block.end(), Flit(queue_.front().message));
    backlog_ -= block.size();
    left_of_head_ -= static_cast<std::uint32_t>(block.size());
    if (left_of_head_ == 0) {
      queue_.pop_front();
      if (!queue_.empty()) left_of_head_ = queue_.front().flits;
    }
    return block.size();
  }

 private:
  struct Waiting {
    MessageId message;
    std::uint32_t flits;
  };
  std::uint32_t left_of_head_ = 0;
  std::uint64_t backlog_ = 0;
  std::deque<Waiting> queue_;
};

}  // namespace certree
