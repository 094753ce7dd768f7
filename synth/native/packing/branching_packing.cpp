#include "branching_packing.hpp"

#include <algorithm>
#include <utility>

namespace certree {

namespace {
constexpr int32_t kNone = -1;
}  // namespace

BranchingPacking::BranchingPacking(int32_t nodes, std::vector<Arc> arcs, std::vector<int64_t> capacity)
    : nodes_(nodes), arcs_(std::move(arcs)), capacity_(std::move(capacity)), waiting_(nodes, 0), out_(nodes), from_(nodes + 2) {
  for (size_t a = 0; a < arcs_.size(); ++a) out_[arcs_[a].tail].push_back(static_cast<int32_t>(a));
  const int32_t source = nodes_, growing = nodes_ + 1;
  for (const Arc& arc : arcs_) add_arc(arc.tail, arc.head);
  for (int32_t v = 0; v < nodes_; ++v) add_arc(source, v);
  for (int32_t v = 0; v < nodes_; ++v) add_arc(growing, v);
  add_arc(source, growing);
}

void BranchingPacking::add_arc(int32_t tail, int32_t head) {
  from_[tail].push_back(static_cast<int32_t>(to_.size()));
  to_.push_back(head);
  from_[head].push_back(static_cast<int32_t>(to_.size()));
  to_.push_back(tail);
}

std::vector<int32_t> BranchingPacking::pack(const std::vector<int32_t>& roots) {
  for (const int32_t root : roots) ++waiting_[root];
  wanted_ = static_cast<int64_t>(roots.size());
  std::vector<int32_t> parents(roots.size() * nodes_, kNone);
  for (size_t i = 0; i < roots.size(); ++i) {
    if (!grow(roots[i], parents.data() + i * nodes_)) return {};
    --wanted_;
  }
  return parents;
}

bool BranchingPacking::grow(int32_t root, int32_t* parent) {
  inside_.assign(nodes_, 0);
  inside_[root] = 1;
  --waiting_[root];
  std::vector<int32_t> reached{root};
  for (size_t head = 0; head < reached.size(); ++head) {
    for (const int32_t a : out_[reached[head]]) {
      const int32_t node = arcs_[a].head;
      if (inside_[node] || capacity_[a] == 0 || !is_safe(a)) continue;
      parent[node] = reached[head];
      reached.push_back(node);
    }
  }
  return static_cast<int32_t>(reached.size()) == nodes_;
}

// Takes the arc when every set that it enters keeps room for all that must still enter it. An arc that is not safe stays so while
// this branching grows.
bool BranchingPacking::is_safe(size_t arc) {
  const auto [tail, head] = arcs_[arc];
  --capacity_[arc];
  inside_[head] = 1;
  const size_t m = arcs_.size(), n = static_cast<size_t>(nodes_);
  room_.assign(to_.size(), 0);
  for (size_t a = 0; a < m; ++a) room_[2 * a] = capacity_[a];
  for (size_t v = 0; v < n; ++v) {
    room_[2 * (m + v)] = waiting_[v];
    room_[2 * (m + n + v)] = inside_[v];
  }
  room_[2 * (m + static_cast<size_t>(tail))] = wanted_;  // the tail lies outside the sets in question
  room_[2 * (m + 2 * n)] = 1;
  if (reaches(head)) return true;
  ++capacity_[arc];
  inside_[head] = 0;
  return false;
}

// Whether the flow to `target` can be as large as the number of branchings wanted (Dinic).
bool BranchingPacking::reaches(int32_t target) {
  const int32_t source = nodes_;
  std::vector<int32_t> queue;
  for (int64_t left = wanted_; left > 0;) {
    level_.assign(from_.size(), kNone);
    level_[source] = 0;
    queue.assign(1, source);
    for (size_t i = 0; i < queue.size() && level_[target] == kNone; ++i) {
      for (const int32_t e : from_[queue[i]]) {
        if (room_[e] > 0 && level_[to_[e]] == kNone) {
          level_[to_[e]] = level_[queue[i]] + 1;
          queue.push_back(to_[e]);
        }
      }
    }
    if (level_[target] == kNone) return false;
    next_.assign(from_.size(), 0);
    left -= push(source, target, left);
  }
  return true;
}

int64_t BranchingPacking::push(int32_t node, int32_t target, int64_t limit) {
  if (node == target) return limit;
  int64_t pushed = 0;
  for (size_t& i = next_[node]; i < from_[node].size() && pushed < limit; ++i) {
    const int32_t e = from_[node][i];
    if (room_[e] == 0 || level_[to_[e]] != level_[node] + 1) continue;
    const int64_t flow = push(to_[e], target, std::min(limit - pushed, room_[e]));
    room_[e] -= flow;
    room_[e ^ 1] += flow;
    pushed += flow;
    if (pushed == limit) break;
  }
  return pushed;
}

}  // namespace certree
