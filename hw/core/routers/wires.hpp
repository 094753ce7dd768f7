// What travels between routers and network interfaces, and the delays it travels with.
#pragma once

#include <algorithm>

#include "common/event_wheel.hpp"
#include "routers/network/flit_trace.hpp"
#include "routers/network_layout.hpp"
#include "routers/packet.hpp"

namespace certree {

enum class EventKind : std::uint8_t { kFlit, kCredit, kRested, kWake };

struct NetworkEvent {
  std::uint32_t target;  // the channel, which kRested may carry its next flit; kWake: the router
  PacketId packet;       // of a head flit; kNoPacket for the flits behind it
  EventKind kind;
  std::uint8_t vc;
  FlitCode code;  // of a flit
};

// The wires: what is sent on a channel arrives after a fixed time, which here includes the stages of the router around it.
class Wires {
 public:
  explicit Wires(const NetworkLayout& layout) : wheel_(0) {
    const std::uint64_t most_held = layout.pace.end(1);
    std::uint64_t horizon = std::max(std::uint64_t{layout.route_cycles} + layout.vc_cycles + 1, most_held);
    for (std::size_t channel = 0; channel < layout.channel_latency.size(); ++channel) {
      const bool from_router = layout.channel_source[channel] != kInterface;
      const bool to_router = layout.channel_destination[channel] != kInterface;
      const std::uint64_t wire = std::uint64_t{layout.channel_latency[channel]} + 1;
      flit_cycles_.push_back(wire + (from_router ? layout.traversal_cycles : 0) + (to_router ? layout.switch_cycles - 1 : 0));
      credit_cycles_.push_back(wire + (from_router ? layout.credit_cycles : 0));
      is_last_.push_back(!to_router);
      horizon = std::max({horizon, flit_cycles_.back() + most_held, credit_cycles_.back()});
    }
    wheel_ = EventWheel<NetworkEvent>(horizon);
  }

  // Flit `index` of `packet`, which has `flits` flits. It has the channel for `held` cycles; routers pass it on from its first one,
  // an interface has it after the last.
  void send_flit(Cycle now, std::uint32_t channel, std::uint32_t vc, PacketId packet, std::uint32_t index, std::uint32_t flits,
                 std::uint32_t sub_message_flits, std::uint64_t held) {
    if (trace_ != nullptr) trace_->send(now, channel, vc, packet, index);
    const std::uint64_t cycles = flit_cycles_[channel] + (is_last_[channel] ? held - 1 : 0);
    wheel_.schedule(now + cycles, {channel, index == 0 ? packet : kNoPacket, EventKind::kFlit, static_cast<std::uint8_t>(vc),
                                   flit_code(index, flits, sub_message_flits)});
    if (held > 1) wheel_.schedule(now + held, {channel, kNoPacket, EventKind::kRested, 0, {}});
  }
  void send_credit(Cycle now, std::uint32_t channel, std::uint32_t vc) {
    wheel_.schedule(now + credit_cycles_[channel], {channel, kNoPacket, EventKind::kCredit, static_cast<std::uint8_t>(vc), {}});
  }
  // A packet takes a VC of a channel.
  void note_taken(Cycle now, std::uint32_t channel, std::uint32_t vc, PacketId packet) const {
    if (trace_ != nullptr) trace_->take(now, channel, vc, packet);
  }
  void trace(FlitTrace* trace) { trace_ = trace; }
  // A router looks again.
  void wake(Cycle when, std::uint32_t router) { wheel_.schedule(when, {router, kNoPacket, EventKind::kWake, 0, {}}); }
  EventWheel<NetworkEvent>& wheel() { return wheel_; }
  const EventWheel<NetworkEvent>& wheel() const { return wheel_; }

 private:
  EventWheel<NetworkEvent> wheel_;
  std::vector<std::uint64_t> flit_cycles_;
  std::vector<bool> is_last_;  // of channels: they end at interfaces
  std::vector<std::uint64_t> credit_cycles_;
  FlitTrace* trace_ = nullptr;
};

}  // namespace certree
