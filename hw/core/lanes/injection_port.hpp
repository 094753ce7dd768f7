// The sending end of a lane: messages leave one after the other, a flit a cycle.
#pragma once

#include <algorithm>
#include <deque>
#include <span>

#include "lanes/flit.hpp"

namespace certree {

class InjectionPort {
 public:
  explicit InjectionPort(std::uint32_t message_flits) : message_flits_(message_flits) {}

  // Flits handed over and not yet sent.
  std::uint64_t backlog() const { return backlog_; }

  void enqueue(MessageId message) {
    if (queue_.empty()) left_of_head_ = message_flits_;
    queue_.push_back(message);
    backlog_ += message_flits_;
  }

  // The message whose flits are next, and how many of them there are; there must be one.
  MessageId head() const { return queue_.front(); }
  std::uint32_t left_of_head() const { return left_of_head_; }
  bool is_at_message_start() const { return left_of_head_ == message_flits_; }

  // Sends a block of flits, one a cycle, no more than `left_of_head`; bubbles when nothing waits. Returns the flits sent.
  std::uint64_t send(std::span<Flit> block) {
    if (queue_.empty()) {
      std::fill(block.begin(), block.end(), Flit());
      return 0;
    }
    std::fill(block.begin(), block.end(), Flit(queue_.front()));
    backlog_ -= block.size();
    left_of_head_ -= static_cast<std::uint32_t>(block.size());
    if (left_of_head_ == 0) {
      queue_.pop_front();
      left_of_head_ = message_flits_;
    }
    return block.size();
  }

 private:
  std::uint32_t message_flits_;
  std::uint32_t left_of_head_ = 0;
  std::uint64_t backlog_ = 0;
  std::deque<MessageId> queue_;
};

}  // namespace certree
