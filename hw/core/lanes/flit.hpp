// What a lane carries in one cycle.
#pragma once

#include "common/types.hpp"

namespace certree {

// A flit knows the message it belongs to; a default one is a bubble (an empty cycle).
class Flit {
 public:
  Flit() = default;
  explicit Flit(MessageId message) : message_(message.value) {}
  bool is_bubble() const { return message_ == kBubble; }
  MessageId message() const { return {message_}; }
  bool operator==(const Flit&) const = default;

 private:
  static constexpr std::uint32_t kBubble = UINT32_MAX;
  std::uint32_t message_ = kBubble;
};

}  // namespace certree
