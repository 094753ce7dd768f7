// Packets in flight, by number.
#pragma once

#include <vector>

#include "reducing/aggregation_packet.hpp"

namespace certree {

class PacketPool {
 public:
  std::uint32_t add(const AggregationPacket& packet) {
    ++alive_;
    if (unused_.empty()) {
      packets_.push_back(packet);
      is_alive_.push_back(true);
      return static_cast<std::uint32_t>(packets_.size() - 1);
    }
    const std::uint32_t id = unused_.back();
    unused_.pop_back();
    packets_[id] = packet;
    is_alive_[id] = true;
    return id;
  }
  void remove(std::uint32_t id) {
    --alive_;
    is_alive_[id] = false;
    unused_.push_back(id);
  }
  const AggregationPacket& operator[](std::uint32_t id) const { return packets_[id]; }
  std::uint64_t size() const { return alive_; }

  // Whether `holds(id, packet)` for any of them. O(most that were ever in flight).
  template <class Holds>
  bool any(Holds&& holds) const {
    for (std::uint32_t id = 0; id < packets_.size(); ++id) {
      if (is_alive_[id] && holds(id, packets_[id])) return true;
    }
    return false;
  }

 private:
  std::vector<AggregationPacket> packets_;
  std::vector<bool> is_alive_;
  std::vector<std::uint32_t> unused_;
  std::uint64_t alive_ = 0;
};

}  // namespace certree
