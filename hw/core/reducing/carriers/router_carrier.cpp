#include "reducing/carriers/router_carrier.hpp"

namespace certree {

void RouterCarrier::send(std::uint32_t id, std::uint32_t route) {
  Packet packet;
  packet.injector = layout_.route_injector[route];
  packet.flits = layout_.packet_flits;
  packet.route = network_.layout().routes.begin[route];
  packet.owner = id;
  network_.inject(network_.add(packet));
}

void RouterCarrier::begin_cycle(Cycle now, std::vector<std::uint32_t>& arrived) {
  network_.skip_to(now);
  network_.begin_cycle();
  for (const PacketId packet : network_.completed()) {
    arrived.push_back(network_.packets()[packet.value].owner);
    network_.remove(packet);
  }
}

}  // namespace certree
