#include "pair_router.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "../random.hpp"
#include "shortest_paths.hpp"

namespace certree {
namespace {

constexpr int64_t kFull = 128;      // fill of a class that carries what fits into `goal` rounds
constexpr int64_t kFullest = 180;   // larger fills weigh no more: its eighth power fits into 63 bits
constexpr int64_t kHop = 16;        // weight of an empty arc; a full one weighs 2^12 more
constexpr int64_t kStep = 512;      // goals come nearer to the least by one part in this many, at least by 1
constexpr int64_t kOver = 1 << 14;  // weight of a class that would exceed its rounds, and what it remembers of each such sweep

class Router {
 public:
  Router(const RouterNetwork& network, int64_t goal)
      : network_(network),
        goal_(goal),
        hops_(network.offset.size() - 1),
        load_(network.capacity.size()),
        history_(network.capacity.size()),
        paths_(nodes()),
        empty_(network.length.empty() ? std::vector<int64_t>(network.capacity.size(), kHop) : network.length) {}

  // From now on only arcs that lead nearer to the target, or all of them.
  void keep_to_shortest(bool only) { shortest_only_ = only; }

  // Whether there is a path; `size` is added to the load of its classes.
  bool route(int32_t source, int32_t target, int64_t size, std::vector<int32_t>& path) {
    const auto length = [&](int32_t node, int32_t arc) -> int64_t {
      if (shortest_only_ && hops(network_.head[arc], target) != hops(node, target) - 1) return -1;
      return weight(network_.kind[arc], size);
    };
    paths_.search(network_, source, length, [&](int32_t node) { return node == target; });
    path = paths_.path(source, target);
    if (paths_.distance(target) < 0) return false;
    for (const auto arc : path) load_[network_.kind[arc]] += size;
    return true;
  }

  void remove(const std::vector<int32_t>& path, int64_t size) {
    for (const auto arc : path) load_[network_.kind[arc]] -= size;
  }

  int64_t period() const {
    int64_t most = 0;
    for (size_t c = 0; c < load_.size(); ++c) most = std::max(most, rounds(load_[c], network_.capacity[c]));
    return most;
  }

  // Whether a path passes a class that is as full as the fullest.
  bool at_peak(const std::vector<int32_t>& path, int64_t period) const {
    return std::any_of(path.begin(), path.end(), [&](int32_t arc) {
      return rounds(load_[network_.kind[arc]], network_.capacity[network_.kind[arc]]) == period;
    });
  }

  void aim_at(int64_t goal) { goal_ = goal; }

  // Classes that exceed their rounds weigh more from now on, so that paths with a choice leave them (negotiated congestion).
  void remember() {
    for (size_t c = 0; c < load_.size(); ++c) {
      if (load_[c] > network_.capacity[c] * goal_) history_[c] += kOver >> 8;
    }
  }

 private:
  size_t nodes() const { return network_.offset.size() - 1; }
  static int64_t rounds(int64_t load, int64_t capacity) { return (load + capacity - 1) / capacity; }

  int64_t weight(int32_t kind, int64_t size) const {
    int64_t fill = std::min(kFullest, (load_[kind] + size) * kFull / (network_.capacity[kind] * goal_));
    for (int i = 0; i < 3; ++i) fill *= fill;
    const bool over = load_[kind] + size > network_.capacity[kind] * goal_;
    return empty_[kind] + (fill >> 44) + history_[kind] + (over ? kOver : 0);
  }

  // Arcs on the shortest path from a node to a target; a search backwards from each target that is asked for.
  int32_t hops(int32_t node, int32_t target) {
    auto& row = hops_[target];
    if (row.empty()) {
      if (into_.empty()) find_tails();
      row.assign(nodes(), -1);
      row[target] = 0;
      std::vector<int32_t> reached{target};
      for (size_t i = 0; i < reached.size(); ++i) {
        for (const auto tail : into_[reached[i]]) {
          if (row[tail] >= 0) continue;
          row[tail] = row[reached[i]] + 1;
          reached.push_back(tail);
        }
      }
    }
    return row[node];
  }

  void find_tails() {
    into_.resize(nodes());
    for (int32_t node = 0; node < static_cast<int32_t>(nodes()); ++node) {
      for (int32_t arc = network_.offset[node]; arc < network_.offset[node + 1]; ++arc) {
        into_[network_.head[arc]].push_back(node);
      }
    }
  }

  const RouterNetwork& network_;
  int64_t goal_;
  bool shortest_only_ = true;
  std::vector<std::vector<int32_t>> hops_, into_;  // by target; by node
  std::vector<int64_t> load_, history_;
  ShortestPaths paths_;
  std::vector<int64_t> empty_;
};

// At random, larger ones first.
void shuffle(std::vector<int32_t>& order, const std::vector<int64_t>& size, Random& random) {
  for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(static_cast<int32_t>(i))]);
  std::stable_sort(order.begin(), order.end(), [&](int32_t one, int32_t other) { return size[one] > size[other]; });
}

PairPaths packed(const std::vector<std::vector<int32_t>>& paths, int64_t period) {
  PairPaths result;
  result.period = period;
  for (const auto& path : paths) {
    result.arc.insert(result.arc.end(), path.begin(), path.end());
    result.offset.push_back(static_cast<int32_t>(result.arc.size()));
  }
  return result;
}

}  // namespace

PairPaths route_pairs(const RouterNetwork& network, const RouterPairs& pairs, int32_t sweeps, int64_t goal, uint64_t seed,
                      const std::function<void()>& each_sweep) {
  const auto& [source, target, size] = pairs;
  Random random(seed);
  Router router(network, goal);
  router.keep_to_shortest(network.length.empty());
  std::vector<int32_t> order(source.size());
  std::iota(order.begin(), order.end(), 0);
  std::vector<std::vector<int32_t>> paths(source.size());
  shuffle(order, size, random);
  for (const auto i : order) {
    if (!router.route(source[i], target[i], size[i], paths[i])) return {};
  }
  auto best = packed(paths, router.period());
  for (int32_t sweep = 0; sweep < sweeps && best.period > goal; ++sweep) {
    each_sweep();
    if (sweep == sweeps / 2) router.keep_to_shortest(false);
    shuffle(order, size, random);
    const int64_t peak = router.period();
    for (const auto i : order) {
      if (sweep % 2 == 1 && !router.at_peak(paths[i], peak)) continue;
      router.remove(paths[i], size[i]);
      router.route(source[i], target[i], size[i], paths[i]);
    }
    if (router.period() < best.period) best = packed(paths, router.period());
    router.remember();
    router.aim_at(std::max(goal, best.period - std::max<int64_t>(1, goal / kStep)));
  }
  return best;
}

}  // namespace certree
