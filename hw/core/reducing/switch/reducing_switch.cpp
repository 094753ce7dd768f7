#include "reducing/switch/reducing_switch.hpp"

namespace certree {

void ReducingSwitch::add_flow(std::uint32_t flow, std::uint32_t places, std::vector<EdgeId> below, std::optional<EdgeId> above) {
  for (std::uint32_t child = 0; child < below.size(); ++child) ports_.emplace(below[child].value, Port{flow, child});
  flows_.emplace(flow, Aggregator(places, std::move(below), above));
}

bool ReducingSwitch::receive(const AggregationPacket& packet, Cycle now) {
  std::uint32_t payload = 0;
  if (!buffer_.accept(packet, payload)) return false;
  adders_[adder_of(packet.edge)].accept({payload}, now, packet_cycles_);
  return true;
}

ReducingSwitch::Outcome ReducingSwitch::add(std::uint32_t adder, Cycle now, std::vector<AggregationPacket>& out) {
  const AggregationPacket packet = buffer_.release(adders_[adder].retire().value);
  const Port& port = ports_.at(packet.edge.value);
  return {packet, port.flow, flows_.at(port.flow).add(packet, port.child, now, used_, out)};
}

ReducingSwitch::Outcome ReducingSwitch::pass(const AggregationPacket& packet, std::uint32_t flow, Cycle now,
                                             std::vector<AggregationPacket>& out) {
  return {packet, flow, flows_.at(flow).pass(packet, now, used_, out)};
}

}  // namespace certree
