#include "routers/run/packet_stepper.hpp"

#include <algorithm>
#include <stdexcept>

namespace certree {

std::uint32_t PacketStepper::send(std::uint32_t injector, std::uint32_t destination, std::uint32_t flits, std::uint32_t route,
                                  std::uint32_t priority) {
  if (route + std::size_t{1} >= network_.layout().routes.begin.size())
    throw std::invalid_argument("a packet's route does not exist");
  Packet packet;
  packet.injector = injector;
  packet.destination = destination;
  packet.flits = flits;
  packet.route = network_.layout().routes.begin[route];
  packet.priority = priority;
  packet.release = network_.now();
  const PacketId id = network_.add(packet);
  network_.inject(id);
  return id.value;
}

void PacketStepper::advance(Cycle until) {
  for (const PacketId packet : received_) network_.remove(packet);
  received_.clear();
  while (network_.now() < until && received_.empty()) {
    network_.finish_cycle();
    const Cycle next = std::min(network_.next_activity(), until);
    if (next != kNever) network_.skip_to(next);
    network_.begin_cycle();
    if (next == kNever) return;
    received_.assign(network_.completed().begin(), network_.completed().end());
  }
}

}  // namespace certree
