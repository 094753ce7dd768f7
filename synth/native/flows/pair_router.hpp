// Paths for many pairs of nodes that load links evenly: rip-up and reroute with weights that grow with the load.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace certree {

// Arcs out of each node. Arcs of one class share a capacity and are loaded together: an arc of its own class in general, all arcs
// of a generator where one path stands for its images under a group.
struct RouterNetwork {
  std::vector<int32_t> offset;      // arcs out of node v: offset[v] .. offset[v + 1]
  std::vector<int32_t> head, kind;  // by arc: where it leads, and its class
  std::vector<int64_t> capacity;    // by class: what it carries in one round
  std::vector<int64_t> length;      // by class: weight of an empty arc; all equal where it is empty
};

// Pairs of nodes, and what each path puts on every class that it passes.
struct RouterPairs {
  std::vector<int32_t> source, target;
  std::vector<int64_t> size;
};

// Path i is arc[offset[i]] .. arc[offset[i + 1]]; `period`: rounds in which the fullest class carries its paths.
struct PairPaths {
  std::vector<int32_t> offset{0}, arc;
  int64_t period = 0;
};

// One path for each pair. Pairs are routed one after the other, then in each of `sweeps` taken out and routed again in another
// order, until the period is `goal`; the best state is kept. An empty result when some target cannot be reached. `each_sweep` is
// called before every sweep, and may throw. Deterministic in `seed`. Time O(sweeps · pairs · arcs · log nodes) at worst, memory
// O(nodes + arcs + hops of all paths).
PairPaths route_pairs(const RouterNetwork& network, const RouterPairs& pairs, int32_t sweeps, int64_t goal, uint64_t seed,
                      const std::function<void()>& each_sweep);

}  // namespace certree
