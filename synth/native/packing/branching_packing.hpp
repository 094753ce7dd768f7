// Packing spanning branchings (arborescences) with given roots into a directed graph with integer capacities.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace certree {

struct Arc {
  int32_t tail;
  int32_t head;
};

// Edmonds: branchings from `roots`, each arc in at most `capacity` of them, exist just when into every set X of nodes there is room
// for all of them whose roots lie outside. They are built one after the other, breadth first; an arc is taken only when all that
// are still to be built would fit into what is left, which one maximum flow tells (Lovász's proof).
class BranchingPacking {
 public:
  BranchingPacking(int32_t nodes, std::vector<Arc> arcs, std::vector<int64_t> capacity);

  // The parent of every node in every branching, shape (roots, nodes), -1 at its root; empty when they do not fit.
  // O(roots · arcs) maximum flows, each of which starts from the last one to the same node where memory allows.
  std::vector<int32_t> pack(const std::vector<int32_t>& roots);

 private:
  bool grow(int32_t root, int32_t* parent);
  bool is_safe(size_t arc);
  void add_arc(int32_t tail, int32_t head);
  int64_t room_of(size_t flow_arc) const;
  bool reaches(int32_t target);
  bool level_out();
  int32_t nearest_missing();

  int32_t nodes_;
  std::vector<Arc> arcs_;
  std::vector<int64_t> capacity_;          // what is left of each arc
  std::vector<int64_t> waiting_;           // branchings still to be built, by root
  int64_t wanted_ = 0;                     // their number, the one that is growing included
  std::vector<uint8_t> inside_;            // nodes of the one that is growing
  std::vector<uint8_t> shut_;              // arcs that are not safe for it
  std::vector<std::vector<int32_t>> out_;  // arcs by tail
  // The flow network: the arcs, one from the source to each node and to the growing branching, one from that to each node.
  std::vector<int32_t> to_;  // flow arc 2i and its reverse 2i + 1
  std::vector<int64_t> room_;
  std::vector<int64_t> over_;               // by node: what flows in less what flows out, with what is wanted at both ends
  bool keeps_ = false;                      // whether there is a flow for each node
  std::vector<std::vector<int32_t>> kept_;  // by node: the last flow to it, by flow arc
  std::vector<std::vector<int32_t>> from_;
  std::vector<int32_t> queue_, via_;  // of one search: the flow arc by which each node was reached
};

}  // namespace certree
