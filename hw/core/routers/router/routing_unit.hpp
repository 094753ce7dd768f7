// Route computation: which output port a packet takes next.
#pragma once

#include <optional>

#include "routers/network_layout.hpp"
#include "routers/packet.hpp"

namespace certree {

// Source routes are used up hop by hop (the paper's Next and Eject fields); other packets look the next hop up in the router's
// table. A packet that passes more routers than there are goes round: nothing but the router decides where it goes next.
class RoutingUnit {
 public:
  RoutingUnit(const NetworkLayout& layout, PacketTable& packets) : layout_(layout), packets_(packets) {}

  Hop next(std::uint32_t router, PacketId id) {
    Packet& packet = packets_[id.value];
    if (packet.route == kTableRouted) {
      if (++packet.hop > layout_.routers) lost_ = Lost{id, router};
      return {layout_.table[std::size_t{router} * layout_.routers + packet.destination]};
    }
    return {layout_.routes.values[packet.route + packet.hop++]};
  }

  // Cycles that flit `index` of a packet has a channel for itself.
  std::uint64_t hold(PacketId id, std::uint32_t index) const {
    return layout_.pace.is_full() ? 1 : layout_.pace.cycles(std::uint64_t{packets_[id.value].before} + index);
  }
  // Cycles that its packet has one.
  std::uint64_t cycles(PacketId id) const {
    const std::uint64_t before = packets_[id.value].before;
    return layout_.pace.end(before + packets_[id.value].flits) - layout_.pace.end(before);
  }
  std::uint32_t flits(PacketId id) const { return packets_[id.value].flits; }
  std::uint32_t priority(PacketId id) const { return packets_[id.value].priority; }
  bool is_table_routed(PacketId id) const { return packets_[id.value].route == kTableRouted; }
  std::uint64_t vcs(PacketId id, std::uint32_t vc_set) const {
    return layout_.vc_mask[packets_[id.value].traffic_class * layout_.vc_sets + vc_set];
  }
  // Zero for ordinary packets.
  std::uint32_t sub_message_flits(PacketId id) const { return layout_.sub_message_flits[packets_[id.value].traffic_class]; }
  std::uint32_t unit_flits(PacketId id) const { return layout_.unit_flits[packets_[id.value].traffic_class]; }

  // A packet that moves for ever and never arrives, and where it is.
  struct Lost {
    PacketId packet;
    std::uint32_t router;
  };
  const std::optional<Lost>& lost() const { return lost_; }

 private:
  const NetworkLayout& layout_;
  PacketTable& packets_;
  std::optional<Lost> lost_;
};

}  // namespace certree
