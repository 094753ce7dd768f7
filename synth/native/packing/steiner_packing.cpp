#include "steiner_packing.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <queue>

namespace certree {
namespace {

constexpr int64_t kUnit = 16;   // price of a free arc; up to twice that for a full one
constexpr int64_t kExcess = 8;  // times that for each tree too many
constexpr int64_t kFar = std::numeric_limits<int64_t>::max();

}  // namespace

SteinerPacking::SteinerPacking(SteinerNetwork network, std::vector<int32_t> ends, uint64_t seed)
    : network_(std::move(network)),
      ends_(std::move(ends)),
      tail_(network_.head.size()),
      is_end_(network_.holds.size()),
      load_(network_.head.size()),
      past_(network_.head.size()),
      price_(network_.head.size()),
      far_(network_.holds.size()),
      before_(network_.holds.size()),
      random_(seed) {
  for (const int32_t end : ends_) is_end_[end] = 1;
  for (int32_t node = 0; node < network_.nodes(); ++node) {
    for (int32_t arc = network_.offset[node]; arc < network_.offset[node + 1]; ++arc) tail_[arc] = node;
  }
}

int64_t SteinerPacking::price(int32_t arc) const {
  const int64_t load = load_[arc], room = network_.capacity[arc];
  const int64_t excess = std::max<int64_t>(0, load + 1 - room);
  return (kUnit + kUnit * std::min(load, room) / room + kUnit * kExcess * excess) * (1 + past_[arc]);
}

int64_t SteinerPacking::price_of_both(int32_t arc) const {
  const int32_t twin = network_.twin[arc];
  return price(arc) + (twin < 0 ? 0 : price(twin));
}

void SteinerPacking::take(const std::vector<Path>& tree, int64_t units) {
  for (const auto& [node, arcs] : tree) {
    for (const int32_t arc : arcs) {
      load_[arc] += units;
      if (network_.twin[arc] >= 0) load_[network_.twin[arc]] += units;
    }
  }
}

bool SteinerPacking::overfull(const std::vector<Path>& tree) const {
  for (const auto& [node, arcs] : tree) {
    for (const int32_t arc : arcs) {
      if (overfull(arc) || (network_.twin[arc] >= 0 && overfull(network_.twin[arc]))) return true;
    }
  }
  return false;
}

// The nearest end is joined to the tree until none is left; no paths where one is out of reach.
std::vector<SteinerPacking::Path> SteinerPacking::lay(int32_t root) {
  std::vector<Path> tree;
  std::vector<uint8_t> inside(network_.holds.size());
  std::fill(far_.begin(), far_.end(), kFar);
  std::fill(before_.begin(), before_.end(), -1);
  for (size_t arc = 0; arc < price_.size(); ++arc) price_[arc] = price_of_both(static_cast<int32_t>(arc));
  size_t left = ends_.size() - is_end_[root];
  using Entry = std::pair<int64_t, int32_t>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
  inside[root] = 1;
  far_[root] = 0;
  queue.push({0, root});
  while (left > 0) {
    if (queue.empty()) return {};
    const auto [cost, node] = queue.top();
    queue.pop();
    if (cost > far_[node]) continue;
    if (is_end_[node] && !inside[node]) {
      for (int32_t here = node; !inside[here];) {  // the path becomes part of the tree: what holds data on it is at no distance
        left -= is_end_[here];
        inside[here] = 1;
        far_[here] = 0;
        queue.push({0, here});
        std::vector<int32_t> arcs{before_[here]};
        while (!network_.holds[tail_[arcs.back()]]) arcs.push_back(before_[tail_[arcs.back()]]);
        const int32_t above = tail_[arcs.back()];
        std::reverse(arcs.begin(), arcs.end());
        tree.emplace_back(here, std::move(arcs));
        here = above;
      }
      continue;
    }
    for (int32_t arc = network_.offset[node]; arc < network_.offset[node + 1]; ++arc) {
      const int32_t next = network_.head[arc];
      const int64_t reached = cost + price_[arc];
      if (reached < far_[next]) {
        far_[next] = reached;
        before_[next] = arc;
        queue.push({reached, next});
      }
    }
  }
  return tree;
}

SteinerTrees SteinerPacking::pack(const std::vector<int32_t>& roots, int32_t turns) {
  std::vector<std::vector<Path>> laid(roots.size());
  std::vector<size_t> again(roots.size());
  for (size_t tree = 0; tree < roots.size(); ++tree) again[tree] = tree;
  for (int32_t turn = 0; turn < turns && !again.empty(); ++turn) {
    for (const size_t tree : again) {
      take(laid[tree], -1);
      laid[tree] = lay(roots[tree] >= 0 ? roots[tree] : ends_[random_.below(static_cast<int32_t>(ends_.size()))]);
      if (laid[tree].empty()) return {};
      take(laid[tree], 1);
    }
    again.clear();
    for (size_t tree = 0; tree < roots.size(); ++tree) {
      if (overfull(laid[tree])) again.push_back(tree);
    }
    for (size_t arc = 0; arc < past_.size(); ++arc) past_[arc] += std::max<int64_t>(0, load_[arc] - network_.capacity[arc]);
  }
  SteinerTrees found;
  if (!again.empty()) return found;
  for (size_t tree = 0; tree < roots.size(); ++tree) {
    for (const auto& [node, arcs] : laid[tree]) {
      found.tree.push_back(static_cast<int32_t>(tree));
      found.node.push_back(node);
      found.arc.insert(found.arc.end(), arcs.begin(), arcs.end());
      found.offset.push_back(static_cast<int32_t>(found.arc.size()));
    }
  }
  return found;
}

}  // namespace certree
