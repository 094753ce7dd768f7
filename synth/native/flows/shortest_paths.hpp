// Shortest paths from one node of a network, by lengths of arcs that may depend on what the network carries.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

namespace certree {

class ShortestPaths {
 public:
  explicit ShortestPaths(size_t nodes) : distance_(nodes), via_(nodes), from_(nodes) {}

  // Searches from `source`. `length(node, arc)` is that of an arc out of a node; a negative one: it may not be used. `settle(node)`
  // is called for each node in the order of distances, before its arcs are looked at; true ends the search. `network` has the arcs
  // out of node v as `head[offset[v]]` .. `head[offset[v + 1]]`. O(arcs · log nodes).
  template <class Network, class Length, class Settle>
  void search(const Network& network, int32_t source, Length length, Settle settle) {
    std::fill(distance_.begin(), distance_.end(), -1);
    std::priority_queue<std::pair<int64_t, int32_t>, std::vector<std::pair<int64_t, int32_t>>, std::greater<>> queue;
    distance_[source] = 0;
    queue.emplace(0, source);
    while (!queue.empty()) {
      const auto [distance, node] = queue.top();
      queue.pop();
      if (distance > distance_[node]) continue;
      if (settle(node)) return;
      for (int32_t arc = network.offset[node]; arc < network.offset[node + 1]; ++arc) {
        const int64_t more = length(node, arc);
        if (more < 0) continue;
        const int64_t there = distance + more;
        const int32_t head = network.head[arc];
        if (distance_[head] >= 0 && distance_[head] <= there) continue;
        distance_[head] = there;
        via_[head] = arc;
        from_[head] = node;
        queue.emplace(there, head);
      }
    }
  }

  // Of a node that was found: its distance, negative elsewhere; the last arc of its path, and the node before it.
  int64_t distance(int32_t node) const { return distance_[node]; }
  int32_t via(int32_t node) const { return via_[node]; }
  int32_t from(int32_t node) const { return from_[node]; }

  // The arcs of the path from the source to a target; none where it was not found.
  std::vector<int32_t> path(int32_t source, int32_t target) const {
    std::vector<int32_t> arcs;
    if (distance_[target] < 0) return arcs;
    for (int32_t node = target; node != source; node = from_[node]) arcs.push_back(via_[node]);
    std::reverse(arcs.begin(), arcs.end());
    return arcs;
  }

 private:
  std::vector<int64_t> distance_;
  std::vector<int32_t> via_, from_;
};

}  // namespace certree
