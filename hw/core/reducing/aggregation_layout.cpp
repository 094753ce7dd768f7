#include "reducing/aggregation_layout.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace certree {
namespace {

void require(bool holds, const char* what) {
  if (!holds) throw std::invalid_argument(std::string("aggregation: ") + what);
}

void require_lists(const Lists& lists, std::size_t count, std::size_t limit, const char* what) {
  require(lists.begin.size() == count + 1 && lists.begin.front() == 0 && lists.begin.back() == lists.values.size(), what);
  for (std::size_t i = 0; i < count; ++i) require(lists.begin[i] < lists.begin[i + 1], what);
  require(std::all_of(lists.values.begin(), lists.values.end(), [&](std::uint32_t value) { return value < limit; }), what);
}

}  // namespace

void AggregationLayout::validate() const {
  require(packet_flits > 0 && packet_cycles >= packet_flits && window > 0 && places > 0 && buffer_packets > 0 && adders > 0 &&
              timeout > 0 && give_up > 0,
          "a size is zero");
  require(reduce_packet_cycles > 0, "the adder takes no time");
  require(rank.size() == nodes, "rank");
  const std::size_t edges = edge_flow.size(), flows = flow_packets.size();
  require(std::find(flow_packets.begin(), flow_packets.end(), 0U) == flow_packets.end(), "flow_packets");
  require(edge_child.size() == edges && edge_parent.size() == edges, "edges");
  for (std::size_t i = 0; i < edges; ++i) {
    require(edge_flow[i] < flows && edge_child[i] < nodes && edge_parent[i] < nodes, "edges");
    require(i == 0 || edge_flow[i - 1] <= edge_flow[i], "edge_flow");
    require(rank[edge_parent[i]] == kNoRank, "a host is a parent");
  }
  const std::size_t routes = route_injector.size();
  require_lists(up_routes, edges, routes, "up_routes");
  require_lists(down_routes, edges, routes, "down_routes");
  require_lists(route_lanes, routes, lane_latency.size(), "route_lanes");
}

}  // namespace certree
