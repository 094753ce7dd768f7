#include "routers/run/flit_engine.hpp"

#include <algorithm>
#include <stdexcept>

namespace certree {
namespace {

Program validated(Program program) {
  program.validate_rows();
  return program;
}

MessagePlan validated(MessagePlan plan, const Program& program, const NetworkLayout& layout) {
  const auto require = [](bool holds, const char* what) {
    if (!holds) throw std::invalid_argument(std::string("message plan: ") + what);
  };
  const std::size_t messages = program.message_arrival.size(), routes = plan.route_injector.size();
  require(plan.routes.begin.size() == messages + 1 && plan.routes.begin.front() == 0 &&
              plan.routes.begin.back() == plan.routes.values.size() && routes < layout.routes.begin.size(),
          "routes");
  for (std::uint32_t node = 0; node < program.nodes; ++node) {
    for (std::uint32_t i = program.row_messages.begin[program.row_begin[node]];
         i < program.row_messages.begin[program.row_begin[node + 1]]; ++i) {
      const std::uint32_t message = program.row_messages.values[i];
      require(program.is_local(node, message) || plan.routes.begin[message] < plan.routes.begin[message + 1], "routes");
    }
  }
  for (const std::uint32_t route : plan.routes.values) require(route < routes, "routes");
  require(plan.message_flits.size() == messages && std::ranges::find(plan.message_flits, 0U) == plan.message_flits.end(),
          "message_flits");
  require(program.nodes % layout.routers == 0 && layout.unit_flits.size() == 2, "layout");
  return plan;
}

}  // namespace

RouterTransport::RouterTransport(const Program& program, const MessagePlan& plan, Ledger& ledger, FlitNetwork& network,
                                 RunMode mode)
    : program_(program),
      plan_(plan),
      ledger_(ledger),
      network_(network),
      injectors_(network.layout().routers),
      is_paced_(mode == RunMode::kPaced) {
  const NetworkLayout& layout = network.layout();
  for (std::size_t channel = 0; channel < layout.channel_source.size(); ++channel) {
    if (layout.channel_source[channel] != kInterface) continue;
    injectors_[layout.channel_destination[channel]].push_back(static_cast<std::uint32_t>(nodes_.size()));
    nodes_.push_back({layout.channel_destination[channel]});
  }
}

void RouterTransport::send(MessageId id, std::uint32_t index) {
  ledger_.messages[id].requested = network_.now();
  const auto backlog = [&](std::uint32_t route) {
    return network_.injector(plan_.route_injector[route]).cycles_left(kCollectiveClass, network_.now());
  };
  std::uint32_t best = plan_.routes.values[plan_.routes.begin[index]];
  for (std::uint32_t i = plan_.routes.begin[index] + 1; i < plan_.routes.begin[index + 1]; ++i) {
    if (backlog(plan_.routes.values[i]) < backlog(best)) best = plan_.routes.values[i];
  }
  Packet packet;
  packet.injector = plan_.route_injector[best];
  packet.destination = ledger_.messages[id].destination.value % network_.layout().routers;
  packet.route = network_.layout().routes.begin[best];
  packet.traffic_class = kCollectiveClass;
  packet.owner = id.value;
  packet.number = ledger_.messages[id].number;
  if (network_.flit_trace()) {
    indices_.resize(std::max<std::size_t>(indices_.size(), packet.number + 1));
    indices_[packet.number] = index;
  }
  packet.release = network_.now();
  const std::uint32_t flits = plan_.message_flits[index], most = plan_.packet_flits == 0 ? flits : plan_.packet_flits;
  for (; packet.before < flits; packet.before += packet.flits) {
    packet.flits = std::min(most, flits - packet.before);
    network_.inject(network_.add(packet));
  }
  note_settling(packet.injector, network_.now());
}

void RouterTransport::note_settling(std::uint32_t index, Cycle now) {
  const Injector& injector = network_.injector(index);
  if (!is_paced_ || injector.free_at() <= now) return;
  const std::uint64_t left = injector.cycles_left(kCollectiveClass, injector.free_at());
  const std::uint64_t more = left + (injector.free_at() - now), room = program_.ni_buffer_flits;
  if (left <= room && room < more) settling_.push({now + (more - room), nodes_[index]});
}

std::optional<NodeId> RouterTransport::take_settled(Cycle now) {
  if (next_settled() > now) return std::nullopt;
  const NodeId node = settling_.top().second;
  settling_.pop();
  return node;
}

bool RouterTransport::is_settled(NodeId node) const {
  for (const std::uint32_t injector : injectors_[node.value % injectors_.size()]) {
    if (network_.injector(injector).cycles_left(kCollectiveClass, network_.now()) > program_.ni_buffer_flits) return false;
  }
  return true;
}

bool RouterTransport::receive(PacketId id) {
  const Packet& packet = network_.packets()[id.value];
  Message& message = ledger_.messages[{packet.owner}];
  const Pace& pace = network_.layout().pace;
  message.flits_received += pace.end(packet.before + packet.flits) - pace.end(packet.before);
  message.head = std::min(message.head, Cycle{packet.head.value - (pace.end(packet.before + 1) - pace.end(packet.before))});
  network_.remove(id);
  return message.flits_received == message.flits;
}

FlitEngine::FlitEngine(Program program, RunMode mode, NetworkLayout layout, MessagePlan plan, const PacketList& others,
                       std::span<std::uint64_t> cells, bool traced, Endpoints* endpoints)
    : program_(validated(std::move(program))),
      plan_(validated(std::move(plan), program_, layout)),
      ledger_(program_, cells, traced),
      network_(std::move(layout)),
      transport_(program_, plan_, ledger_, network_, mode),
      others_(packets_of(others, network_.layout(), kOtherClass)) {
  if (traced) network_.trace_links();
  interfaces_ = make_interfaces(program_, ledger_, transport_, mode, endpoints);
}

bool FlitEngine::run(std::uint64_t budget) {
  for (std::uint64_t spent = 0; !ledger_.is_done(); ++spent) {
    if (spent == budget) return false;
    const Cycle release = released_ < others_.size() ? std::max(others_[released_].release, network_.now()) : kNever;
    const Cycle now =
        std::min({network_.next_activity(), release, transport_.next_settled(), std::max(earliest_wake_, network_.now())});
    if (now == kNever) {
      is_deadlocked_ = true;
      break;
    }
    network_.skip_to(now);
    network_.begin_cycle();
    for (; released_ < others_.size() && others_[released_].release <= now; ++released_) {
      network_.inject(network_.add(others_[released_]));
    }
    receive_packets(now);
    while (const auto router = transport_.take_settled(now)) {
      for (std::uint32_t node = router->value; node < program_.nodes; node += network_.layout().routers) wake({node}, now);
    }
    if (earliest_wake_ <= now) evaluate_interfaces(now);
    network_.finish_cycle();
    note_senders(now);
    if (network_.lost()) break;
  }
  ledger_.statistics.flit_hops = network_.counters().flit_hops;
  network_.check_conservation();
  return true;
}

// Messages completed at one time are taken in the order of their source nodes, then ports.
void FlitEngine::receive_packets(Cycle now) {
  const auto completed = network_.completed();
  arrived_.assign(completed.begin(), completed.end());
  const PacketTable& packets = network_.packets();
  std::sort(arrived_.begin(), arrived_.end(),
            [&](PacketId a, PacketId b) { return packets[a.value].injector < packets[b.value].injector; });
  for (const PacketId id : arrived_) {
    const Packet packet = packets[id.value];
    if (packet.traffic_class == kOtherClass) {
      const std::uint64_t latency = packet.tail - packet.release;
      ++other_packets_;
      other_latency_ += latency;
      longest_other_latency_ = std::max(longest_other_latency_, latency);
      network_.remove(id);
    } else if (transport_.receive(id)) {
      NetworkInterface& interface = interfaces_[ledger_.messages[{packet.owner}].destination.value];
      interface.receive({packet.owner}, now);
      earliest_wake_ = std::min(earliest_wake_, interface.next_wake());
    }
  }
}

void FlitEngine::evaluate_interfaces(Cycle now) {
  earliest_wake_ = kNever;
  for (NetworkInterface& interface : interfaces_) {
    if (interface.next_wake() <= now) interface.evaluate(now);
    earliest_wake_ = std::min(earliest_wake_, interface.next_wake());
  }
}

void FlitEngine::note_senders(Cycle now) {
  for (const std::uint32_t index : network_.senders()) {
    const Injector& injector = network_.injector(index);
    if (const auto started = injector.started()) {
      const Packet& packet = network_.packets()[started->value];
      Message* message = packet.traffic_class == kCollectiveClass ? &ledger_.messages[{packet.owner}] : nullptr;
      if (message != nullptr && message->first == kNever) {
        message->first = now;
        ledger_.statistics.contention_cycles += now - message->requested;
      }
    }
    transport_.note_settling(index, now);
  }
}

void FlitEngine::wake(NodeId node, Cycle when) {
  interfaces_[node.value].wake(when);
  earliest_wake_ = std::min(earliest_wake_, when);
}

std::vector<Waiting> FlitEngine::waiting() const {
  std::vector<Waiting> nodes;
  for (const NetworkInterface& interface : interfaces_) {
    if (const auto waiting = interface.waiting()) nodes.push_back(*waiting);
  }
  return nodes;
}

}  // namespace certree
