// Splitting switches off: cables through switches become edges between endpoints, each with a path and a slot of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "../random.hpp"

namespace certree {

struct Cable {
  int32_t u;
  int32_t v;
};

// A path between two different endpoints through switches: `nodes` from one to the other, and the cables between them.
struct SwitchPath {
  std::vector<int32_t> nodes;
  std::vector<int32_t> cables;
};

// Paths for all slots of a period, in layers that keep what a cable carries in a slot. A layer is a pair of slots: all its paths
// go forth in the one and back in the other, and use each direction of a cable at most `capacity` times. A period of odd length
// has a single slot left: the paths of that last layer use both directions at once.
//
// They are chosen in two ways: `grow` joins all pairs of endpoints as evenly as it can, and `repair` exchanges the ends of paths of
// one layer that meet at a switch, which changes no cable's load, so that more of them cross the borders of given partitions.
// (Splitting off, as Lovász and Mader do it, keeps connectivity; here the partitions that a packing fails on say what is to be
// kept.)
class SwitchSplitting {
 public:
  SwitchSplitting(std::vector<uint8_t> endpoint, std::vector<Cable> cables, std::vector<int64_t> capacity, int32_t period,
                  uint64_t seed);

  // Adds shortest paths, layer by layer, until cables leave room for none: from every endpoint to the one a number of ranks
  // further, the distances in an order that the seed shuffles and each layer starts elsewhere. Where a cable of an endpoint is left
  // free, a path past its switch is led in and out there and becomes two; where two endpoints are left with room, a path between
  // two others makes way for two. O(paths · cables), and as much for each unit left.
  //
  // `group`, by node id, or empty: endpoints of one group leave the cables alone until as many paths as fit join those of different
  // ones, the nearest first, as those of a box keep the links to its interfaces free.
  void grow(std::vector<int32_t> group);

  // Random exchanges, `moves` at most, towards needs[i] paths across the borders of parts[i] (a part for each node id; those of
  // switches do not count) for every i; whether that is reached. O(moves · (path + partitions)).
  bool repair(const std::vector<std::vector<int32_t>>& parts, const std::vector<int64_t>& needs, int64_t moves);

  const std::vector<std::vector<SwitchPath>>& layers() const { return paths_; }

 private:
  // Places in `left_` and `ports_` for a move along a cable from `node`, and for leaving (`out`) or entering a node.
  size_t direction(size_t layer, int32_t cable, int32_t node) const;
  size_t port(size_t layer, int32_t node, bool out) const;
  void take(size_t layer, const SwitchPath& path, int64_t units);
  bool may_leave(size_t layer, int32_t node) const { return ports_[port(layer, node, true)] > 0; }
  bool may_enter(size_t layer, int32_t node) const { return ports_[port(layer, node, false)] > 0; }
  bool is_single(size_t layer) const { return layer == pairs_; }

  void grow(size_t layer, const std::vector<int32_t>& ends, int32_t most);
  void grow_all(size_t layer, const std::vector<int32_t>& ends, int32_t most);
  void measure(const std::vector<int32_t>& ends);
  int32_t hops(int32_t from, int32_t to) const { return hops_[from * endpoint_.size() + to]; }
  bool add_path(size_t layer, int32_t from, int32_t to);
  SwitchPath remove(size_t layer, size_t index);
  void add(size_t layer, SwitchPath path);
  void lead_in(size_t layer);
  bool lead_in(size_t layer, int32_t cable, int32_t node);
  void make_way(size_t layer, const std::vector<int32_t>& ends);
  bool make_way(size_t layer, int32_t from, int32_t to);
  void exchange(const std::vector<std::vector<int32_t>>& parts, const std::vector<int64_t>& needs, std::vector<int64_t>& crossing);
  void cut_loops(size_t layer, SwitchPath& path);

  std::vector<uint8_t> endpoint_;
  std::vector<Cable> cables_;
  size_t pairs_;  // layers of two slots
  Random random_;
  std::vector<std::vector<int32_t>> around_;    // cables at each node
  std::vector<int64_t> left_;                   // layer x cable x direction
  std::vector<int64_t> ports_;                  // layer x node x (out, in): units left at its cables
  std::vector<std::vector<SwitchPath>> paths_;  // by layer
  std::vector<int32_t> distances_;
  std::vector<int32_t> group_;
  std::vector<int32_t> hops_;    // node x node: cables of the shortest path through switches between different groups
  bool between_groups_ = false;  // whether only such paths of exactly that many cables are added
  size_t cursor_ = 0;            // where the next layer starts in `distances_`
  std::vector<int32_t> before_;  // of one search: the cable by which each node was reached
};

}  // namespace certree
