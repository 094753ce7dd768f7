// Payloads that have come to a switch and wait for its adder (NetReduce, Fig. 21).
#pragma once

#include <algorithm>

#include "reducing/packet_pool.hpp"

namespace certree {

// Packets that arrive when it is full are dropped, as in any switch; their sender sends them again.
class PayloadBuffer {
 public:
  explicit PayloadBuffer(std::uint64_t capacity) : capacity_(capacity) {}

  // Whether there was room; `id` is the payload's number here.
  bool accept(const AggregationPacket& packet, std::uint32_t& id) {
    if (waiting_.size() >= capacity_) {
      ++dropped_;
      return false;
    }
    id = waiting_.add(packet);
    most_ = std::max(most_, waiting_.size());
    return true;
  }
  AggregationPacket release(std::uint32_t id) {
    const AggregationPacket packet = waiting_[id];
    waiting_.remove(id);
    return packet;
  }

  const PacketPool& waiting() const { return waiting_; }
  std::uint64_t size() const { return waiting_.size(); }
  std::uint64_t most() const { return most_; }
  std::uint64_t dropped() const { return dropped_; }

 private:
  PacketPool waiting_;
  std::uint64_t capacity_;
  std::uint64_t most_ = 0;
  std::uint64_t dropped_ = 0;
};

}  // namespace certree
