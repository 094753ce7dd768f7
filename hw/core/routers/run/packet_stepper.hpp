// A network of routers whose packets are decided on as it goes: by a model of interfaces outside of the core.
#pragma once

#include "routers/network/flit_network.hpp"

namespace certree {

// Always inside a cycle: what was in flight has arrived, what is sent now leaves in it.
class PacketStepper {
 public:
  explicit PacketStepper(NetworkLayout layout) : network_(std::move(layout)) { network_.begin_cycle(); }

  // A packet of class 0 by a source route (its number in the layout); returns its number, which a later packet may have, too, once
  // this one has been received. Throws std::invalid_argument for what does not exist.
  std::uint32_t send(std::uint32_t injector, std::uint32_t destination, std::uint32_t flits, std::uint32_t route,
                     std::uint32_t priority);

  // Goes on to the cycle in which the next packet is received whole, to `until` if that comes before; with kNever, when nothing is
  // in flight any more, to the cycle behind the last event.
  void advance(Cycle until);
  // The packets that were received whole at the start of this cycle; they may be named until the next `advance`.
  const std::vector<PacketId>& received() const { return received_; }
  // Flits of the packets of an injector that have not left it.
  std::uint64_t backlog(std::uint32_t injector) const { return network_.injector(injector).backlog(0); }
  bool is_idle() const { return network_.next_activity() == kNever; }
  FlitNetwork& network() { return network_; }

 private:
  FlitNetwork network_;
  std::vector<PacketId> received_;
};

}  // namespace certree
