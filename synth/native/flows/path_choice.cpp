#include "path_choice.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "../random.hpp"
#include "shortest_paths.hpp"

namespace certree {
namespace {

constexpr int64_t kHop = 1 << 16;      // length of an arc
constexpr int32_t kTie = 1 << 10;      // what a draw adds to it: decides between paths of equally many arcs, up to 64 of them
constexpr int32_t kDetour = 3 * kHop;  // in the other draws: a path of up to 4 times as many arcs may be the shortest
constexpr int64_t kFull = 128;         // fill of an arc that carries what fits into `goal` rounds
constexpr int64_t kFullest = 180;      // larger fills weigh no more: its eighth power fits into 63 bits
constexpr int64_t kEmpty = 16;         // weight of an empty arc; a full one weighs 2^12 more
constexpr int64_t kOver = 1 << 14;     // weight of an arc that would exceed its rounds
constexpr int64_t kMemory = 64;        // and what it remembers of each sweep in which it did
constexpr int64_t kStep = 256;         // goals come nearer to the least by one part in kStep

class Choice {
 public:
  Choice(const PreparedPaths& prepared, const std::vector<int64_t>& capacity, int64_t goal)
      : prepared_(prepared), capacity_(capacity), goal_(goal), load_(capacity.size()), history_(capacity.size()) {}

  int32_t choose(int32_t pair, int64_t size) const {
    int32_t best = -1;
    int64_t least = std::numeric_limits<int64_t>::max();
    for (int32_t path = prepared_.first[pair]; path < prepared_.first[pair + 1]; ++path) {
      int64_t sum = 0;
      for (int32_t i = prepared_.offset[path]; i < prepared_.offset[path + 1] && sum < least; ++i) {
        sum += weight(prepared_.arc[i], size);
      }
      if (sum >= least) continue;
      best = path;
      least = sum;
    }
    return best;
  }

  void add(int32_t path, int64_t size) {
    for (int32_t i = prepared_.offset[path]; i < prepared_.offset[path + 1]; ++i) load_[prepared_.arc[i]] += size;
  }

  int64_t period() const {
    int64_t most = 0;
    for (size_t arc = 0; arc < load_.size(); ++arc) most = std::max(most, rounds(arc));
    return most;
  }

  // Whether a path passes an arc that takes that many rounds or more.
  bool passes(int32_t path, int64_t least) const {
    for (int32_t i = prepared_.offset[path]; i < prepared_.offset[path + 1]; ++i) {
      if (rounds(prepared_.arc[i]) >= least) return true;
    }
    return false;
  }

  void aim_at(int64_t goal) { goal_ = goal; }

  void remember() {
    for (size_t arc = 0; arc < load_.size(); ++arc) {
      if (load_[arc] > capacity_[arc] * goal_) history_[arc] += kMemory;
    }
  }

 private:
  int64_t rounds(size_t arc) const { return (load_[arc] + capacity_[arc] - 1) / capacity_[arc]; }

  int64_t weight(int32_t arc, int64_t size) const {
    const int64_t load = load_[arc] + size, room = capacity_[arc] * goal_;
    int64_t fill = std::min(kFullest, load * kFull / room);
    for (int i = 0; i < 3; ++i) fill *= fill;
    return kEmpty + (fill >> 44) + history_[arc] + (load > room ? kOver : 0);
  }

  const PreparedPaths& prepared_;
  const std::vector<int64_t>& capacity_;
  int64_t goal_;
  std::vector<int64_t> load_, history_;
};

}  // namespace

PreparedPaths prepare_paths(const RouterNetwork& network, const std::vector<int32_t>& ends, int32_t tries, uint64_t seed,
                            const std::function<void()>& each_source) {
  std::vector<int64_t> length(network.head.size());
  ShortestPaths paths(network.offset.size() - 1);
  PreparedPaths result;
  for (const auto source : ends) {
    each_source();
    Random random(seed + static_cast<uint64_t>(source));
    std::vector<std::vector<std::vector<int32_t>>> found(ends.size());
    for (int32_t draw = 0; draw < tries; ++draw) {
      for (auto& one : length) one = kHop + random.below(2 * draw < tries ? kTie : kDetour);
      paths.search(network, source, [&](int32_t, int32_t arc) { return length[arc]; }, [](int32_t) { return false; });
      for (size_t i = 0; i < ends.size(); ++i) {
        auto path = paths.path(source, ends[i]);
        if (!path.empty() && std::find(found[i].begin(), found[i].end(), path) == found[i].end())
          found[i].push_back(std::move(path));
      }
    }
    for (const auto& of_pair : found) {
      for (const auto& path : of_pair) {
        result.arc.insert(result.arc.end(), path.begin(), path.end());
        result.offset.push_back(static_cast<int32_t>(result.arc.size()));
      }
      result.first.push_back(static_cast<int32_t>(result.offset.size()) - 1);
    }
  }
  return result;
}

PathChoice choose_paths(const PreparedPaths& prepared, const std::vector<int64_t>& capacity, const std::vector<int32_t>& pair,
                        const std::vector<int64_t>& size, int32_t sweeps, int64_t goal) {
  Choice choice(prepared, capacity, goal);
  std::vector<int32_t> order(pair.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int32_t one, int32_t other) { return size[one] > size[other]; });
  PathChoice best{std::vector<int32_t>(pair.size()), 0};
  for (const auto i : order) {
    best.path[i] = choice.choose(pair[i], size[i]);
    if (best.path[i] < 0) return {};
    choice.add(best.path[i], size[i]);
  }
  best.period = choice.period();
  auto path = best.path;
  for (int32_t sweep = 0; sweep < sweeps && best.period > goal; ++sweep) {
    const int64_t full = sweep % 8 == 0 ? 0 : choice.period() - choice.period() / 256;  // in most sweeps those on the fullest arcs
    for (const auto i : order) {
      if (full > 0 && !choice.passes(path[i], full)) continue;
      choice.add(path[i], -size[i]);
      path[i] = choice.choose(pair[i], size[i]);
      choice.add(path[i], size[i]);
    }
    if (const auto period = choice.period(); period < best.period) best = {path, period};
    choice.remember();
    choice.aim_at(std::max(goal, best.period - std::max<int64_t>(1, goal / kStep)));
  }
  return best;
}

}  // namespace certree
