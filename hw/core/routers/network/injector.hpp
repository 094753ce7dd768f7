// The sending side of a network interface: packets wait in a queue per traffic class, one flit a cycle enters the router, or what
// the pace allows.
#pragma once

#include <optional>

#include "common/queue.hpp"
#include "routers/router/output_vcs.hpp"
#include "routers/router/routing_unit.hpp"
#include "routers/wires.hpp"

namespace certree {

// Classes take turns flit by flit. A packet takes the first free VC with room behind the one that the packet before it of its class
// took, and keeps it to its tail.
class Injector {
 public:
  Injector(const NetworkLayout& layout, std::uint32_t channel, RoutingUnit& routing, Wires& wires);

  void enqueue(PacketId packet, std::uint32_t traffic_class);
  void receive_credit(std::uint32_t vc) { vcs_.receive_credit(vc); }

  // One cycle: sends a flit if it can. Returns whether it may act in the next cycle without another event.
  bool evaluate(Cycle now);

  // Flits of a class that wait here.
  std::uint64_t backlog(std::uint32_t traffic_class) const { return classes_[traffic_class].backlog; }
  // Cycles for which those of a class, with the flit of it that is leaving, will have the channel.
  std::uint64_t cycles_left(std::uint32_t traffic_class, Cycle now) const {
    const bool leaves = last_class_ == traffic_class && now < free_at_;
    return classes_[traffic_class].cycles + (leaves ? free_at_ - now : 0);
  }
  Cycle free_at() const { return free_at_; }  // when its next flit may leave
  std::uint64_t flits_sent() const { return flits_sent_; }
  const OutputVcs& vcs() const { return vcs_; }
  // The packet whose first flit was sent in the last evaluated cycle.
  std::optional<PacketId> started() const { return started_; }
  // The packet in front of a class, kNoPacket without one.
  PacketId front(std::uint32_t traffic_class) const;
  // Flits of a class that have left.
  std::uint64_t sent(std::uint32_t traffic_class) const { return classes_[traffic_class].sent; }
  // The VC that it holds, UINT32_MAX when it holds none.
  std::uint32_t vc(std::uint32_t traffic_class) const { return classes_[traffic_class].vc; }

 private:
  static constexpr std::uint32_t kNoVc = UINT32_MAX;
  struct Class {
    Queue<PacketId> packets;
    std::uint32_t vc = kNoVc;       // of the packet in front, once it has one
    std::uint32_t last_vc = kNoVc;  // of the packet before
    std::uint32_t length = 0;       // flits of the packet in front
    std::uint32_t left = 0;         // those of them that have not been sent
    std::uint64_t backlog = 0;      // flits of all packets
    std::uint64_t sent = 0;         // flits that have left
    std::uint64_t cycles = 0;       // of the channel, for all flits that wait
  };
  std::uint32_t choose_vc(const Class& entry) const;
  void send(Class& entry, Cycle now);

  std::uint32_t channel_;
  RoutingUnit& routing_;
  Wires& wires_;
  OutputVcs vcs_;
  std::vector<Class> classes_;
  std::uint32_t last_class_ = 0;
  std::uint64_t backlog_ = 0;  // of all classes
  std::uint64_t flits_sent_ = 0;
  Cycle free_at_;
  std::optional<PacketId> started_;
};

}  // namespace certree
