#include "forest_packing.hpp"

#include <numeric>
#include <utility>

namespace certree {

namespace {
constexpr int32_t kNone = -1;
}  // namespace

ForestPacking::ForestPacking(int32_t nodes, std::vector<Edge> edges, std::vector<int64_t> capacity, int32_t forests)
    : nodes_(nodes), forests_(forests), edges_(std::move(edges)), capacity_(std::move(capacity)) {
  const size_t cells = static_cast<size_t>(forests_) * nodes_;
  used_.assign(edges_.size(), 0);
  member_.assign(static_cast<size_t>(forests_) * edges_.size(), 0);
  incident_.resize(nodes_);
  for (size_t e = 0; e < edges_.size(); ++e) {
    incident_[edges_[e].u].push_back(static_cast<int32_t>(e));
    incident_[edges_[e].v].push_back(static_cast<int32_t>(e));
  }
  parent_.assign(cells, kNone);
  parent_edge_.assign(cells, kNone);
  depth_.assign(cells, 0);
  component_.resize(cells);
  component_size_.assign(cells, 1);
  for (int32_t forest = 0; forest < forests_; ++forest) {
    for (int32_t v = 0; v < nodes_; ++v) component_[seat(forest, v)] = v;
  }
  skip_.resize(cells);
  labelled_.assign(forests_, 0);
  unfinished_.resize(forests_);
  std::iota(unfinished_.begin(), unfinished_.end(), 0);
}

bool ForestPacking::insert(int32_t forest, int32_t edge) {
  const auto [u, v] = edges_[edge];
  if (!spare(edge) || component_[seat(forest, u)] == component_[seat(forest, v)]) return false;
  member_[index(forest, edge)] = 1;
  ++used_[edge];
  ++size_;
  if (component_size_[at(forest, component_[seat(forest, v)])] == 1) {
    attach(forest, edge, v, u);
  } else if (component_size_[at(forest, component_[seat(forest, u)])] == 1) {
    attach(forest, edge, u, v);
  } else {
    orient(forest, component_[seat(forest, u)]);
  }
  return true;
}

void ForestPacking::attach(int32_t forest, int32_t edge, int32_t node, int32_t parent) {
  parent_[at(forest, node)] = parent;
  parent_edge_[at(forest, node)] = edge;
  depth_[at(forest, node)] = depth_[at(forest, parent)] + 1;
  component_[seat(forest, node)] = component_[seat(forest, parent)];
  ++component_size_[at(forest, component_[seat(forest, parent)])];
}

void ForestPacking::orient(int32_t forest, int32_t root) {
  std::vector<int32_t> stack;
  stack.reserve(nodes_);
  for (int32_t v = 0; v < nodes_; ++v) component_[seat(forest, v)] = kNone;
  for (int32_t next = kNone; next < nodes_; ++next) {
    const int32_t start = next == kNone ? root : next;  // `root` first, then whatever it does not reach
    if (component_[seat(forest, start)] != kNone) continue;
    component_[seat(forest, start)] = start;
    int32_t members = 1;
    parent_[at(forest, start)] = kNone;
    parent_edge_[at(forest, start)] = kNone;
    depth_[at(forest, start)] = 0;
    stack.push_back(start);
    while (!stack.empty()) {
      const int32_t v = stack.back();
      stack.pop_back();
      for (const int32_t e : incident_[v]) {
        if (!member_[index(forest, e)] || e == parent_edge_[at(forest, v)]) continue;
        const int32_t w = edges_[e].u == v ? edges_[e].v : edges_[e].u;
        component_[seat(forest, w)] = start;
        parent_[at(forest, w)] = v;
        parent_edge_[at(forest, w)] = e;
        depth_[at(forest, w)] = depth_[at(forest, v)] + 1;
        ++members;
        stack.push_back(w);
      }
    }
    component_size_[at(forest, start)] = members;
  }
}

int32_t ForestPacking::find(int32_t forest, int32_t node) {
  int32_t* skip = skip_.data() + at(forest, 0);
  while (skip[node] != node) node = skip[node] = skip[skip[node]];
  return node;
}

// Every tree edge between the ends of `edge` could leave the forest if `edge` came in. Returns the first of them that some forest
// takes, else none.
ForestPacking::Insertion ForestPacking::label_path(int32_t forest, int32_t edge, std::vector<int32_t>& queue) {
  if (labelled_[forest] != search_) {
    labelled_[forest] = search_;
    std::iota(skip_.begin() + at(forest, 0), skip_.begin() + at(forest, 0) + nodes_, 0);
  }
  int32_t u = find(forest, edges_[edge].u);
  int32_t v = find(forest, edges_[edge].v);
  while (u != v) {
    if (depth_[at(forest, u)] < depth_[at(forest, v)]) std::swap(u, v);
    const int32_t freed = parent_edge_[at(forest, u)];
    if (!reached_[freed]) {
      reached_[freed] = 1;
      from_edge_[freed] = edge;
      from_forest_[freed] = forest;
      queue.push_back(freed);
      if (const int32_t taker = taker_of(freed); taker != kNone) return {freed, taker};
    }
    skip_[at(forest, u)] = parent_[at(forest, u)];
    u = find(forest, u);
  }
  return {kNone, kNone};
}

// A forest of several components of which the edge joins two.
int32_t ForestPacking::taker_of(int32_t edge) const {
  const auto [u, v] = edges_[edge];
  for (const int32_t forest : unfinished_) {
    if (component_[seat(forest, u)] != component_[seat(forest, v)]) return forest;
  }
  return kNone;
}

ForestPacking::Insertion ForestPacking::find_exchange() {
  const size_t m = edges_.size();
  ++search_;
  reached_.assign(m, 0);
  from_edge_.assign(m, kNone);
  from_forest_.assign(m, kNone);
  std::vector<int32_t> queue;
  queue.reserve(m);
  for (size_t e = 0; e < m; ++e) {
    if (used_[e] >= capacity_[e]) continue;
    const auto edge = static_cast<int32_t>(e);
    if (const int32_t taker = taker_of(edge); taker != kNone) return {edge, taker};
    reached_[e] = 1;
    queue.push_back(edge);
  }
  // Edges are looked at in the order of their distance, so the first that a forest takes ends a shortest path.
  for (size_t head = 0; head < queue.size(); ++head) {
    const int32_t edge = queue[head];
    for (int32_t forest = 0; forest < forests_; ++forest) {
      if (member_[index(forest, edge)]) continue;  // a second copy only closes a cycle with the first
      if (const Insertion found = label_path(forest, edge, queue); found.edge != kNone) return found;
    }
  }
  return {kNone, kNone};
}

bool ForestPacking::augment() {
  std::erase_if(unfinished_, [this](int32_t forest) { return component_size_[at(forest, component_[seat(forest, 0)])] == nodes_; });
  const Insertion last = find_exchange();
  if (last.edge == kNone) {
    record_partition();
    return false;
  }
  apply(last.edge, last.forest);
  return true;
}

// `edge` goes into `forest`; it comes out of the forest it was freed from, where its predecessor takes its place, and so on.
void ForestPacking::apply(int32_t edge, int32_t forest) {
  member_[index(forest, edge)] = 1;
  std::vector<int32_t> changed{forest};
  while (from_edge_[edge] != kNone) {
    const int32_t source = from_forest_[edge];
    member_[index(source, edge)] = 0;
    edge = from_edge_[edge];
    member_[index(source, edge)] = 1;
    changed.push_back(source);
  }
  ++used_[edge];
  ++size_;
  for (const int32_t f : changed) orient(f, component_[seat(f, 0)]);
}

// Nodes joined by reached edges form a part: within it every forest is connected, and all edges between parts are used up.
void ForestPacking::record_partition() {
  std::vector<int32_t> leader(nodes_);
  std::iota(leader.begin(), leader.end(), 0);
  const auto root = [&leader](int32_t v) {
    while (leader[v] != v) v = leader[v] = leader[leader[v]];
    return v;
  };
  for (size_t e = 0; e < edges_.size(); ++e) {
    if (reached_[e]) leader[root(edges_[e].u)] = root(edges_[e].v);
  }
  part_.assign(nodes_, kNone);
  int32_t parts = 0;
  for (int32_t v = 0; v < nodes_; ++v) {
    const int32_t r = root(v);
    if (part_[r] == kNone) part_[r] = parts++;
    part_[v] = part_[r];
  }
}

bool ForestPacking::below(int32_t forest, int32_t node, int32_t ancestor) const {
  const int32_t depth = depth_[at(forest, ancestor)];
  while (depth_[at(forest, node)] > depth) node = parent_[at(forest, node)];
  return node == ancestor;
}

bool ForestPacking::reconnects(int32_t forest, int32_t out, int32_t in) const {
  const auto [a, b] = edges_[out];
  const int32_t top = parent_edge_[at(forest, a)] == out ? a : b;
  return below(forest, edges_[in].u, top) != below(forest, edges_[in].v, top);
}

void ForestPacking::rehang(int32_t forest, int32_t out, int32_t in) {
  int32_t* parent = parent_.data() + at(forest, 0);
  int32_t* parent_edge = parent_edge_.data() + at(forest, 0);
  int32_t* depth = depth_.data() + at(forest, 0);
  const auto [a, b] = edges_[out];
  const int32_t top = parent_edge[a] == out ? a : b;
  auto [start, above] = edges_[in];
  if (!below(forest, start, top)) std::swap(start, above);
  member_[index(forest, out)] = 0;
  member_[index(forest, in)] = 1;
  // What led from `start` up to the top now leads down.
  for (int32_t node = start, onto = above, edge = in;;) {
    const int32_t next = parent[node], freed = parent_edge[node];
    parent[node] = onto;
    parent_edge[node] = edge;
    if (freed == out) break;
    onto = node;
    node = next;
    edge = freed;
  }
  moved_.assign(1, start);
  moved_from_.clear();
  for (size_t head = 0; head < moved_.size(); ++head) {
    const int32_t node = moved_[head];
    moved_from_.push_back(depth[node]);
    depth[node] = depth[parent[node]] + 1;
    for (const int32_t e : incident_[node]) {
      const int32_t child = edges_[e].u == node ? edges_[e].v : edges_[e].u;
      if (parent_edge[child] == e) moved_.push_back(child);
    }
  }
}

}  // namespace certree
