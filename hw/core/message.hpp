// Messages under way.
#pragma once

#include <vector>

#include "types.hpp"

namespace certree {

struct Message {
  RowId row;
  std::uint32_t iteration = 0;
  NodeId destination;
  ArrivalId arrival;        // the counter at the destination that it will raise
  RowOp op = RowOp::kNop;
  std::uint64_t chunk = 0;  // of all iterations: iteration · K + flow
  std::uint64_t value = 0;  // the one integer that stands for the chunk's data
  std::uint64_t flits_received = 0;
  Cycle fired;     // when its row fired
  Cycle first = kNever;  // when its first flit entered the lane
  Cycle complete;  // when its last flit was received
};

// Messages by handle; handles of finished ones are used again. Memory O(messages under way).
class MessagePool {
 public:
  MessageId add(const Message& message) {
    if (free_.empty()) {
      messages_.push_back(message);
      return {static_cast<std::uint32_t>(messages_.size() - 1)};
    }
    MessageId id = free_.back();
    free_.pop_back();
    messages_[id.value] = message;
    return id;
  }
  void remove(MessageId id) { free_.push_back(id); }
  Message& operator[](MessageId id) { return messages_[id.value]; }

 private:
  std::vector<Message> messages_;
  std::vector<MessageId> free_;
};

}  // namespace certree
