// Shapes of packed trees: growing shallow ones, and shortening them by exchanges that keep the packing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "forest_packing.hpp"

namespace certree {

// Grows every forest breadth first from its root, one layer at a time over all forests, along the least used edges.
// Nodes that no spare edge joins to the layer before stay out; augmentations add them later. O(K·m·ecc).
void grow_shallow(ForestPacking& packing, const std::vector<int32_t>& roots);

// Random edge exchanges: the sum over all nodes of how far they lie below `height`, squared, goes down, until it is zero; depths
// count from `roots`, one for each tree. Deterministic in `seed`. O(moves · n).
void shorten(ForestPacking& packing, const std::vector<int32_t>& roots, int32_t height, int64_t moves, uint64_t seed);

// Roots every tree at its centre; returns the roots. O(K·n).
std::vector<int32_t> root_at_centres(ForestPacking& packing);

}  // namespace certree
