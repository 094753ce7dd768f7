// MultiTree: all-gather trees grown together over a network, one link allocation at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace certree {

// Joined pairs of nodes, out of each node in the order of their first link. Trees consist of endpoints; paths between them may pass
// the other nodes.
struct GrowthNetwork {
  std::vector<uint8_t> endpoint;    // by node
  std::vector<int32_t> offset;      // pairs out of node v: offset[v] .. offset[v + 1]
  std::vector<int32_t> pair;        // number of the pair at each of these places
  std::vector<int32_t> tail, head;  // by pair
  std::vector<int64_t> capacity;    // by pair: uses in one step

  int32_t nodes() const { return static_cast<int32_t>(endpoint.size()); }
};

enum class Turns : int32_t {
  ascending = 0,  // Algorithm 1: by root; a step ends when a whole round of turns adds nothing
  remaining_height =
      1,        // the same, but trees go by the distance to their farthest missing node at the start of the step, farthest first
  authors = 2,  // the released program: first round by root, later ones by (priority, root) descending; a step ends when the
                // last tree of a round adds nothing
};

// One entry for each node added to a tree; the path of entry i is path[path_offset[i]] .. path[path_offset[i + 1]], pairs in order.
struct Growth {
  std::vector<int32_t> tree, step, src, dst, path, path_offset{0};
};

// Grows one tree from each root. In its turn a tree adds one node: its members of earlier steps, in the order of their joining,
// look breadth first, in link order, over pairs with room for the nearest endpoint that is not in the tree; the path to it loses
// room for this step. A path passes a switch that is not the member's own only when that has no room left towards endpoints.
// In a step in which nothing can be added so, it may pass any. `arity` 0: any number of children; 1: a member has one child at
// most; k: it adds k - 1 in a step at most, so that a tree grows to k times its size. Trees that can grow no more (with an arity of
// 1) stay incomplete. `priority`: by tree, for Turns::authors. `each_step` is called before every step, and may throw. Time O(steps
// · trees · (nodes + pairs)) at worst, memory O(trees · nodes + transfers · hops).
Growth grow_trees(const GrowthNetwork& network, const std::vector<int32_t>& roots, Turns turns,
                  const std::vector<int32_t>& priority, int32_t arity, const std::function<void()>& each_step);

}  // namespace certree
