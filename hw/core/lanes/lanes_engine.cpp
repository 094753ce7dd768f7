#include "lanes/lanes_engine.hpp"

#include <algorithm>
#include <stdexcept>

namespace certree {
namespace {

constexpr std::size_t kBlockFlits = 2048;  // a block and the stages of a lane fit the first-level cache together

// Whether some message passes more than one lane; those inside a node pass none.
bool has_several_hops(const Lists& hops) {
  const auto is_long = [](std::uint32_t begin, std::uint32_t end) { return end > begin + 1; };
  return std::ranges::adjacent_find(hops.begin, is_long) != hops.begin.end();
}

}  // namespace

LanesEngine::LanesEngine(Program program, RunMode mode, std::span<std::uint64_t> cells, bool traced, Endpoints* endpoints)
    : MessageEngine(std::move(program), mode, cells, traced, endpoints),
      some_go_on_(has_several_hops(program_.message_hops)),
      block_(kBlockFlits),
      settling_backlog_(mode == RunMode::kPaced ? program_.ni_buffer_flits : UINT64_MAX) {
  lanes_.reserve(lane_count());
  for (LaneId lane{0}; lane.value < lane_count(); ++lane.value) {
    lanes_.emplace_back(source_of(lane), crossing_cycles(lane), end_cycles());
  }
}

bool LanesEngine::run(std::uint64_t budget) {
  for (std::uint64_t spent = 0; spent < budget && !ledger_.is_done();) {
    if (busy_lanes_.empty()) {
      if (earliest_wake_ == kNever) {
        is_deadlocked_ = true;
        return true;
      }
      now_ = std::max(now_, earliest_wake_);
    }
    if (earliest_wake_ <= now_) evaluate_interfaces();
    for (const LaneId lane : busy_lanes_) start_message(lane);
    const std::uint64_t cycles = quiet_cycles();
    spent += (busy_lanes_.size() + 1) * cycles;
    move_flits(cycles);
    now_ = now_ + cycles;
    commit();
    forward_heads();
  }
  return ledger_.is_done();
}

void LanesEngine::enqueue(LaneId id, MessageId message) {
  Lane& lane = lanes_[id.value];
  if (is_on_last_hop(message)) ledger_.messages[message].last_lane = id;
  lane.enqueue(message, ledger_.messages[message].flits, is_on_last_hop(message));
  if (lane.is_listed) return;
  lane.is_listed = true;
  busy_lanes_.push_back(id);
}

void LanesEngine::evaluate_interfaces() {
  earliest_wake_ = kNever;
  for (NetworkInterface& interface : interfaces_) {
    if (interface.next_wake() <= now_) interface.evaluate(now_);
    earliest_wake_ = std::min(earliest_wake_, interface.next_wake());
  }
}

std::uint64_t LanesEngine::quiet_cycles() const {
  if (busy_lanes_.empty()) return 1;
  std::uint64_t cycles = std::min<std::uint64_t>(block_.size(), earliest_wake_ - now_);
  if (!heads_.empty()) cycles = std::min(cycles, heads_.top().when - now_);
  for (const LaneId id : busy_lanes_) {
    const Lane& lane = lanes_[id.value];
    cycles = std::min(cycles, lane.quiet_cycles());
    if (lane.port.backlog() > settling_backlog_) cycles = std::min(cycles, lane.port.backlog() - settling_backlog_);
  }
  return cycles;
}

void LanesEngine::move_flits(std::uint64_t cycles) {
  auto& busy = busy_lanes_;
  const std::span<Flit> block(block_.data(), cycles);
  for (std::size_t i = 0; i < busy.size();) {
    Lane& lane = lanes_[busy[i].value];
    lane.advance(block, some_go_on_, [&](MessageId id, std::uint64_t flits) { return pass_on(busy[i], id, flits); });
    if (lane.port.backlog() == settling_backlog_) wake(lane.source, now_ + cycles);
    receive_flits(busy[i], block);
    if (lane.is_empty()) {
      lane.is_listed = false;
      busy[i] = busy.back();
      busy.pop_back();
    } else {
      ++i;
    }
  }
}

void LanesEngine::start_message(LaneId id) {
  const Lane& lane = lanes_[id.value];
  if (lane.port.backlog() == 0 || !lane.port.is_at_message_start()) return;
  const MessageId message = lane.port.head();
  begin_hop(message, id, now_);
  if (!is_on_last_hop(message)) heads_.push({now_ + crossing_cycles(id), id, message});
}

// Whether flits that crossed the lane go on by another one.
bool LanesEngine::pass_on(LaneId lane, MessageId id, std::uint64_t flits) {
  if (ledger_.messages[id].last_lane == lane) return false;
  ledger_.statistics.flit_hops += flits;
  return true;
}

// Messages that came to a router in one cycle queue for their next lanes in the order of the lanes that they came by.
void LanesEngine::forward_heads() {
  for (; !heads_.empty() && heads_.top().when == now_; heads_.pop()) request_next_lane(heads_.top().message);
}

// Counts the flits that came out for the messages they belong to.
void LanesEngine::receive_flits(LaneId id, std::span<const Flit> block) {
  for (auto flit = block.begin(); flit != block.end();) {
    const auto next = std::find_if(flit, block.end(), [&](const Flit& other) { return other != *flit; });
    if (!flit->is_bubble()) {
      const auto flits = static_cast<std::uint64_t>(next - flit);
      ledger_.statistics.flit_hops += flits;
      Message& message = ledger_.messages[flit->message()];
      message.flits_received += flits;
      const bool is_complete = message.flits_received == message.flits;
      if (lanes_[id.value].eject(flits) != is_complete || (is_complete && next != block.end())) {
        throw std::logic_error("flits of a message came out of order");
      }
      if (is_complete) completions_.push_back({id, flit->message()});
    }
    flit = next;
  }
}

// Messages completed in one cycle are taken in lane order: at one destination that is by source, then by lane.
void LanesEngine::commit() {
  if (completions_.empty()) return;
  std::sort(completions_.begin(), completions_.end(), [](const Completion& a, const Completion& b) { return a.lane < b.lane; });
  for (const Completion& completion : completions_) {
    NetworkInterface& interface = interfaces_[ledger_.messages[completion.message].destination.value];
    interface.receive(completion.message, now_);
    earliest_wake_ = std::min(earliest_wake_, interface.next_wake());
  }
  completions_.clear();
}

void LanesEngine::wake(NodeId node, Cycle when) {
  interfaces_[node.value].wake(when);
  earliest_wake_ = std::min(earliest_wake_, when);
}

std::uint64_t LanesEngine::busiest_lane_cycles() const {
  std::uint64_t busiest = 0;
  for (const Lane& lane : lanes_) busiest = std::max(busiest, lane.flits_sent());
  return busiest;
}

}  // namespace certree
