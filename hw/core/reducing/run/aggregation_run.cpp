#include "reducing/run/aggregation_run.hpp"

#include <algorithm>
#include <stdexcept>
#include <tuple>

#include "common/splitmix.hpp"
#include "reducing/carriers/router_carrier.hpp"

namespace certree {
namespace {

AggregationLayout validated(AggregationLayout layout) {
  layout.validate();
  return layout;
}

constexpr std::uint32_t kNone = UINT32_MAX;
// No pause or delay is longer than 2^56 cycles, so times before this one can be added to.
constexpr Cycle kLastCycle{std::uint64_t{1} << 62U};

}  // namespace

AggregationRun::AggregationRun(AggregationLayout layout, std::optional<NetworkLayout> network, std::span<std::uint64_t> cells,
                               bool traced)
    : layout_(validated(std::move(layout))),
      faults_(layout_.seed, layout_.loss, layout_.copies, layout_.latest),
      switch_of_node_(layout_.nodes, kNone),
      host_of_edge_(layout_.edge_flow.size(), kNone),
      sent_up_(layout_.edge_flow.size()),
      sent_down_(layout_.edge_flow.size()),
      is_traced_(traced) {
  if (network) {
    carrier_ = std::make_unique<RouterCarrier>(layout_, std::move(*network));
  } else {
    carrier_ = std::make_unique<LaneCarrier>(layout_);
  }
  build(cells);
}

void AggregationRun::build(std::span<std::uint64_t> cells) {
  const std::size_t edges = layout_.edge_flow.size(), flows = layout_.flow_packets.size();
  for (std::size_t edge = 0; edge < edges; ++edge) {
    const std::uint32_t parent = layout_.edge_parent[edge];
    if (switch_of_node_[parent] != kNone) continue;
    switch_of_node_[parent] = static_cast<std::uint32_t>(switches_.size());
    switches_.emplace_back(NodeId{parent}, layout_.buffer_packets, layout_.adders, layout_.reduce_start_cycles,
                           layout_.reduce_packet_cycles);
  }
  std::vector<std::size_t> first_packet(flows);
  std::size_t packets = 0;
  for (std::size_t flow = 0; flow < flows; ++flow) {
    first_packet[flow] = packets;
    packets += layout_.flow_packets[flow];
  }
  for (std::size_t begin = 0, end = 0; begin < edges; begin = end) {
    const std::uint32_t flow = layout_.edge_flow[begin];
    std::vector<std::vector<EdgeId>> below(switches_.size());
    std::vector<std::optional<EdgeId>> above(switches_.size());
    for (end = begin; end < edges && layout_.edge_flow[end] == flow; ++end) {
      const EdgeId edge{static_cast<std::uint32_t>(end)};
      const std::uint32_t child = layout_.edge_child[end];
      below[switch_of_node_[layout_.edge_parent[end]]].push_back(edge);
      if (layout_.rank[child] == AggregationLayout::kNoRank) {
        if (switch_of_node_[child] == kNone) throw std::invalid_argument("aggregation: a switch without children");
        above[switch_of_node_[child]] = edge;
        continue;
      }
      const std::size_t row = layout_.rank[child] * packets + first_packet[flow];
      if (row + layout_.flow_packets[flow] > cells.size()) throw std::invalid_argument("aggregation: too few cells");
      host_of_edge_[end] = static_cast<std::uint32_t>(hosts_.size());
      hosts_.push_back({NodeId{child}, flow, edge,
                        WindowSender({layout_.window, layout_.timeout, splitmix64(layout_.seed) + end},
                                     cells.subspan(row, layout_.flow_packets[flow]))});
    }
    for (std::uint32_t i = 0; i < switches_.size(); ++i) {
      if (!below[i].empty()) switches_[i].add_flow(flow, layout_.places, std::move(below[i]), above[i]);
    }
  }
  unfinished_ = hosts_.size();
}

bool AggregationRun::run(std::uint64_t budget) {
  if (counters_.sent == 0) {
    carrier_->begin_cycle(now_, arrived_);
    for (Host& host : hosts_) send_from(host);
    carrier_->finish_cycle();
  }
  for (std::uint64_t spent = 0; unfinished_ > 0 && !stall_;) {
    if (spent >= budget) return false;
    const Cycle next = std::min(carrier_->next_activity(), events_.empty() ? kNever : events_.top().when);
    if (next == kNever) throw std::logic_error("aggregation: hosts lack results and nothing is in flight");
    if (next > kLastCycle) throw std::overflow_error("aggregation: too many cycles");
    now_ = next;
    arrived_.clear();
    carrier_->begin_cycle(now_, arrived_);
    std::sort(arrived_.begin(), arrived_.end(), [&](std::uint32_t a, std::uint32_t b) {
      const AggregationPacket &left = packets_[a], &right = packets_[b];
      return std::tuple(source_of(left), left.edge, left.number, a) < std::tuple(source_of(right), right.edge, right.number, b);
    });
    spent += arrived_.size() + 1;
    for (const std::uint32_t id : arrived_) land(id);
    for (; !events_.empty() && events_.top().when == now_ && !stall_; ++spent) {
      const Event event = events_.top();
      events_.pop();
      const auto place = static_cast<std::uint32_t>(event.order);
      switch (static_cast<Kind>(event.order >> 32U)) {
        case Kind::kArrive: {
          const AggregationPacket packet = packets_[event.packet];
          packets_.remove(event.packet);
          receive(packet);
          break;
        }
        case Kind::kAdded: {
          ReducingSwitch& at = switches_[place / layout_.adders];
          const std::uint32_t adder = place % layout_.adders;
          record(TraceEvent::kAdd, at.add(adder, now_, outgoing_), at);
          if (at.next_added(adder) != kNever) schedule(at.next_added(adder), Kind::kAdded, place);
          send_all();
          break;
        }
        case Kind::kRetry:
          retry(hosts_[place]);
      }
    }
    carrier_->finish_cycle();
    if (carrier_->is_blocked()) break;
  }
  check_conservation();
  return true;
}

void AggregationRun::schedule(Cycle when, Kind kind, std::uint32_t place, std::uint32_t packet) {
  events_.push({when, std::uint64_t{static_cast<std::uint8_t>(kind)} << 32U | place, sequence_++, packet});
}

std::uint32_t AggregationRun::source_of(const AggregationPacket& packet) const {
  return (packet.is_up ? layout_.edge_child : layout_.edge_parent)[packet.edge.value];
}

void AggregationRun::send(const AggregationPacket& packet) {
  const std::uint32_t edge = packet.edge.value;
  const Lists& choices = packet.is_up ? layout_.up_routes : layout_.down_routes;
  const std::uint64_t before = (packet.is_up ? sent_up_ : sent_down_)[edge]++;
  const std::uint32_t first = choices.begin[edge], count = choices.begin[edge + 1] - first;
  const std::uint32_t id = packets_.add(packet);
  if (id == flights_.size()) flights_.emplace_back();
  flights_[id] = {faults_.fate(packet.edge, packet.is_up, before)};
  ++counters_.sent;
  carrier_->send(id, choices.values[first + static_cast<std::uint32_t>(before % count)]);
}

void AggregationRun::send_all() {
  for (const AggregationPacket& packet : outgoing_) send(packet);
  outgoing_.clear();
}

void AggregationRun::land(std::uint32_t id) {
  const Fate fate = flights_[id].fate;
  const AggregationPacket packet = packets_[id];
  if (fate.is_copied) {
    const std::uint32_t copy = packets_.add(packet);
    if (copy == flights_.size()) flights_.emplace_back();
    flights_[copy] = {};
    ++counters_.copied;
    record(TraceEvent::kCopy, packet);
    schedule(now_ + fate.copy_late, Kind::kArrive, source_of(packet), copy);
  }
  if (fate.is_lost) {
    ++counters_.lost;
    record(TraceEvent::kLose, packet);
    packets_.remove(id);
  } else if (fate.late > 0) {
    schedule(now_ + fate.late, Kind::kArrive, source_of(packet), id);
  } else {
    packets_.remove(id);
    receive(packet);
  }
}

void AggregationRun::receive(const AggregationPacket& packet) {
  const std::uint32_t edge = packet.edge.value;
  if (packet.is_up) {
    const std::uint32_t index = switch_of_node_[layout_.edge_parent[edge]];
    ReducingSwitch& at = switches_[index];
    const std::uint32_t adder = at.adder_of(packet.edge);
    const bool was_idle = at.next_added(adder) == kNever;
    if (!at.receive(packet, now_)) {
      ++counters_.dropped;
      record(TraceEvent::kLose, packet);
      return;
    }
    ++counters_.received;
    if (was_idle) schedule(at.next_added(adder), Kind::kAdded, index * layout_.adders + adder);
    return;
  }
  ++counters_.received;
  if (host_of_edge_[edge] == kNone) {
    ReducingSwitch& at = switches_[switch_of_node_[layout_.edge_child[edge]]];
    record(TraceEvent::kPass, at.pass(packet, layout_.edge_flow[edge], now_, outgoing_), at);
    send_all();
    return;
  }
  Host& host = hosts_[host_of_edge_[edge]];
  record(TraceEvent::kTake, packet);
  if (!host.sender.take(packet.number, packet.value)) {
    ++counters_.results_again;
    return;
  }
  counters_.end = now_;
  if (host.sender.is_done()) --unfinished_;
  send_from(host);
}

void AggregationRun::send_from(Host& host) {
  numbers_.clear();
  host.sender.fill(now_, numbers_);
  for (const std::uint32_t number : numbers_) {
    const AggregationPacket packet{host.edge, true, number, host.sender.value(number)};
    record(TraceEvent::kSend, packet);
    send(packet);
  }
  wake(host);
}

void AggregationRun::wake(Host& host) {
  const Cycle when = host.sender.next_retry();
  if (when >= host.wakes) return;
  host.wakes = when;
  schedule(when, Kind::kRetry, static_cast<std::uint32_t>(&host - hosts_.data()));
}

void AggregationRun::retry(Host& host) {
  if (host.wakes == now_) host.wakes = kNever;
  numbers_.clear();
  if (host.sender.next_retry() <= now_ && is_hopeless(host)) return;
  host.sender.retry(now_, numbers_);
  for (const std::uint32_t number : numbers_) {
    const std::uint32_t times = host.sender.times_sent(number);
    if (times > layout_.give_up) {
      stall_ = Stall{host.flow, host.node, number, times - 1, std::nullopt};
      return;
    }
    const AggregationPacket packet{host.edge, true, number, host.sender.value(number)};
    record(TraceEvent::kSend, packet);
    ++counters_.resent;
    send(packet);
  }
  wake(host);
}

bool AggregationRun::is_hopeless(const Host& host) {
  const std::uint32_t number = host.sender.oldest();
  std::optional<EdgeId> edge = host.edge;
  while (edge) {
    const ReducingSwitch& at = switches_[switch_of_node_[layout_.edge_parent[edge->value]]];
    const Aggregator& aggregator = at.aggregator(host.flow);
    const std::uint32_t place = aggregator.state().place_of(number), works_on = aggregator.state().number(place);
    if (works_on == number && aggregator.state().has_result(place)) return false;
    if (works_on > number) {
      if (has_result_in_flight(host.flow, number)) return false;
      stall_ = Stall{host.flow, host.node, number, host.sender.times_sent(number), at.node(), works_on};
      return true;
    }
    edge = aggregator.above();
  }
  return false;
}

bool AggregationRun::has_result_in_flight(std::uint32_t flow, std::uint32_t number) const {
  return packets_.any([&](std::uint32_t, const AggregationPacket& packet) {
    return !packet.is_up && packet.number == number && layout_.edge_flow[packet.edge.value] == flow;
  });
}

void AggregationRun::record(TraceEvent event, const AggregationPacket& packet) {
  if (is_traced_) trace_.push_back({now_, event, packet.is_up, packet.edge, packet.number});
}

void AggregationRun::record(TraceEvent event, const ReducingSwitch::Outcome& outcome, const ReducingSwitch& at) {
  const Ruling& ruling = outcome.ruling;
  const StateManager& state = at.aggregator(outcome.flow).state();
  if (event == TraceEvent::kAdd && !ruling.is_added) {
    ++(state.number(ruling.place) > outcome.packet.number ? counters_.ignored : counters_.repeated);
  }
  if (!is_traced_) return;
  trace_.push_back({now_, event, outcome.packet.is_up, outcome.packet.edge, outcome.packet.number, state.number(ruling.place),
                    state.record().first_word(ruling.place), state.has_result(ruling.place), ruling.answer});
}

void AggregationRun::check_conservation() const {
  carrier_->check_conservation();
  if (counters_.sent + counters_.copied != counters_.received + counters_.dropped + counters_.lost + packets_.size()) {
    throw std::logic_error("aggregation: packets are not conserved");
  }
}

std::vector<AggregationPacket> AggregationRun::left() const {
  std::vector<AggregationPacket> found;
  const auto note = [&](std::uint32_t, const AggregationPacket& packet) {
    found.push_back(packet);
    return false;
  };
  packets_.any(note);
  for (const ReducingSwitch& at : switches_) at.buffer().waiting().any(note);
  return found;
}

std::vector<std::array<std::uint32_t, 3>> AggregationRun::waiting() const {
  std::vector<std::array<std::uint32_t, 3>> found;
  for (const Host& host : hosts_) {
    if (!host.sender.is_done()) found.push_back({host.flow, host.node.value, host.sender.oldest()});
  }
  return found;
}

}  // namespace certree
