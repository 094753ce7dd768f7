// The carrier that is a network of routers: packets move flit by flit, with virtual channels and credits.
#pragma once

#include "reducing/aggregation_layout.hpp"
#include "reducing/carriers/packet_carrier.hpp"
#include "routers/network/flit_network.hpp"

namespace certree {

// Source route i of the network is route i of the trees. Time and memory as FlitNetwork.
class RouterCarrier final : public PacketCarrier {
 public:
  RouterCarrier(const AggregationLayout& layout, NetworkLayout network) : layout_(layout), network_(std::move(network)) {}

  void send(std::uint32_t id, std::uint32_t route) override;
  Cycle next_activity() const override { return network_.next_activity(); }
  void begin_cycle(Cycle now, std::vector<std::uint32_t>& arrived) override;
  void finish_cycle() override { network_.finish_cycle(); }
  bool is_blocked() const override { return network_.flits_in_flight() > 0 && network_.next_activity() == kNever; }
  std::uint64_t flit_hops() const override { return network_.counters().flit_hops; }
  std::uint64_t busiest_lane_cycles() const override { return network_.busiest_channel_cycles(); }
  void check_conservation() const override { network_.check_conservation(); }
  const FlitNetwork& network() const { return network_; }

 private:
  const AggregationLayout& layout_;
  FlitNetwork network_;
};

}  // namespace certree
