#include "tree_shape.hpp"

#include <algorithm>

#include "../random.hpp"

namespace certree {

namespace {

constexpr int32_t kDetour = 4;  // a move may hang a node this much deeper, less one, when other trees gain by it
constexpr int32_t kSeen = 16;   // trees that the longest is chosen from
constexpr int32_t kTakers = 2;  // trees that are tried for an edge that comes free

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

// Roots the tree at its centre; returns the centre.
int32_t root_at_centre(ForestPacking& packing, int32_t forest) {
  packing.orient(forest, 0);
  packing.orient(forest, deepest(packing, forest));
  int32_t centre = deepest(packing, forest);
  for (int32_t i = packing.depth(forest, centre) / 2; i > 0; --i) centre = packing.parent(forest, centre);
  packing.orient(forest, centre);
  return centre;
}

// What counts is how far nodes lie below the height that is aimed at, squared.
class Shortener {
 public:
  Shortener(ForestPacking& packing, const std::vector<int32_t>& roots, int32_t height, uint64_t seed)
      : packing_(packing), adjacency_(adjacency_of(packing)), height_(height), random_(seed), excess_(packing.forests()) {
    for (int32_t f = 0; f < packing.forests(); ++f) {
      packing.orient(f, roots[f]);
      for (int32_t v = 0; v < packing.nodes(); ++v) excess_[f] += excess(packing.depth(f, v));
      left_ += excess_[f];
    }
  }

  bool done() const { return left_ == 0; }

  // A node above one that lies too deep is hung to a neighbour, mostly to one nearer to the root.
  void move() {
    const int32_t first = long_tree();
    int32_t node = deep_node(first);
    for (int32_t up = random_.below(packing_.depth(first, node)); up > 0; --up) node = packing_.parent(first, node);
    const auto [in, other] = adjacency_[node][random_.below(static_cast<int32_t>(adjacency_[node].size()))];
    const int32_t out = packing_.parent_edge(first, node);
    const int32_t deeper = random_.below(kDetour);
    if (in == out || packing_.depth(first, other) >= packing_.depth(first, node) + deeper) return;
    if (!packing_.reconnects(first, out, in)) return;  // the neighbour hangs below the node
    if (packing_.spare(in)) {
      replace(first, out, in);
    } else {
      swap(first, out, in);
    }
  }

 private:
  // The one farthest from its aim of some random trees.
  int32_t long_tree() {
    int32_t best = random_.below(packing_.forests());
    for (int i = 1; i < kSeen; ++i) {
      const int32_t other = random_.below(packing_.forests());
      if (excess_[other] > excess_[best]) best = other;
    }
    return best;
  }

  // The deepest of some random nodes.
  int32_t deep_node(int32_t forest) {
    int32_t best = random_.below(packing_.nodes());
    for (int i = 0; i < 7 || packing_.depth(forest, best) == 0; ++i) {
      const int32_t other = random_.below(packing_.nodes());
      if (packing_.depth(forest, other) > packing_.depth(forest, best)) best = other;
    }
    return best;
  }

  void replace(int32_t first, int32_t out, int32_t in) {
    const int64_t gain = rehung(first, out, in);
    if (gain < 0) {
      rehung(first, in, out);
      return;
    }
    packing_.transfer_use(out, in);
    settle(first, gain);
  }

  // Another tree that has `in` takes `out` for it: one of the first, from a random one on, that stay trees.
  void swap(int32_t first, int32_t out, int32_t in) {
    const int32_t start = random_.below(packing_.forests());
    int64_t gain = 0;
    int32_t tries = 0;
    for (int32_t k = 0; k < packing_.forests(); ++k) {
      const int32_t second = start + k < packing_.forests() ? start + k : start + k - packing_.forests();
      if (second == first || !packing_.contains(second, in) || packing_.contains(second, out)) continue;
      if (!packing_.reconnects(second, in, out)) continue;
      if (tries == 0) gain = rehung(first, out, in);
      const int64_t gain_second = rehung(second, in, out);
      if (gain + gain_second >= 0) {
        settle(first, gain);
        settle(second, gain_second);
        return;
      }
      rehung(second, out, in);
      if (++tries == kTakers) break;
    }
    if (tries > 0) rehung(first, in, out);
  }

  void settle(int32_t forest, int64_t gain) {
    left_ -= gain;
    excess_[forest] -= gain;
  }

  // What the tree gains by it.
  int64_t rehung(int32_t forest, int32_t out, int32_t in) {
    packing_.rehang(forest, out, in);
    const auto& moved = packing_.moved();
    int64_t gain = 0;
    for (size_t i = 0; i < moved.size(); ++i) gain += excess(packing_.moved_from()[i]) - excess(packing_.depth(forest, moved[i]));
    return gain;
  }

  int64_t excess(int32_t depth) const {
    const int64_t over = std::max(0, depth - height_);
    return over * over;
  }

  ForestPacking& packing_;
  Adjacency adjacency_;
  int32_t height_;
  int64_t left_ = 0;
  Random random_;
  std::vector<int64_t> excess_;
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

void shorten(ForestPacking& packing, const std::vector<int32_t>& roots, int32_t height, int64_t moves, uint64_t seed) {
  Shortener shortener(packing, roots, height, seed);
  for (int64_t i = 0; i < moves && !shortener.done(); ++i) shortener.move();
}

std::vector<int32_t> root_at_centres(ForestPacking& packing) {
  std::vector<int32_t> roots;
  for (int32_t f = 0; f < packing.forests(); ++f) roots.push_back(root_at_centre(packing, f));
  return roots;
}

}  // namespace certree
