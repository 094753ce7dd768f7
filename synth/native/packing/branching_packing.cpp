#include "branching_packing.hpp"

#include <algorithm>
#include <utility>

namespace certree {

namespace {
constexpr int32_t kNone = -1, kStart = -2;
constexpr int64_t kKept = 1 << 24;  // amounts, of all flows together, up to which one to each node is kept
}  // namespace

BranchingPacking::BranchingPacking(int32_t nodes, std::vector<Arc> arcs, std::vector<int64_t> capacity)
    : nodes_(nodes), arcs_(std::move(arcs)), capacity_(std::move(capacity)), waiting_(nodes, 0), out_(nodes), from_(nodes + 2) {
  for (size_t a = 0; a < arcs_.size(); ++a) out_[arcs_[a].tail].push_back(static_cast<int32_t>(a));
  const int32_t source = nodes_, growing = nodes_ + 1;
  for (const Arc& arc : arcs_) add_arc(arc.tail, arc.head);
  for (int32_t v = 0; v < nodes_; ++v) add_arc(source, v);
  for (int32_t v = 0; v < nodes_; ++v) add_arc(growing, v);
  add_arc(source, growing);
  room_.assign(to_.size(), 0);
  keeps_ = static_cast<int64_t>(nodes_) * static_cast<int64_t>(to_.size() / 2) <= kKept;
  kept_.resize(keeps_ ? nodes_ : 1);
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
  shut_.assign(arcs_.size(), 0);
  inside_[root] = 1;
  --waiting_[root];
  std::vector<int32_t> reached{root};
  for (size_t head = 0; head < reached.size(); ++head) {
    for (const int32_t a : out_[reached[head]]) {
      const int32_t node = arcs_[a].head;
      if (inside_[node] || capacity_[a] == 0 || shut_[a] || !is_safe(a)) continue;
      parent[node] = reached[head];
      reached.push_back(node);
    }
  }
  return static_cast<int32_t>(reached.size()) == nodes_;
}

// Takes the arc when every set that it enters keeps room for all that must still enter it; in other sets there is room for all that
// were wanted before. Where a set keeps too little, no arc into it is safe while this branching, which has a node there, grows.
bool BranchingPacking::is_safe(size_t arc) {
  const int32_t head = arcs_[arc].head;
  --capacity_[arc];
  inside_[head] = 1;
  if (reaches(head)) return true;
  ++capacity_[arc];
  inside_[head] = 0;
  for (size_t a = 0; a < arcs_.size(); ++a) shut_[a] |= via_[arcs_[a].tail] != kNone && via_[arcs_[a].head] == kNone;
  return false;
}

int64_t BranchingPacking::room_of(size_t flow_arc) const {
  const size_t m = arcs_.size(), n = static_cast<size_t>(nodes_);
  if (flow_arc < m) return capacity_[flow_arc];
  if (flow_arc < m + n) return waiting_[flow_arc - m];
  return flow_arc < m + 2 * n ? inside_[flow_arc - m - n] : 1;
}

// Whether the flow to `target` can be as large as the number of branchings wanted. What flowed to it when it was last asked
// for is kept as far as there is still room: little is left over at some nodes and missing at others, and has to be led there.
bool BranchingPacking::reaches(int32_t target) {
  const int32_t source = nodes_;
  auto& kept = kept_[keeps_ ? target : 0];
  if (!keeps_ || kept.empty()) kept.assign(to_.size() / 2, 0);
  over_.assign(from_.size(), 0);
  over_[source] += wanted_;
  over_[target] -= wanted_;
  for (size_t i = 0; i < kept.size(); ++i) {
    const int64_t room = std::min(room_of(i), wanted_), flow = std::min<int64_t>(room, kept[i]);
    room_[2 * i] = room - flow;
    room_[2 * i + 1] = flow;
    over_[to_[2 * i + 1]] -= flow;
    over_[to_[2 * i]] += flow;
  }
  const bool is_full = level_out();
  for (size_t i = 0; i < kept.size(); ++i) kept[i] = static_cast<int32_t>(room_[2 * i + 1]);
  return is_full;
}

// Leads what is left over at nodes to those where it is missing, each time along a shortest path; whether that is possible for all.
bool BranchingPacking::level_out() {
  for (;;) {
    via_.assign(from_.size(), kNone);
    queue_.clear();
    for (size_t v = 0; v < over_.size(); ++v) {
      if (over_[v] <= 0) continue;
      via_[v] = kStart;
      queue_.push_back(static_cast<int32_t>(v));
    }
    if (queue_.empty()) return true;
    const int32_t end = nearest_missing();
    if (end == kNone) return false;
    int64_t amount = -over_[end];
    int32_t start = end;
    for (; via_[start] != kStart; start = to_[via_[start] ^ 1]) amount = std::min(amount, room_[via_[start]]);
    amount = std::min(amount, over_[start]);
    over_[start] -= amount;
    over_[end] += amount;
    for (int32_t node = end; node != start; node = to_[via_[node] ^ 1]) {
      room_[via_[node]] -= amount;
      room_[via_[node] ^ 1] += amount;
    }
  }
}

// The nearest node to those in the queue that misses something, with the route there in `via_`; kNone where none can be reached.
int32_t BranchingPacking::nearest_missing() {
  for (size_t i = 0; i < queue_.size(); ++i) {
    for (const int32_t e : from_[queue_[i]]) {
      const int32_t node = to_[e];
      if (room_[e] == 0 || via_[node] != kNone) continue;
      via_[node] = e;
      if (over_[node] < 0) return node;
      queue_.push_back(node);
    }
  }
  return kNone;
}

}  // namespace certree
