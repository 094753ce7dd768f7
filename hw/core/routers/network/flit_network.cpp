#include "routers/network/flit_network.hpp"

#include <algorithm>
#include <string>

namespace certree {
namespace {

NetworkLayout validated(NetworkLayout layout) {
  layout.validate();
  return layout;
}

#ifdef NDEBUG
constexpr std::uint64_t kCheckMask = (1U << 20U) - 1;  // a sample
#else
constexpr std::uint64_t kCheckMask = 63;
#endif

}  // namespace

FlitNetwork::FlitNetwork(NetworkLayout layout)
    : layout_(validated(std::move(layout))), wires_(layout_), routing_(layout_, packets_) {
  wire_up();
}

void FlitNetwork::wire_up() {
  const auto channels = static_cast<std::uint32_t>(layout_.channel_source.size());
  std::vector<std::vector<std::uint32_t>> inputs(layout_.routers), outputs(layout_.routers);
  for (std::uint32_t channel = 0; channel < channels; ++channel) {
    const std::uint32_t source = layout_.channel_source[channel];
    if (source == kInterface) {
      sources_.push_back({static_cast<std::uint32_t>(injectors_.size()), 0, false});
      injectors_.emplace_back(layout_, channel, routing_, wires_);
      injector_channel_.push_back(channel);
    } else {
      sources_.push_back({source, static_cast<std::uint32_t>(outputs[source].size()), true});
      outputs[source].push_back(channel);
    }
  }
  destinations_.resize(channels);
  for (const std::uint32_t channel : layout_.input_order) {
    const std::uint32_t destination = layout_.channel_destination[channel];
    if (destination == kInterface) {
      destinations_[channel] = {static_cast<std::uint32_t>(ejectors_.size()), 0, false};
      ejectors_.emplace_back(layout_.vcs);
    } else {
      destinations_[channel] = {destination, static_cast<std::uint32_t>(inputs[destination].size()), true};
      inputs[destination].push_back(channel);
    }
  }
  routers_.reserve(layout_.routers);
  for (std::uint32_t id = 0; id < layout_.routers; ++id) {
    routers_.emplace_back(layout_, id, std::move(inputs[id]), std::move(outputs[id]), routing_, wires_);
  }
  router_is_active_.resize(routers_.size());
  injector_is_active_.resize(injectors_.size());
}

PacketId FlitNetwork::add(const Packet& packet) {
  const bool is_routed = packet.route == kTableRouted ? !layout_.table.empty() : packet.route < layout_.routes.values.size();
  if (packet.injector >= injectors_.size() || packet.destination >= routers_.size() || packet.flits == 0 || !is_routed ||
      packet.traffic_class >= layout_.unit_flits.size()) {
    throw std::invalid_argument("router network: packet " + std::to_string(packets_.size()) +
                                " names something that does not exist");
  }
  if (unused_.empty()) {
    packets_.push_back(packet);
    return {static_cast<std::uint32_t>(packets_.size() - 1)};
  }
  const PacketId id = unused_.back();
  unused_.pop_back();
  packets_[id.value] = packet;
  return id;
}

void FlitNetwork::inject(PacketId id) {
  const Packet& packet = packets_[id.value];
  if (flit_trace_) flit_trace_->open(id, packet);
  injectors_[packet.injector].enqueue(id, packet.traffic_class);
  activate_injector(packet.injector);
}

void FlitNetwork::activate_router(std::uint32_t router) {
  if (router_is_active_[router]) return;
  router_is_active_[router] = 1;
  active_routers_.push_back(router);
}

void FlitNetwork::activate_injector(std::uint32_t injector) {
  if (injector_is_active_[injector]) return;
  injector_is_active_[injector] = 1;
  active_injectors_.push_back(injector);
}

void FlitNetwork::deliver(const NetworkEvent& event) {
  if (event.kind == EventKind::kWake) {
    activate_router(event.target);
  } else if (event.kind == EventKind::kRested) {
    const End& source = sources_[event.target];
    if (source.is_router) {
      routers_[source.unit].end_rest(source.port);
      activate_router(source.unit);
    } else {
      activate_injector(source.unit);
    }
  } else if (event.kind == EventKind::kCredit) {
    if (flit_trace_) flit_trace_->credit(now_, event.target, event.vc);
    const End& source = sources_[event.target];
    if (source.is_router) {
      routers_[source.unit].receive_credit(source.port, event.vc);
      activate_router(source.unit);
    } else {
      injectors_[source.unit].receive_credit(event.vc);
      activate_injector(source.unit);
    }
  } else if (const End& destination = destinations_[event.target]; destination.is_router) {
    if (sources_[event.target].is_router) {
      ++counters_.flit_hops;
      if (link_trace_) {
        const std::uint64_t wire = layout_.channel_latency[event.target] + std::uint64_t{1};
        link_trace_->record(event.target, event.vc, event.packet, packets_, {now_.value - wire});
      }
    }
    routers_[destination.unit].receive_flit(destination.port, event.vc, event.packet, event.code, now_);
    activate_router(destination.unit);
  } else {
    ++counters_.ejected;
    ++counters_.ejected_by_code[static_cast<std::size_t>(event.code)];
    Ejector& ejector = ejectors_[destination.unit];
    const PacketId whole = ejector.receive(event.vc, event.packet, event.code, packets_, now_);
    if (flit_trace_) {
      const PacketId packet = ejector.packet(event.vc);
      flit_trace_->eject(now_, event.target, event.vc, packet, packets_[packet.value].flits - ejector.left(event.vc) - 1);
    }
    if (whole != kNoPacket) {
      ++counters_.packets;
      completed_.push_back(whole);
    }
    wires_.send_credit(now_, event.target, event.vc);
  }
}

void FlitNetwork::begin_cycle() {
  completed_.clear();
  wires_.wheel().take(now_, [this](const NetworkEvent& event) { deliver(event); });
}

void FlitNetwork::finish_cycle() {
  senders_.clear();
  std::erase_if(active_injectors_, [this](std::uint32_t index) {
    Injector& injector = injectors_[index];
    const std::uint64_t before = injector.flits_sent();
    const bool stays = injector.evaluate(now_);
    if (injector.flits_sent() != before) {
      ++counters_.injected;
      senders_.push_back(index);
    }
    if (!stays) injector_is_active_[index] = 0;
    return !stays;
  });
  std::erase_if(active_routers_, [this](std::uint32_t index) {
    const bool stays = routers_[index].evaluate(now_);
    if (!stays) router_is_active_[index] = 0;
    return !stays;
  });
  now_ = now_ + 1;
  if (watchdog_ && watchdog_->is_due(now_)) look_for_starvation();
  if ((now_.value & kCheckMask) == 0) check_conservation();
}

Cycle FlitNetwork::next_activity() const {
  if (!active_routers_.empty() || !active_injectors_.empty()) return now_;
  return wires_.wheel().next(now_);
}

std::uint64_t FlitNetwork::busiest_channel_cycles() const {
  std::uint64_t busiest = 0;
  for (std::size_t channel = 0; channel < sources_.size(); ++channel) {
    if (!sources_[channel].is_router || !destinations_[channel].is_router) continue;
    busiest = std::max(busiest, routers_[sources_[channel].unit].busy_cycles(sources_[channel].port));
  }
  return busiest;
}

void FlitNetwork::trace_flits() {
  flit_trace_.emplace();
  wires_.trace(&*flit_trace_);
}

void FlitNetwork::watch(std::uint64_t bound) {
  std::size_t waiters = injectors_.size() * layout_.unit_flits.size();
  for (const Router& router : routers_) waiters += router.inputs().size() * layout_.vcs;
  watchdog_.emplace(bound, waiters, now_);
}

void FlitNetwork::look_for_starvation() {
  watchdog_->begin_look(now_);
  std::uint32_t waiter = 0;
  for (std::uint32_t id = 0; id < routers_.size(); ++id) {
    const Router& router = routers_[id];
    for (std::uint32_t port = 0; port < router.inputs().size(); ++port) {
      for (std::uint32_t vc = 0; vc < layout_.vcs; ++vc) {
        const InputVc& input = router.input_vc(port, vc);
        const bool has_vc = input.state == VcState::kActive;
        const bool waits = input.flits > 0 &&
                           (has_vc ? router.output(input.output).has_credit(input.output_vc) : input.state == VcState::kWaiting);
        if (!watchdog_->look_at(waiter++, {waits, input.sent, waits ? router.carried(input.output) : 0})) continue;
        note_starved({input.front, id, router.inputs()[port], vc, router.outputs()[input.output],
                      has_vc ? input.output_vc : BlockedPacket::kAnyVc});
      }
    }
  }
  for (std::uint32_t index = 0; index < injectors_.size(); ++index) {
    const Injector& injector = injectors_[index];
    for (std::uint32_t traffic_class = 0; traffic_class < layout_.unit_flits.size(); ++traffic_class) {
      const PacketId front = injector.front(traffic_class);
      const std::uint32_t channel = injector_channel_[index], vc = injector.vc(traffic_class);
      const bool has_vc = vc != BlockedPacket::kAnyVc;
      const bool waits = front != kNoPacket && (!has_vc || injector.vcs().has_credit(vc));
      if (!watchdog_->look_at(waiter++, {waits, injector.sent(traffic_class), injector.flits_sent()})) continue;
      note_starved({front, kInterface, channel, BlockedPacket::kAnyVc, channel, vc});
    }
  }
}

void FlitNetwork::note_starved(const BlockedPacket& place) {
  const Packet& packet = packets_[place.packet.value];
  starved_.push_back({place, packet.traffic_class, packet.number, packet.destination});
}

std::vector<BlockedPacket> FlitNetwork::blocked() const {
  std::vector<BlockedPacket> found;
  for (std::uint32_t id = 0; id < routers_.size(); ++id) {
    const Router& router = routers_[id];
    for (std::uint32_t port = 0; port < router.inputs().size(); ++port) {
      for (std::uint32_t vc = 0; vc < layout_.vcs; ++vc) {
        const InputVc& input = router.input_vc(port, vc);
        if (input.flits == 0 || (input.state != VcState::kWaiting && input.state != VcState::kActive)) continue;
        const std::uint32_t holds = input.state == VcState::kActive ? input.output_vc : BlockedPacket::kAnyVc;
        found.push_back({input.front, id, router.inputs()[port], vc, router.outputs()[input.output], holds});
      }
    }
  }
  for (std::uint32_t index = 0; index < injectors_.size(); ++index) {
    for (std::uint32_t traffic_class = 0; traffic_class < layout_.unit_flits.size(); ++traffic_class) {
      const PacketId front = injectors_[index].front(traffic_class);
      if (front == kNoPacket) continue;
      const std::uint32_t channel = injector_channel_[index];
      const std::uint32_t vc = injectors_[index].vc(traffic_class);
      found.push_back({front, kInterface, channel, BlockedPacket::kAnyVc, channel, vc});
    }
  }
  return found;
}

void FlitNetwork::check_conservation() const {
  const std::uint32_t vcs = layout_.vcs;
  std::vector<std::uint64_t> places(sources_.size() * vcs);  // buffer places that are taken or whose credits are coming back
  std::uint64_t flits = 0;
  wires_.wheel().visit([&](const NetworkEvent& event) {
    if (event.kind == EventKind::kWake || event.kind == EventKind::kRested) return;
    ++places[std::size_t{event.target} * vcs + event.vc];
    if (event.kind == EventKind::kFlit) ++flits;
  });
  for (std::size_t channel = 0; channel < sources_.size(); ++channel) {
    const End& source = sources_[channel];
    const End& destination = destinations_[channel];
    const OutputVcs& sender = source.is_router ? routers_[source.unit].output(source.port) : injectors_[source.unit].vcs();
    for (std::uint32_t vc = 0; vc < vcs; ++vc) {
      const std::uint64_t buffered = destination.is_router ? routers_[destination.unit].input_vc(destination.port, vc).flits : 0;
      flits += buffered;
      if (sender.credits(vc) + places[channel * vcs + vc] + buffered != layout_.buffer_flits) {
        throw std::logic_error("credits of channel " + std::to_string(channel) + ", VC " + std::to_string(vc) +
                               " are not conserved");
      }
    }
  }
  if (flits != flits_in_flight()) throw std::logic_error("flits are not conserved");
}

}  // namespace certree
