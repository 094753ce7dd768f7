#include "steiner_packing.hpp"

#include <algorithm>
#include <limits>

namespace certree {
namespace {

constexpr int64_t kUnit = 16;   // price of a free arc; up to twice that for a full one
constexpr int64_t kExcess = 8;  // times that for each tree too many
constexpr int32_t kSample = 6;  // ends from which distances are taken
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

// The cheaper one of two: without a node that must be branched at, and with the one that is nearest to the ends.
std::vector<SteinerPacking::Path> SteinerPacking::lay(int32_t root) {
  for (size_t arc = 0; arc < price_.size(); ++arc) price_[arc] = price_of_both(static_cast<int32_t>(arc));
  auto plain = grow(root >= 0 ? root : ends_[random_.below(static_cast<int32_t>(ends_.size()))], -1);
  const int32_t hub = middle();
  if (plain.empty() || hub < 0) return plain;
  auto branched = grow(root >= 0 ? root : hub, hub);
  return cost(branched) < cost(plain) ? branched : plain;
}

int64_t SteinerPacking::cost(const std::vector<Path>& tree) const {
  int64_t sum = 0;
  for (const auto& [node, arcs] : tree) {
    for (const int32_t arc : arcs) sum += price_[arc];
  }
  return sum;
}

// A node that holds data, no end, with the least sum of distances from some of the ends; -1 where there is none.
int32_t SteinerPacking::middle() {
  const auto count = static_cast<int32_t>(ends_.size()), nodes = network_.nodes();
  std::vector<int64_t> sum(network_.holds.size());
  const int32_t first = random_.below(count);
  for (int32_t number = 0; number < std::min(count, kSample); ++number) {
    search(ends_[(first + number) % count]);
    for (int32_t node = 0; node < nodes; ++node) sum[node] += std::min(far_[node], kFar / kSample);
  }
  int32_t best = -1;
  const int32_t start = random_.below(nodes);
  for (int32_t number = 0; number < nodes; ++number) {
    const int32_t node = (start + number) % nodes;
    if (network_.holds[node] && !is_end_[node] && (best < 0 || sum[node] < sum[best])) best = node;
  }
  return best;
}

// Prices of shortest paths from a node to all others, in far_.
void SteinerPacking::search(int32_t start) {
  std::fill(far_.begin(), far_.end(), kFar);
  Queue queue;
  far_[start] = 0;
  queue.push({0, start});
  while (!queue.empty()) {
    const auto [reached, node] = queue.top();
    queue.pop();
    if (reached == far_[node]) relax(queue, reached, node);
  }
}

void SteinerPacking::relax(Queue& queue, int64_t cost, int32_t node) {
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

// The nearest end is joined to the tree until none is left, after `hub` where there is one; no paths where an end is out of reach.
// A hub that the tree does not branch at is left out again.
std::vector<SteinerPacking::Path> SteinerPacking::grow(int32_t root, int32_t hub) {
  std::vector<Path> tree;
  std::vector<uint8_t> inside(network_.holds.size());
  inside[root] = 1;
  if (hub >= 0 && hub != root && !join(tree, inside, {hub})) return {};
  if (!join(tree, inside, ends_)) return {};
  while (true) {  // from the last one on, so that what stands above a path that goes is looked at again
    std::vector<uint8_t> above(network_.holds.size());
    for (const auto& [node, arcs] : tree) above[tail_[arcs.front()]] = 1;
    const auto idle =
        std::find_if(tree.begin(), tree.end(), [&](const Path& path) { return !is_end_[path.first] && !above[path.first]; });
    if (idle == tree.end()) return tree;
    tree.erase(idle);
  }
}

bool SteinerPacking::join(std::vector<Path>& tree, std::vector<uint8_t>& inside, const std::vector<int32_t>& wanted) {
  std::fill(far_.begin(), far_.end(), kFar);
  std::fill(before_.begin(), before_.end(), -1);
  std::vector<uint8_t> is_wanted(network_.holds.size());
  size_t left = 0;
  for (const int32_t node : wanted) {
    is_wanted[node] = 1;
    left += !inside[node];
  }
  Queue queue;
  for (int32_t node = 0; node < network_.nodes(); ++node) {
    if (!inside[node]) continue;
    far_[node] = 0;
    queue.push({0, node});
  }
  while (left > 0) {
    if (queue.empty()) return false;
    const auto [cost, node] = queue.top();
    queue.pop();
    if (cost > far_[node]) continue;
    if (!is_wanted[node] || inside[node]) {
      relax(queue, cost, node);
      continue;
    }
    for (int32_t here = node; !inside[here];) {  // the path becomes part of the tree: what holds data on it is at no distance
      left -= is_wanted[here];
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
  }
  return true;
}

SteinerTrees SteinerPacking::pack(const std::vector<int32_t>& roots, int32_t turns) {
  std::vector<std::vector<Path>> laid(roots.size());
  std::vector<size_t> again(roots.size());
  for (size_t tree = 0; tree < roots.size(); ++tree) again[tree] = tree;
  for (int32_t turn = 0; turn < turns && !again.empty(); ++turn) {
    for (const size_t tree : again) {
      take(laid[tree], -1);
      laid[tree] = lay(roots[tree]);
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
