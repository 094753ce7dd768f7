// A message between two network interfaces.
#pragma once

#include <vector>

#include "endpoint/units/state_machine.hpp"

namespace certree::endpoint {

// The bit in packet headers by which a network interface knows for whom they are.
enum class Mode : std::uint8_t { kNormal, kEngine };

struct Message {
  ChunkId chunk;
  std::uint32_t row = 0;
  Mode mode = Mode::kNormal;
  std::uint32_t hop = 0;
  Cycle injected;    // its first byte stood before its first link
  Cycle head, tail;  // its first and last byte have come so far
  std::vector<std::uint64_t> values;
};

// Messages in flight; places are used again. O(1) each, memory O(most at a time).
class MessagePool {
 public:
  MessageId create() {
    ++created_;
    if (free_.empty()) {
      messages_.emplace_back();
      return {static_cast<std::uint32_t>(messages_.size() - 1)};
    }
    const MessageId id = free_.back();
    free_.pop_back();
    return id;
  }
  void destroy(MessageId id) {
    messages_[id.value].values.clear();
    free_.push_back(id);
  }
  Message& operator[](MessageId id) { return messages_[id.value]; }
  const Message& operator[](MessageId id) const { return messages_[id.value]; }
  std::uint64_t created() const { return created_; }
  std::uint64_t in_flight() const { return messages_.size() - free_.size(); }

 private:
  std::vector<Message> messages_;
  std::vector<MessageId> free_;
  std::uint64_t created_ = 0;
};

}  // namespace certree::endpoint
