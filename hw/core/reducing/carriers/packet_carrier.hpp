// What carries packets from node to node: lanes, or a network of routers.
#pragma once

#include <cstdint>
#include <vector>

#include "common/types.hpp"

namespace certree {

class PacketCarrier {
 public:
  virtual ~PacketCarrier() = default;

  // Packet `id` queues at the start of `route` in this cycle, between begin_cycle and finish_cycle.
  virtual void send(std::uint32_t id, std::uint32_t route) = 0;
  // The next cycle in which something happens; kNever: nothing is in flight.
  virtual Cycle next_activity() const = 0;
  // Moves on to cycle `now`, which is not after next_activity; appends the packets whose last flits have come.
  virtual void begin_cycle(Cycle now, std::vector<std::uint32_t>& arrived) = 0;
  virtual void finish_cycle() = 0;

  // Whether packets are in flight that can never move again, each waiting for the next.
  virtual bool is_blocked() const { return false; }

  virtual std::uint64_t flit_hops() const = 0;
  virtual std::uint64_t busiest_lane_cycles() const = 0;
  // Throws std::logic_error when something was lost or doubled inside.
  virtual void check_conservation() const = 0;
};

}  // namespace certree
