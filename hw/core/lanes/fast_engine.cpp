#include "lanes/fast_engine.hpp"

#include <algorithm>

namespace certree {

FastEngine::FastEngine(Program program, RunMode mode, std::span<std::uint64_t> cells, bool traced, Endpoints* endpoints)
    : MessageEngine(std::move(program), mode, cells, traced, endpoints),
      lane_states_(lane_count()),
      scheduled_wakes_(program_.nodes, kNever) {
  for (std::uint32_t node = 0; node < program_.nodes; ++node) schedule_wake({node});
}

bool FastEngine::run(std::uint64_t budget) {
  for (std::uint64_t spent = 0; spent < budget && !ledger_.is_done(); ++spent) {
    if (events_.empty()) {
      is_deadlocked_ = true;
      return true;
    }
    const Event event = events_.top();
    events_.pop();
    now_ = event.when;
    handle(event);
  }
  return ledger_.is_done();
}

void FastEngine::handle(const Event& event) {
  const auto place = static_cast<std::uint32_t>(event.order);
  switch (static_cast<Kind>(event.order >> 32)) {
    case Kind::kComplete: {
      const NodeId node = ledger_.messages[event.message].destination;
      interfaces_[node.value].receive(event.message, now_);
      schedule_wake(node);
      break;
    }
    case Kind::kHead:
      request_next_lane(event.message);
      break;
    case Kind::kSettle:
      interfaces_[place].wake(now_);
      schedule_wake({place});
      break;
    case Kind::kWake: {
      NetworkInterface& interface = interfaces_[place];
      if (scheduled_wakes_[place] == now_) scheduled_wakes_[place] = kNever;
      if (interface.next_wake() <= now_) interface.evaluate(now_);
      schedule_wake({place});
      break;
    }
  }
}

std::uint64_t FastEngine::backlog(LaneId lane) const {
  const Cycle free_at = lane_states_[lane.value].free_at;
  return free_at > now_ ? free_at - now_ : 0;
}

void FastEngine::request_lane(MessageId id) {
  if (!ordered_) {
    MessageEngine::request_lane(id);
    return;
  }
  Message& message = ledger_.messages[id];
  message.requested = now_;
  const LaneId lane = ordered_->lane_of(use_of(message));
  ordered_->ask(use_of(message), id);
  while (const auto next = ordered_->take(lane)) enqueue(lane, *next);
}

void FastEngine::enqueue(LaneId lane, MessageId id) {
  LaneState& state = lane_states_[lane.value];
  const std::uint32_t flits = ledger_.messages[id].flits;
  const Cycle start = std::max(state.free_at, now_);
  state.free_at = start + flits;
  state.flits += flits;
  begin_hop(id, lane, start);
  ledger_.statistics.flit_hops += flits;
  const Cycle next = start + crossing_cycles(lane);
  if (is_on_last_hop(id)) {
    schedule(next + (end_cycles() + flits), Kind::kComplete, lane.value, id);
  } else {
    schedule(next, Kind::kHead, lane.value, id);
  }
  // A paced interface looks again when the last flit that waited outside has entered the injection buffer.
  if (mode_ == RunMode::kPaced && state.free_at - now_ > program_.ni_buffer_flits) {
    schedule({state.free_at.value - program_.ni_buffer_flits}, Kind::kSettle, source_of(lane).value);
  }
}

void FastEngine::schedule(Cycle when, Kind kind, std::uint32_t place, MessageId message) {
  events_.push({when, std::uint64_t{static_cast<std::uint8_t>(kind)} << 32 | place, message});
}

void FastEngine::schedule_wake(NodeId node) {
  const Cycle when = interfaces_[node.value].next_wake();
  if (when >= scheduled_wakes_[node.value]) return;
  scheduled_wakes_[node.value] = when;
  schedule(when, Kind::kWake, node.value);
}

std::uint64_t FastEngine::busiest_lane_cycles() const {
  std::uint64_t busiest = 0;
  for (const LaneState& lane : lane_states_) busiest = std::max(busiest, lane.flits);
  return busiest;
}

}  // namespace certree
