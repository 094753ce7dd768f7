// Packing Steiner trees into a directed graph with integer capacities: each leads from a root to all nodes that must be reached,
// over any others.
#pragma once

#include <cstdint>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

#include "../random.hpp"

namespace certree {

// Arcs by tail: those out of node v are offset[v] .. offset[v + 1]. A tree that takes an arc takes twin[arc] as well, where that is
// not -1. Where holds[v] is 0 a tree passes v, but does not branch there.
struct SteinerNetwork {
  std::vector<int32_t> offset, head, twin;
  std::vector<int64_t> capacity;
  std::vector<uint8_t> holds;

  int32_t nodes() const { return static_cast<int32_t>(holds.size()); }
};

// One entry for each node that holds data in a tree, its root aside: the arcs from the nearest such node above it are
// arc[offset[i]] .. arc[offset[i + 1]].
struct SteinerTrees {
  std::vector<int32_t> tree, node, offset{0}, arc;
};

// Trees are laid one after the other over arcs that cost the more the fuller they are (Takahashi and Matsuyama's heuristic), and
// those on overfull arcs again, at prices that rise each time (negotiation, as in PathFinder of McMurchie and Ebeling, 1995).
// Nearest ends first never branch where no end lies near, so each tree is tried with a node in the middle of the ends, too.
class SteinerPacking {
 public:
  SteinerPacking(SteinerNetwork network, std::vector<int32_t> ends, uint64_t seed);

  // One tree from each of `roots` (-1: from any of the ends); no entries where none were found within `turns` rounds, which proves
  // nothing. O(turns · roots · ends · arcs · log arcs) at worst.
  SteinerTrees pack(const std::vector<int32_t>& roots, int32_t turns);

 private:
  using Path = std::pair<int32_t, std::vector<int32_t>>;  // a node, and the arcs from the one above it

  using Entry = std::pair<int64_t, int32_t>;  // a distance and a node
  using Queue = std::priority_queue<Entry, std::vector<Entry>, std::greater<>>;

  std::vector<Path> lay(int32_t root);
  std::vector<Path> grow(int32_t root, int32_t hub);
  bool join(std::vector<Path>& tree, std::vector<uint8_t>& inside, const std::vector<int32_t>& wanted);
  int32_t middle();
  void search(int32_t start);
  void relax(Queue& queue, int64_t cost, int32_t node);
  int64_t cost(const std::vector<Path>& tree) const;
  void take(const std::vector<Path>& tree, int64_t units);
  bool overfull(const std::vector<Path>& tree) const;
  bool overfull(int32_t arc) const { return load_[arc] > network_.capacity[arc]; }
  int64_t price(int32_t arc) const;
  int64_t price_of_both(int32_t arc) const;

  SteinerNetwork network_;
  std::vector<int32_t> ends_, tail_;
  std::vector<uint8_t> is_end_;
  std::vector<int64_t> load_, past_, price_, far_;
  std::vector<int32_t> before_;
  Random random_;
};

}  // namespace certree
