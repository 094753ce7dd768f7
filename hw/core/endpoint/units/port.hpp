// A port buffer: what one physical link holds for the engine at its end.
#pragma once

#include <algorithm>
#include <deque>
#include <vector>

#include "common/types.hpp"

namespace certree::endpoint {

// Output buffer, link and input buffer in one, as in AceEngine.tla: a message has its place from the moment it is sent until it is
// taken. The places of one sender and state machine are in the order of sending, and what overtakes another message on its route
// waits for it: were it the first at the port, and its chunk not at work yet, it would hold up the one that its node waits for. A
// port that senders share has messages in the order in which they come.
class Port {
 public:
  explicit Port(bool in_order_of_sending) : in_order_of_sending_(in_order_of_sending) {}

  // `messages` more can be there at a time.
  void deepen(std::uint32_t messages) { depth_ += messages; }
  bool has_room() const { return places_.size() < depth_; }
  void reserve(MessageId message) {
    places_.push_back({message, false});
    peak_ = std::max(peak_, held());
  }

  // O(messages at the port).
  void arrive(MessageId message) {
    const auto place = std::find_if(places_.begin(), places_.end(), [&](const Place& held) { return held.message == message; });
    place->has_come = true;
    if (in_order_of_sending_) return;
    const auto behind = std::find_if(places_.begin(), place, [](const Place& held) { return !held.has_come; });
    std::rotate(behind, place, place + 1);
  }
  bool has_next() const { return !places_.empty() && places_.front().has_come; }
  MessageId front() const { return places_.front().message; }
  void take() { places_.pop_front(); }

  // Engines that stall for want of room here.
  std::vector<NodeId> stalled;

  std::uint32_t held() const { return static_cast<std::uint32_t>(places_.size()); }
  std::uint32_t peak() const { return peak_; }

 private:
  struct Place {
    MessageId message;
    bool has_come;
  };

  bool in_order_of_sending_;
  std::deque<Place> places_;
  std::uint32_t depth_ = 0;
  std::uint32_t peak_ = 0;
};

}  // namespace certree::endpoint
