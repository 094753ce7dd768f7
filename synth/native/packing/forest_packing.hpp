// Packing K spanning forests into an undirected multigraph with integer edge capacities, by matroid union.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace certree {

struct Edge {
  int32_t u;
  int32_t v;
};

// K forests over nodes 0..n-1; forest i uses an edge at most once, all forests together at most capacity[e] times.
class ForestPacking {
 public:
  ForestPacking(int32_t nodes, std::vector<Edge> edges, std::vector<int64_t> capacity, int32_t forests);

  // Adds `edge` to `forest` when that keeps both the forest and the capacity; returns whether it did.
  // O(1) when it joins a single node, else O(n).
  bool insert(int32_t forest, int32_t edge);

  // One augmentation along a shortest exchange path (Edmonds): the total size grows by one.
  // Returns false when none exists; then `part()` is a partition P with capacity(P) < K·(|P| - 1). O(K·(n + m)).
  bool augment();

  bool spanning() const { return size_ == int64_t{forests_} * (nodes_ - 1); }
  int32_t forests() const { return forests_; }
  int32_t nodes() const { return nodes_; }
  const std::vector<int32_t>& part() const { return part_; }
  const std::vector<Edge>& edges() const { return edges_; }
  bool contains(int32_t forest, int32_t edge) const { return member_[index(forest, edge)] != 0; }

  // Replaces tree edge `out` by `in`, which leads out of the part below `out`; parents and depths there follow, nothing is counted
  // in `used`. O(nodes below `out`).
  void rehang(int32_t forest, int32_t out, int32_t in);
  // Whether the ends of `in` lie on either side of tree edge `out`. O(depth).
  bool reconnects(int32_t forest, int32_t out, int32_t in) const;
  // The nodes that the latest `rehang` moved, and how deep each of them lay before.
  const std::vector<int32_t>& moved() const { return moved_; }
  const std::vector<int32_t>& moved_from() const { return moved_from_; }
  // An edge's use goes over to another one.
  void transfer_use(int32_t from, int32_t to) {
    --used_[from];
    ++used_[to];
  }
  bool spare(int32_t edge) const { return used_[static_cast<size_t>(edge)] < capacity_[static_cast<size_t>(edge)]; }

  int32_t parent(int32_t forest, int32_t node) const { return parent_[at(forest, node)]; }
  int32_t parent_edge(int32_t forest, int32_t node) const { return parent_edge_[at(forest, node)]; }
  int32_t depth(int32_t forest, int32_t node) const { return depth_[at(forest, node)]; }

  // Makes `root` the root of its component and recomputes parents and depths of the forest. O(n).
  void orient(int32_t forest, int32_t root);

 private:
  size_t at(int32_t forest, int32_t node) const { return static_cast<size_t>(forest) * nodes_ + node; }
  size_t index(int32_t forest, int32_t edge) const { return static_cast<size_t>(forest) * edges_.size() + edge; }
  size_t seat(int32_t forest, int32_t node) const { return static_cast<size_t>(node) * forests_ + forest; }
  int32_t find(int32_t forest, int32_t node);
  bool below(int32_t forest, int32_t node, int32_t ancestor) const;
  // The end of an exchange path: `edge` joins two components of `forest`; both -1 without such a path.
  struct Insertion {
    int32_t edge;
    int32_t forest;
  };
  Insertion label_path(int32_t forest, int32_t edge, std::vector<int32_t>& queue);
  int32_t taker_of(int32_t edge) const;
  Insertion find_exchange();
  void attach(int32_t forest, int32_t edge, int32_t node, int32_t parent);
  void apply(int32_t edge, int32_t forest);
  void record_partition();

  int32_t nodes_;
  int32_t forests_;
  std::vector<Edge> edges_;
  std::vector<int64_t> capacity_;
  std::vector<int64_t> used_;
  int64_t size_ = 0;
  std::vector<int32_t> moved_, moved_from_;
  std::vector<uint8_t> member_;                        // forest x edge
  std::vector<std::vector<int32_t>> incident_;         // edges at each node
  std::vector<int32_t> parent_, parent_edge_, depth_;  // forest x node
  std::vector<int32_t> component_;                     // node x forest
  std::vector<int32_t> component_size_;                // forest x node, valid at the component's root
  // State of one search: which edge, inserted into which forest, would free this edge there.
  std::vector<int32_t> from_edge_, from_forest_;
  std::vector<uint8_t> reached_;
  int64_t search_ = 0;
  std::vector<int64_t> labelled_;    // by forest: the latest search that came there
  std::vector<int32_t> unfinished_;  // forests of several components, and some that no longer are
  std::vector<int32_t> skip_;        // forest x node: union-find over labelled tree edges, pointing rootwards
  std::vector<int32_t> part_;
};

}  // namespace certree
