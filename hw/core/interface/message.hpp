// Messages in flight.
#pragma once

#include <optional>
#include <vector>

#include "common/types.hpp"

namespace certree {

struct Message {
  RowId row;
  std::uint32_t iteration = 0;
  std::uint32_t index = 0;   // of those that rows send in an iteration
  std::uint64_t number = 0;  // of all messages of the run, in the order in which they were sent
  NodeId destination;
  ArrivalId arrival;  // the counter at the destination that it will raise
  RowOp op = RowOp::kNop;
  std::uint64_t cell = 0;   // in the memory of its destination
  std::uint64_t value = 0;  // the one integer that stands for the chunk's data
  std::uint32_t hop = 0;    // the bundle that it is on, as an index into the program's list of hops
  std::uint32_t hops_end = 0;
  std::optional<LaneId> last_lane;  // the one that takes it to its destination, once it has asked for that
  std::uint32_t flits = 0;
  std::uint64_t flits_received = 0;
  Cycle fired;             // when its row fired
  Cycle fetched = kNever;  // when an endpoint had its payload at the interface
  Cycle requested;         // when its first flit stood before the lane that it is on, or its port
  Cycle first = kNever;    // when its first flit entered its first lane
  Cycle head = kNever;     // when its first flit began to arrive; kNever: its flits came one after the other
  Cycle complete;          // when its last flit was received
};

// Messages by handle; handles of finished ones are used again. Memory O(messages in flight).
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
