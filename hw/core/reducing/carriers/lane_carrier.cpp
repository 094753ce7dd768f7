#include "reducing/carriers/lane_carrier.hpp"

#include <algorithm>
#include <stdexcept>

namespace certree {

void LaneCarrier::enqueue(std::uint32_t id, std::uint32_t hop, std::uint32_t end) {
  if (hop == layout_.route_lanes.begin.back() || hop >= end) throw std::logic_error("a route without lanes");
  const std::uint32_t lane = layout_.route_lanes.values[hop];
  LaneState& state = lanes_[lane];
  const Cycle start = std::max(state.free_at, now_);
  state.free_at = start + layout_.packet_cycles;
  ++state.packets;
  ++sent_;
  const Cycle next = start + (std::uint64_t{layout_.lane_latency[lane]} + layout_.router_cycles);
  const bool goes_on = hop + 1 < end;
  const std::uint64_t rest = layout_.interface_cycles + layout_.router_cycles + layout_.packet_cycles;
  events_.push({goes_on ? next : next + rest, std::uint64_t{goes_on} << 32U | lane, id, hop + 1, end});
}

void LaneCarrier::begin_cycle(Cycle now, std::vector<std::uint32_t>& arrived) {
  now_ = now;
  while (!events_.empty() && events_.top().when == now) {
    const Event event = events_.top();
    events_.pop();
    ++arrived_;
    if (event.hop == event.end) {
      arrived.push_back(event.id);
    } else {
      enqueue(event.id, event.hop, event.end);
    }
  }
}

std::uint64_t LaneCarrier::flit_hops() const {
  std::uint64_t packets = 0;
  for (const LaneState& lane : lanes_) packets += lane.packets;
  return packets * layout_.packet_flits;
}

std::uint64_t LaneCarrier::busiest_lane_cycles() const {
  std::uint64_t most = 0;
  for (const LaneState& lane : lanes_) most = std::max(most, lane.packets);
  return most * layout_.packet_cycles;
}

void LaneCarrier::check_conservation() const {
  if (sent_ != arrived_ + events_.size()) throw std::logic_error("packets on lanes are not conserved");
}

}  // namespace certree
