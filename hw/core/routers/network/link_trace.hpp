// Which packet had which link when, for pictures.
#pragma once

#include <vector>

#include "routers/packet.hpp"

namespace certree {

// Flits of one packet that crossed a channel one right after the other.
struct LinkUse {
  std::uint32_t channel;
  std::uint32_t traffic_class;
  std::uint64_t number;  // see Packet
  Cycle start;           // when the first of them left the router
  std::uint64_t cycles;
};

// Packets on different VCs may take turns flit by flit: each turn is a use of its own. O(1) a flit, memory O(uses).
class LinkTrace {
 public:
  LinkTrace(std::size_t channels, std::uint32_t vcs, Pace pace)
      : vcs_(vcs), pace_(pace), front_(channels * vcs, Front{kNoPacket, 0}), last_(channels) {}

  // A flit that left for the channel at time `start`; `head` as in NetworkEvent.
  void record(std::uint32_t channel, std::uint32_t vc, PacketId head, const PacketTable& packets, Cycle start) {
    Front& front = front_[channel * std::size_t{vcs_} + vc];
    if (head != kNoPacket) front = {head, packets[head.value].before};
    const std::uint64_t cycles = pace_.cycles(front.flit++);
    Last& last = last_[channel];
    if (last.packet == front.packet && uses_[last.use].start + uses_[last.use].cycles == start) {
      uses_[last.use].cycles += cycles;
      return;
    }
    last = {front.packet, uses_.size()};
    const Packet& packet = packets[front.packet.value];
    uses_.push_back({channel, packet.traffic_class, packet.number, start, cycles});
  }

  const std::vector<LinkUse>& uses() const { return uses_; }

 private:
  struct Last {
    PacketId packet = kNoPacket;
    std::size_t use = 0;
  };
  struct Front {
    PacketId packet;
    std::uint64_t flit;  // of its message, the next one
  };
  std::uint32_t vcs_;
  Pace pace_;
  std::vector<Front> front_;  // of a channel's VC: the packet whose flits pass it
  std::vector<Last> last_;    // of a channel: its last use
  std::vector<LinkUse> uses_;
};

}  // namespace certree
