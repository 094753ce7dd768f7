// Trees of hosts and reducing switches, and the routes between them, as plain columns.
#pragma once

#include <cstdint>
#include <vector>

#include "common/program.hpp"

namespace certree {

struct AggregationLayout {
  // Scalars.
  std::uint32_t packet_flits = 1;
  std::uint32_t packet_cycles = 1;  // on a lane
  std::uint32_t window = 1;
  std::uint32_t places = 2;          // of a flow at each of its switches
  std::uint64_t buffer_packets = 1;  // payload buffer of a switch
  std::uint32_t adders = 1;          // of a switch
  std::uint64_t timeout = 1;         // cycles until a packet without result is sent again
  std::uint32_t give_up = 1;         // a packet is not sent more often
  std::uint64_t reduce_start_cycles = 0;
  std::uint64_t reduce_packet_cycles = 1;
  std::uint64_t interface_cycles = 0;  // of a packet, at both ends of its route together
  std::uint32_t router_cycles = 0;
  std::uint64_t seed = 0;
  std::uint64_t loss = 0;  // see PacketFaults
  std::uint64_t copies = 0;
  std::uint64_t latest = 0;
  std::uint32_t nodes = 0;
  std::vector<std::uint32_t> rank;          // node -> its row of the cells; kNoRank: a switch
  std::vector<std::uint32_t> flow_packets;  // packets of each flow
  // Edges: a child and its parent in the tree of a flow; those of one flow together.
  std::vector<std::uint32_t> edge_flow;
  std::vector<std::uint32_t> edge_child;
  std::vector<std::uint32_t> edge_parent;
  Lists up_routes;    // edge -> routes from child to parent; packets take them in turn
  Lists down_routes;  // edge -> routes back
  // Routes: lanes, one after the other.
  Lists route_lanes;
  std::vector<std::uint32_t> route_injector;  // where a route begins on routers
  std::vector<std::uint32_t> lane_latency;

  static constexpr std::uint32_t kNoRank = UINT32_MAX;

  // Throws std::invalid_argument naming the first column that is inconsistent. O(size).
  void validate() const;
};

}  // namespace certree
