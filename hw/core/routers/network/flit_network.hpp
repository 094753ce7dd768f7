// Routers, network interfaces and the channels between them, cycle by cycle.
#pragma once

#include <array>
#include <optional>
#include <span>

#include "routers/network/ejector.hpp"
#include "routers/network/flit_trace.hpp"
#include "routers/network/injector.hpp"
#include "routers/network/link_trace.hpp"
#include "routers/network/watchdog.hpp"
#include "routers/router/router.hpp"

namespace certree {

// Something that cannot go on: a packet at the front of a router's input VC, or of an interface's queue.
struct BlockedPacket {
  PacketId packet;
  std::uint32_t router;          // kInterface: it waits in the interface at the start of its channel
  std::uint32_t channel;         // that it came in by, or would go in by
  std::uint32_t vc;              // of that channel
  std::uint32_t output_channel;  // that it wants to leave by
  std::uint32_t output_vc;       // that it holds; kAnyVc: it waits for one
  static constexpr std::uint32_t kAnyVc = UINT32_MAX;
};

// A packet that waited longer than it may while others passed. Its place and its words are those of a blocked one.
struct StarvedPacket {
  BlockedPacket place;
  std::uint32_t traffic_class;
  std::uint64_t number;  // the caller's
  std::uint32_t destination;
};

struct NetworkCounters {
  std::uint64_t packets = 0;    // received whole
  std::uint64_t injected = 0;   // flits
  std::uint64_t ejected = 0;    // flits
  std::uint64_t flit_hops = 0;  // flits over channels between routers
  std::array<std::uint64_t, kFlitCodes> ejected_by_code{};
};

// A cycle has two halves: events that were in flight arrive, then every interface and router evaluates what it has, reading its own
// state only and sending nothing that arrives before the next cycle; their order cannot change a result. Routers and interfaces
// that can do nothing are not looked at until an event reaches them, and cycles without active units are skipped. Time O(flits
// · channels they pass · VCs), memory O(channels · VCs + longest delay + packets + flits in flight).
class FlitNetwork {
 public:
  // Throws std::invalid_argument when the layout is inconsistent.
  explicit FlitNetwork(NetworkLayout layout);
  FlitNetwork(const FlitNetwork&) = delete;
  FlitNetwork& operator=(const FlitNetwork&) = delete;

  // Packets may be added at any time; `injector`, `destination`, `route` and `traffic_class` must exist.
  PacketId add(const Packet& packet);
  // A packet that is completed is forgotten; its number may be given to another.
  void remove(PacketId packet) { unused_.push_back(packet); }
  // Hands a packet to its injector; its first flit may leave in this cycle, until `finish_cycle`.
  void inject(PacketId packet);

  // From now on keeps who had which channel between routers when.
  void trace_links() { link_trace_.emplace(sources_.size(), layout_.vcs, layout_.pace); }
  const std::optional<LinkTrace>& link_trace() const { return link_trace_; }

  // Before any packet: keeps every step of flits and credits.
  void trace_flits();
  const std::optional<FlitTrace>& flit_trace() const { return flit_trace_; }
  // Calls `visit(channel, vc)` for each credit on its way.
  template <class Visitor>
  void visit_credits(Visitor visit) const {
    wires_.wheel().visit([&](const NetworkEvent& event) {
      if (event.kind == EventKind::kCredit) visit(event.target, event.vc);
    });
  }

  // From now on looks for packets that wait for `bound` cycles or longer at the front of a buffer or of an interface's queue while
  // the channel that they want carries flits of others, and they have a credit for it or wait for a VC of it. One that has a VC and
  // no credit waits for the packet in front of the buffer behind, which is looked at itself.
  void watch(std::uint64_t bound);
  const std::optional<Watchdog>& watchdog() const { return watchdog_; }
  // Of the reports of the watchdog, in their order.
  const std::vector<StarvedPacket>& starved() const { return starved_; }

  // The two halves of cycle `now`. Packets whose tails arrived at its start are in `completed` until the next one.
  void begin_cycle();
  void finish_cycle();
  // The next cycle in which something can happen, `now` at the earliest; kNever: nothing will, without another packet.
  Cycle next_activity() const;
  void skip_to(Cycle when) { now_ = when; }

  Cycle now() const { return now_; }
  std::span<const PacketId> completed() const { return completed_; }
  std::span<const std::uint32_t> senders() const { return senders_; }  // injectors that sent a flit in the last cycle
  PacketTable& packets() { return packets_; }
  const NetworkCounters& counters() const { return counters_; }
  const Injector& injector(std::uint32_t index) const { return injectors_[index]; }
  std::uint32_t injectors() const { return static_cast<std::uint32_t>(injectors_.size()); }
  const NetworkLayout& layout() const { return layout_; }
  std::uint64_t flits_in_flight() const { return counters_.injected - counters_.ejected; }
  std::uint64_t busiest_channel_cycles() const;  // of those between routers

  std::vector<BlockedPacket> blocked() const;
  const std::optional<RoutingUnit::Lost>& lost() const { return routing_.lost(); }

  // Every flit that was injected is in a buffer, on a channel or has left; every credit is at its counter, in flight, or stands
  // for a flit on the channel or in the buffer. Throws std::logic_error otherwise. O(channels · VCs + events).
  void check_conservation() const;

 private:
  void wire_up();
  void deliver(const NetworkEvent& event);
  void activate_router(std::uint32_t router);
  void activate_injector(std::uint32_t injector);
  void look_for_starvation();
  void note_starved(const BlockedPacket& place);

  struct End {
    std::uint32_t unit;  // router, injector or ejector
    std::uint32_t port;
    bool is_router;
  };
  NetworkLayout layout_;
  PacketTable packets_;
  Wires wires_;
  RoutingUnit routing_;
  std::vector<Router> routers_;
  std::vector<Injector> injectors_;
  std::vector<Ejector> ejectors_;
  std::vector<End> sources_;       // of channels
  std::vector<End> destinations_;  // of channels
  std::vector<std::uint32_t> active_routers_;
  std::vector<std::uint32_t> active_injectors_;
  std::vector<std::uint8_t> router_is_active_;
  std::vector<std::uint8_t> injector_is_active_;
  std::vector<std::uint32_t> injector_channel_;
  std::vector<PacketId> completed_;
  std::vector<std::uint32_t> senders_;
  std::vector<PacketId> unused_;
  std::optional<LinkTrace> link_trace_;
  std::optional<FlitTrace> flit_trace_;
  std::optional<Watchdog> watchdog_;
  std::vector<StarvedPacket> starved_;
  NetworkCounters counters_;
  Cycle now_;
};

}  // namespace certree
