// A few paths for each pair of nodes, prepared once for a network, and one of them for each of many messages of different sizes.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "pair_router.hpp"

namespace certree {

// Paths of pair p: first[p] .. first[p + 1]. Path i is arc[offset[i]] .. arc[offset[i + 1]].
struct PreparedPaths {
  std::vector<int32_t> first{0}, offset{0}, arc;
};

// For each source and target in turn the different paths among those that are shortest by `tries` draws of lengths: in half of the
// draws with few arcs, ties broken at random, in the others over detours as well. No path passes the node itself twice. A pair of a
// node with itself, and a target that cannot be reached, has none. `each_source` may throw. Deterministic in `seed`.
// Time O(sources · tries · arcs · log nodes), memory O(hops of all paths).
PreparedPaths prepare_paths(const RouterNetwork& network, const std::vector<int32_t>& ends, int32_t tries, uint64_t seed,
                            const std::function<void()>& each_source);

// The number of a path for each message, which are `pair` and `size`, such that the fullest arc carries little: each takes the path
// that is lightest at the time, larger messages first; in each of `sweeps` all, or those on the fullest arcs, are taken out and
// choose again. The best state is kept. `goal`: rounds that cannot be beaten. Weights are those of `route_pairs`.
// Time O(sweeps · messages · paths of a pair · hops), in whole numbers.
struct PathChoice {
  std::vector<int32_t> path;
  int64_t period = 0;
};
PathChoice choose_paths(const PreparedPaths& prepared, const std::vector<int64_t>& capacity, const std::vector<int32_t>& pair,
                        const std::vector<int64_t>& size, int32_t sweeps, int64_t goal);

}  // namespace certree
