// How many links away the nodes of a network are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace certree {

// By node the fewest links from `start`; -1 where there is no path. The links of node n lead to head[first[n]] .. head[first[n +
// 1]]; other nodes than `start` are passed only where `passes` says so. O(nodes + links).
inline std::vector<int32_t> hops_from(int32_t start, const std::vector<int64_t>& first, const std::vector<int32_t>& head,
                                      const std::vector<uint8_t>& passes) {
  std::vector<int32_t> hops(passes.size(), -1), reached{start};
  hops[start] = 0;
  for (size_t i = 0; i < reached.size(); ++i) {
    const int32_t node = reached[i];
    if (node != start && !passes[node]) continue;
    for (int64_t link = first[node]; link < first[node + 1]; ++link) {
      if (hops[head[link]] >= 0) continue;
      hops[head[link]] = hops[node] + 1;
      reached.push_back(head[link]);
    }
  }
  return hops;
}

}  // namespace certree
