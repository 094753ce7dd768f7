// Shortest routes that load links evenly.
#pragma once

#include <vector>

#include "fine/fine_booking.hpp"

namespace certree {

// By link its ends and its capacity; by node whether messages for others pass it.
struct FineNetwork {
  std::vector<int32_t> src, dst, capacity;
  std::vector<uint8_t> forwards;
};

// Links of a shortest route for each pair of nodes, each pair's rerouted in turn where its links are least loaded, `sweeps` times;
// those of pairs with one shortest route stay. `lost`: the first pair without a route, -1 where all have one.
struct FineRoutes {
  Ragged routes;
  int64_t lost = -1;
};

// O(sweeps · pairs · links of all shortest routes of a pair).
FineRoutes even_routes(const FineNetwork& network, const std::vector<int32_t>& src, const std::vector<int32_t>& dst,
                       int32_t sweeps);

}  // namespace certree
