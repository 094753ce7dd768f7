// A switch with an accelerator: payloads of all flows wait for adders, each flow has aggregators of its own (NetReduce, Fig. 21).
#pragma once

#include <unordered_map>

#include "interface/queued_unit.hpp"
#include "reducing/switch/aggregator.hpp"
#include "reducing/switch/payload_buffer.hpp"

namespace certree {

// The parser is `receive`: contributions go to the payload buffer and through an adder, those of child k through adder k modulo
// their number, one after the other in the order in which they came, repeated or not, as in a pipeline whose timing does not depend
// on what it carries; results are taken at once. A contribution counts, and is answered, when it has gone through its adder.
class ReducingSwitch {
 public:
  struct Outcome {
    AggregationPacket packet;  // what was taken
    std::uint32_t flow;
    Ruling ruling;
  };

  ReducingSwitch(NodeId node, std::uint64_t buffer_packets, std::uint32_t adders, std::uint64_t start_cycles,
                 std::uint64_t packet_cycles)
      : node_(node), buffer_(buffer_packets), packet_cycles_(packet_cycles), adders_(adders, QueuedUnit(start_cycles)) {}

  // `flow_of` of every edge below is `flow`, children in this order.
  void add_flow(std::uint32_t flow, std::uint32_t places, std::vector<EdgeId> below, std::optional<EdgeId> above);

  // The adder that a contribution goes through.
  std::uint32_t adder_of(EdgeId edge) const { return ports_.at(edge.value).child % static_cast<std::uint32_t>(adders_.size()); }
  // A contribution comes in; false when the payload buffer is full and it is dropped.
  bool receive(const AggregationPacket& packet, Cycle now);
  // When an adder will be through with the payload in front of it.
  Cycle next_added(std::uint32_t adder) const { return adders_[adder].next_finish(); }
  // That payload is added now.
  Outcome add(std::uint32_t adder, Cycle now, std::vector<AggregationPacket>& out);
  // A result comes in.
  Outcome pass(const AggregationPacket& packet, std::uint32_t flow, Cycle now, std::vector<AggregationPacket>& out);

  NodeId node() const { return node_; }
  const Aggregator& aggregator(std::uint32_t flow) const { return flows_.at(flow); }
  const PayloadBuffer& buffer() const { return buffer_; }
  const Occupancy& used() const { return used_; }

 private:
  struct Port {
    std::uint32_t flow;
    std::uint32_t child;  // its place among the children of the flow
  };
  NodeId node_;
  PayloadBuffer buffer_;
  std::uint64_t packet_cycles_;
  std::vector<QueuedUnit> adders_;
  std::unordered_map<std::uint32_t, Aggregator> flows_;
  std::unordered_map<std::uint32_t, Port> ports_;  // by edge
  Occupancy used_;                                 // aggregators of all flows
};

}  // namespace certree
