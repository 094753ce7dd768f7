#include "simulator.hpp"

#include <algorithm>
#include <stdexcept>

namespace certree {
namespace {

constexpr std::size_t kBlockFlits = 2048;  // a block and the stages of a lane fit the first-level cache together

Program validated(Program program) {
  program.validate_rows();
  program.validate_lanes();
  return program;
}

}  // namespace

Simulator::Simulator(Program program, RunMode mode, std::span<std::uint64_t> cells, bool traced)
    : program_(validated(std::move(program))),
      ledger_(program_, cells, traced),
      fabric_(program_),
      block_(kBlockFlits),
      settling_backlog_(mode == RunMode::kPaced ? program_.ni_buffer_flits : UINT64_MAX) {
  interfaces_.reserve(program_.nodes);
  for (std::uint32_t node = 0; node < program_.nodes; ++node) {
    interfaces_.emplace_back(program_, ledger_, fabric_, NodeId{node}, make_sequencer(program_, mode, {node}));
  }
}

bool Simulator::run(std::uint64_t budget) {
  for (std::uint64_t spent = 0; spent < budget && !ledger_.is_done();) {
    if (fabric_.busy_lanes.empty()) {
      if (earliest_wake_ == kNever) {
        is_deadlocked_ = true;
        return true;
      }
      now_ = std::max(now_, earliest_wake_);
    }
    if (earliest_wake_ <= now_) evaluate_interfaces();
    const std::uint64_t cycles = quiet_cycles();
    spent += (fabric_.busy_lanes.size() + 1) * cycles;
    move_flits(cycles);
    now_ = now_ + cycles;
    commit();
  }
  return ledger_.is_done();
}

void Simulator::evaluate_interfaces() {
  earliest_wake_ = kNever;
  for (NetworkInterface& interface : interfaces_) {
    if (interface.next_wake() <= now_) interface.evaluate(now_);
    earliest_wake_ = std::min(earliest_wake_, interface.next_wake());
  }
}

std::uint64_t Simulator::quiet_cycles() const {
  if (fabric_.busy_lanes.empty()) return 1;
  std::uint64_t cycles = std::min<std::uint64_t>(block_.size(), earliest_wake_ - now_);
  for (const LaneId id : fabric_.busy_lanes) {
    const Lane& lane = fabric_.lanes[id.value];
    cycles = std::min(cycles, lane.quiet_cycles());
    if (lane.port.backlog() > settling_backlog_) cycles = std::min(cycles, lane.port.backlog() - settling_backlog_);
  }
  return cycles;
}

void Simulator::move_flits(std::uint64_t cycles) {
  auto& busy = fabric_.busy_lanes;
  const std::span<Flit> block(block_.data(), cycles);
  for (std::size_t i = 0; i < busy.size();) {
    Lane& lane = fabric_.lanes[busy[i].value];
    start_message(lane);
    lane.advance(block);
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

void Simulator::start_message(const Lane& lane) {
  if (lane.port.backlog() == 0 || !lane.port.is_at_message_start()) return;
  Message& message = ledger_.messages[lane.port.head()];
  message.first = now_;
  ledger_.statistics.contention_cycles += now_ - message.fired;
}

// Counts the flits that came out for the messages they belong to.
void Simulator::receive_flits(LaneId id, std::span<const Flit> block) {
  for (auto flit = block.begin(); flit != block.end();) {
    const auto next = std::find_if(flit, block.end(), [&](const Flit& other) { return other != *flit; });
    if (!flit->is_bubble()) {
      const auto flits = static_cast<std::uint64_t>(next - flit);
      ledger_.statistics.flit_hops += flits;
      Message& message = ledger_.messages[flit->message()];
      message.flits_received += flits;
      const bool is_complete = message.flits_received == program_.message_flits;
      if (fabric_.lanes[id.value].eject(flits) != is_complete || (is_complete && next != block.end())) {
        throw std::logic_error("flits of a message came out of order");
      }
      if (is_complete) completions_.push_back({id, flit->message()});
    }
    flit = next;
  }
}

// Messages completed in one cycle are taken in lane order: at one destination that is by source, then by lane.
void Simulator::commit() {
  if (completions_.empty()) return;
  std::sort(completions_.begin(), completions_.end(), [](const Completion& a, const Completion& b) { return a.lane < b.lane; });
  for (const Completion& completion : completions_) {
    NetworkInterface& interface = interfaces_[ledger_.messages[completion.message].destination.value];
    interface.receive(completion.message, now_);
    earliest_wake_ = std::min(earliest_wake_, interface.next_wake());
  }
  completions_.clear();
}

void Simulator::wake(NodeId node, Cycle when) {
  interfaces_[node.value].wake(when);
  earliest_wake_ = std::min(earliest_wake_, when);
}

std::uint64_t Simulator::busiest_lane_cycles() const {
  std::uint64_t busiest = 0;
  for (const Lane& lane : fabric_.lanes) busiest = std::max(busiest, lane.flits_sent());
  return busiest;
}

std::vector<Waiting> Simulator::waiting() const {
  std::vector<Waiting> nodes;
  for (const NetworkInterface& interface : interfaces_) {
    if (const auto waiting = interface.waiting()) nodes.push_back(*waiting);
  }
  return nodes;
}

}  // namespace certree
