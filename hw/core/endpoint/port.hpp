// A port buffer: what one physical link holds for the engine at its end.
#pragma once

#include <algorithm>
#include <deque>
#include <vector>

#include "../types.hpp"

namespace certree::endpoint {

// Output buffer, link and input buffer in one, as in AceEngine.tla: a message has its place from the moment it is sent until it is
// taken, and messages are taken in the order in which they came.
class Port {
 public:
  // So many more messages can be there at a time.
  void deepen(std::uint32_t messages) { depth_ += messages; }
  bool has_room() const { return held_ < depth_; }
  void reserve() { peak_ = std::max(peak_, ++held_); }

  void arrive(MessageId message) { waiting_.push_back(message); }
  bool is_empty() const { return waiting_.empty(); }
  MessageId front() const { return waiting_.front(); }
  void take() {
    waiting_.pop_front();
    --held_;
  }

  // Engines that stall for want of room here.
  std::vector<NodeId> stalled;

  std::uint32_t held() const { return held_; }
  std::uint32_t peak() const { return peak_; }

 private:
  std::deque<MessageId> waiting_;
  std::uint32_t depth_ = 0;
  std::uint32_t held_ = 0;
  std::uint32_t peak_ = 0;
};

}  // namespace certree::endpoint
