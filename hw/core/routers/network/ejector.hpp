// The receiving side of a network interface: takes every flit at once and gives its place back.
#pragma once

#include <stdexcept>
#include <vector>

#include "routers/packet.hpp"

namespace certree {

class Ejector {
 public:
  explicit Ejector(std::uint32_t vcs) : arriving_(vcs) {}

  // A flit at time `now`, with the packet it opens if it is a head. Returns the packet when this was its tail, else kNoPacket.
  PacketId receive(std::uint32_t vc, PacketId head, FlitCode code, PacketTable& packets, Cycle now) {
    Arriving& arriving = arriving_[vc];
    if (head != kNoPacket) {
      arriving = {head, packets[head.value].flits};
      packets[head.value].head = now;
    }
    if (arriving.left == 0) throw std::logic_error("a flit without a packet left the network");
    --arriving.left;
    if (closes_route(code) != (arriving.left == 0)) throw std::logic_error("a flit's code is not that of its place in the packet");
    if (arriving.left > 0) return kNoPacket;
    packets[arriving.packet.value].tail = now;
    return arriving.packet;
  }

  // The packet of the last flit received on a VC, and its flits that are yet to come.
  PacketId packet(std::uint32_t vc) const { return arriving_[vc].packet; }
  std::uint32_t left(std::uint32_t vc) const { return arriving_[vc].left; }

 private:
  struct Arriving {
    PacketId packet = kNoPacket;
    std::uint32_t left = 0;
  };
  std::vector<Arriving> arriving_;
};

}  // namespace certree
