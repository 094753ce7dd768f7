// The fast carrier: a packet is one event for each lane that it takes.
#pragma once

#include <queue>

#include "reducing/aggregation_layout.hpp"
#include "reducing/carriers/packet_carrier.hpp"

namespace certree {

// A packet takes the lanes of its route one after the other, each for as many cycles as its flits need; a lane serves packets in
// the order in which they came to stand before it, those that came in one cycle in the order of the lanes that they came by, new
// ones last. Virtual cut-through with room for whatever waits. Time O(hops · log(packets in flight)), memory O(lanes + packets in
// flight).
class LaneCarrier final : public PacketCarrier {
 public:
  explicit LaneCarrier(const AggregationLayout& layout) : layout_(layout), lanes_(layout.lane_latency.size()) {}

  void send(std::uint32_t id, std::uint32_t route) override {
    enqueue(id, layout_.route_lanes.begin[route], layout_.route_lanes.begin[route + 1]);
  }
  Cycle next_activity() const override { return events_.empty() ? kNever : events_.top().when; }
  void begin_cycle(Cycle now, std::vector<std::uint32_t>& arrived) override;
  void finish_cycle() override {}
  std::uint64_t flit_hops() const override;
  std::uint64_t busiest_lane_cycles() const override;
  void check_conservation() const override;

 private:
  // Arrivals before packets that go on to another lane.
  struct Event {
    Cycle when;
    std::uint64_t order;  // goes on, then the lane
    std::uint32_t id;
    std::uint32_t hop;  // that it takes next
    std::uint32_t end;  // of its route
    bool operator>(const Event& other) const { return when != other.when ? when > other.when : order > other.order; }
  };
  struct LaneState {
    Cycle free_at;
    std::uint64_t packets = 0;
  };

  void enqueue(std::uint32_t id, std::uint32_t hop, std::uint32_t end);

  const AggregationLayout& layout_;
  std::vector<LaneState> lanes_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  Cycle now_;
  std::uint64_t sent_ = 0;
  std::uint64_t arrived_ = 0;
};

}  // namespace certree
