// Explicit packets through a network of routers.
#pragma once

#include "routers/network/flit_network.hpp"

namespace certree {

// What to send; columns of equal length, releases ascending.
struct PacketList {
  std::vector<std::uint32_t> injector;
  std::vector<std::uint32_t> destination;
  std::vector<std::uint32_t> flits;
  std::vector<std::uint32_t> route;  // number of its source route, UINT32_MAX: by the routers' tables
  std::vector<std::uint64_t> release;
};

// As packets, all of class `traffic_class`. Throws std::invalid_argument for columns that do not fit each other or the layout.
std::vector<Packet> packets_of(const PacketList& list, const NetworkLayout& layout, std::uint32_t traffic_class);

class PacketRun {
 public:
  // All packets are of class 0. Throws std::invalid_argument as `packets_of`.
  PacketRun(NetworkLayout layout, const PacketList& list);

  // Runs until every packet is received, or nothing can move any more, or a packet is lost, or for about `budget` cycles; returns
  // whether it has ended.
  bool run(std::uint64_t budget);

  bool is_deadlocked() const { return is_deadlocked_; }
  FlitNetwork& network() { return network_; }

 private:
  FlitNetwork network_;
  std::uint32_t released_ = 0;
  bool is_deadlocked_ = false;
};

}  // namespace certree
