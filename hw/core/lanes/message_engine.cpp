#include "lanes/message_engine.hpp"

namespace certree {
namespace {

Program validated(Program program) {
  program.validate_rows();
  program.validate_lanes();
  return program;
}

}  // namespace

MessageEngine::MessageEngine(Program program, RunMode mode, std::span<std::uint64_t> cells, bool traced, Endpoints* endpoints)
    : program_(validated(std::move(program))), ledger_(program_, cells, traced), mode_(mode), ports_(program_.nodes) {
  for (std::uint32_t bundle = 0; bundle < program_.bundle_source.size(); ++bundle) {
    for (std::uint32_t lane = program_.bundle_begin[bundle]; lane < program_.bundle_begin[bundle + 1]; ++lane) {
      ports_[program_.bundle_source[bundle]].push_back({lane});
      bundle_of_lane_.push_back(bundle);
    }
  }
  interfaces_ = make_interfaces(program_, ledger_, *this, mode, endpoints);
}

LaneOrder MessageEngine::order_of_lanes() const {
  LaneOrder order;
  order.begin.push_back(0);
  for (const std::vector<std::uint64_t>& uses : recorded_.value()) {
    order.uses.insert(order.uses.end(), uses.begin(), uses.end());
    order.begin.push_back(order.uses.size());
  }
  return order;
}

void MessageEngine::send(MessageId id, std::uint32_t index) {
  Message& message = ledger_.messages[id];
  message.hop = program_.message_hops.begin[index];
  message.hops_end = program_.message_hops.begin[index + 1];
  request_lane(id);
}

void MessageEngine::request_next_lane(MessageId id) {
  ++ledger_.messages[id].hop;
  request_lane(id);
}

void MessageEngine::request_lane(MessageId id) {
  Message& message = ledger_.messages[id];
  message.requested = now_;
  enqueue(shortest_queue(program_.message_hops.values[message.hop]), id);
}

void MessageEngine::begin_hop(MessageId id, LaneId lane, Cycle start) {
  Message& message = ledger_.messages[id];
  if (message.first == kNever) message.first = start;
  ledger_.statistics.contention_cycles += start - message.requested;
  if (recorded_) (*recorded_)[lane.value].push_back(use_of(message));
  if (ledger_.is_traced) hops_.push_back({message.number, lane, start, message.flits});
}

bool MessageEngine::is_on_last_hop(MessageId id) {
  const Message& message = ledger_.messages[id];
  return message.hop + 1 == message.hops_end;
}

LaneId MessageEngine::shortest_queue(std::uint32_t bundle) const {
  LaneId best{program_.bundle_begin[bundle]};
  const std::uint32_t end = program_.bundle_begin[bundle + 1];
  if (best.value + 1 == end) return best;
  std::uint64_t least = backlog(best);
  for (LaneId lane{best.value + 1}; lane.value < end; ++lane.value) {
    const std::uint64_t flits = backlog(lane);
    if (flits >= least) continue;
    least = flits;
    best = lane;
  }
  return best;
}

bool MessageEngine::is_settled(NodeId node) const {
  for (LaneId port : ports_[node.value]) {
    if (backlog(port) > program_.ni_buffer_flits) return false;
  }
  return true;
}

std::vector<Waiting> MessageEngine::waiting() const {
  std::vector<Waiting> nodes;
  for (const NetworkInterface& interface : interfaces_) {
    if (const auto waiting = interface.waiting()) nodes.push_back(*waiting);
  }
  return nodes;
}

}  // namespace certree
