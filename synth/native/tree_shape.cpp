#include "tree_shape.hpp"

#include <algorithm>

#include "random.hpp"

namespace certree {

namespace {

using Adjacency = std::vector<std::vector<std::pair<int32_t, int32_t>>>;  // node -> (edge, other end)

Adjacency adjacency_of(const ForestPacking& packing) {
  Adjacency adjacency(packing.nodes());
  const auto& edges = packing.edges();
  for (size_t e = 0; e < edges.size(); ++e) {
    adjacency[edges[e].u].emplace_back(static_cast<int32_t>(e), edges[e].v);
    adjacency[edges[e].v].emplace_back(static_cast<int32_t>(e), edges[e].u);
  }
  return adjacency;
}

std::vector<std::vector<int32_t>> layers_from(const Adjacency& adjacency, int32_t root) {
  std::vector<std::vector<int32_t>> layers{{root}};
  std::vector<uint8_t> seen(adjacency.size(), 0);
  seen[root] = 1;
  while (!layers.back().empty()) {
    std::vector<int32_t> next;
    for (const int32_t v : layers.back()) {
      for (const auto& [e, w] : adjacency[v]) {
        if (!seen[w]) {
          seen[w] = 1;
          next.push_back(w);
        }
      }
    }
    layers.push_back(std::move(next));
  }
  layers.pop_back();
  return layers;
}

int32_t deepest(const ForestPacking& packing, int32_t forest) {
  int32_t best = 0;
  for (int32_t v = 1; v < packing.nodes(); ++v) {
    if (packing.depth(forest, v) > packing.depth(forest, best)) best = v;
  }
  return best;
}

// Leaves the tree rooted at one end of a longest path; the other end is `deepest`.
int32_t diameter_of(ForestPacking& packing, int32_t forest) {
  packing.orient(forest, deepest(packing, forest));
  return packing.depth(forest, deepest(packing, forest));
}

std::vector<int32_t> tree_path(const ForestPacking& packing, int32_t forest, int32_t edge) {
  std::vector<int32_t> path;
  auto [u, v] = packing.edges()[edge];
  while (u != v) {
    if (packing.depth(forest, u) < packing.depth(forest, v)) std::swap(u, v);
    path.push_back(packing.parent_edge(forest, u));
    u = packing.parent(forest, u);
  }
  return path;
}

class Shortener {
 public:
  Shortener(ForestPacking& packing, int32_t target, uint64_t seed)
      : packing_(packing), target_(target), random_(seed), diameter_(packing.forests()) {
    for (int32_t f = 0; f < packing.forests(); ++f) {
      diameter_[f] = diameter_of(packing, f);
      left_ += excess(diameter_[f]);
    }
  }

  bool done() const { return left_ == 0; }

  void move() {
    const int32_t first = long_tree();
    const int32_t in = random_.below(static_cast<int32_t>(packing_.edges().size()));
    if (packing_.contains(first, in)) return;
    const auto cycle = tree_path(packing_, first, in);
    const int32_t out = cycle[random_.below(static_cast<int32_t>(cycle.size()))];
    if (packing_.spare(in)) {
      replace(first, out, in);
    } else {
      swap(first, out, in);
    }
  }

 private:
  int64_t excess(int32_t diameter) const {
    const int64_t over = std::max(0, diameter - target_);
    return over * over;
  }

  // The longest of three random trees: mostly the long ones are worth a move.
  int32_t long_tree() {
    int32_t best = random_.below(packing_.forests());
    for (int i = 0; i < 2; ++i) {
      const int32_t other = random_.below(packing_.forests());
      if (diameter_[other] > diameter_[best]) best = other;
    }
    return best;
  }

  void replace(int32_t first, int32_t out, int32_t in) {
    packing_.replace(first, out, in);
    const int32_t now = reshaped(first);
    if (now <= diameter_[first]) {
      settle(first, now);
    } else {
      packing_.replace(first, in, out);
      reshaped(first);
    }
  }

  void swap(int32_t first, int32_t out, int32_t in) {
    const int32_t second = random_.below(packing_.forests());
    if (second == first || !packing_.contains(second, in) || packing_.contains(second, out)) return;
    const auto cycle = tree_path(packing_, second, out);
    if (std::find(cycle.begin(), cycle.end(), in) == cycle.end()) return;
    packing_.exchange(first, second, out, in);
    const int32_t now_first = reshaped(first), now_second = reshaped(second);
    if (excess(now_first) + excess(now_second) <= excess(diameter_[first]) + excess(diameter_[second])) {
      settle(first, now_first);
      settle(second, now_second);
    } else {
      packing_.exchange(first, second, in, out);
      reshaped(first);
      reshaped(second);
    }
  }

  void settle(int32_t forest, int32_t diameter) {
    left_ += excess(diameter) - excess(diameter_[forest]);
    diameter_[forest] = diameter;
  }

  int32_t reshaped(int32_t forest) {
    packing_.orient(forest, 0);
    return diameter_of(packing_, forest);
  }

  ForestPacking& packing_;
  int32_t target_;
  int64_t left_ = 0;
  Random random_;
  std::vector<int32_t> diameter_;
};

}  // namespace

void grow_shallow(ForestPacking& packing, const std::vector<int32_t>& roots) {
  const auto adjacency = adjacency_of(packing);
  const auto& edges = packing.edges();
  std::vector<int64_t> load(edges.size(), 0);
  std::vector<std::vector<std::vector<int32_t>>> layers;
  size_t depth = 0;
  for (const int32_t root : roots) {
    layers.push_back(layers_from(adjacency, root));
    depth = std::max(depth, layers.back().size());
  }
  for (size_t layer = 1; layer < depth; ++layer) {
    for (size_t f = 0; f < roots.size(); ++f) {
      if (layer >= layers[f].size()) continue;
      std::vector<uint8_t> before(packing.nodes(), 0);
      for (const int32_t v : layers[f][layer - 1]) before[v] = 1;
      for (const int32_t v : layers[f][layer]) {
        int32_t best = -1;
        for (const auto& [e, w] : adjacency[v]) {
          if (before[w] && packing.spare(e) && (best < 0 || load[e] < load[best])) best = e;
        }
        if (best >= 0 && packing.insert(static_cast<int32_t>(f), best)) ++load[best];
      }
    }
  }
}

void shorten(ForestPacking& packing, int32_t target, int64_t moves, uint64_t seed) {
  Shortener shortener(packing, target, seed);
  for (int64_t i = 0; i < moves && !shortener.done(); ++i) shortener.move();
}

std::vector<int32_t> root_at_centres(ForestPacking& packing) {
  std::vector<int32_t> roots;
  for (int32_t f = 0; f < packing.forests(); ++f) {
    packing.orient(f, 0);
    const int32_t diameter = diameter_of(packing, f);
    int32_t centre = deepest(packing, f);
    for (int32_t i = 0; i < diameter / 2; ++i) centre = packing.parent(f, centre);
    packing.orient(f, centre);
    roots.push_back(centre);
  }
  return roots;
}

}  // namespace certree
