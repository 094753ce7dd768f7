#include "switch_splitting.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace certree {

namespace {

constexpr int32_t kNone = -1;
constexpr int32_t kStart = -2;
constexpr size_t kPathTries = 256;  // paths that may be asked to make way, for two endpoints

int32_t other_end(const Cable& cable, int32_t node) { return cable.u == node ? cable.v : cable.u; }

// The nodes from the first of `first` up to its place i, then those of `second` from its place j on, which is the same node.
SwitchPath spliced(const SwitchPath& first, int32_t i, const SwitchPath& second, int32_t j) {
  SwitchPath path;
  path.nodes.assign(first.nodes.begin(), first.nodes.begin() + i);
  path.nodes.insert(path.nodes.end(), second.nodes.begin() + j, second.nodes.end());
  path.cables.assign(first.cables.begin(), first.cables.begin() + i);
  path.cables.insert(path.cables.end(), second.cables.begin() + j, second.cables.end());
  return path;
}

SwitchPath reversed(SwitchPath path) {
  std::reverse(path.nodes.begin(), path.nodes.end());
  std::reverse(path.cables.begin(), path.cables.end());
  return path;
}

int64_t lacking(const std::vector<int64_t>& needs, const std::vector<int64_t>& crossing) {
  int64_t sum = 0;
  for (size_t i = 0; i < needs.size(); ++i) sum += std::max<int64_t>(0, needs[i] - crossing[i]);
  return sum;
}

}  // namespace

SwitchSplitting::SwitchSplitting(std::vector<uint8_t> endpoint, std::vector<Cable> cables, std::vector<int64_t> capacity,
                                 int32_t period, uint64_t seed)
    : endpoint_(std::move(endpoint)), cables_(std::move(cables)), pairs_(static_cast<size_t>(period) / 2), random_(seed) {
  const size_t layers = pairs_ + period % 2;
  around_.resize(endpoint_.size());
  before_.resize(endpoint_.size());
  paths_.resize(layers);
  left_.resize(layers * cables_.size() * 2);
  ports_.assign(layers * endpoint_.size() * 2, 0);
  for (size_t c = 0; c < cables_.size(); ++c) {
    const auto cable = static_cast<int32_t>(c);
    for (const int32_t node : {cables_[c].u, cables_[c].v}) around_[node].push_back(cable);
    for (size_t layer = 0; layer < layers; ++layer) {
      for (const int32_t node : {cables_[c].u, cables_[c].v}) {
        left_[direction(layer, cable, node)] = capacity[c];
        ports_[port(layer, node, true)] += capacity[c];
        if (!is_single(layer)) ports_[port(layer, node, false)] += capacity[c];
      }
    }
  }
  const auto count = static_cast<int32_t>(std::count(endpoint_.begin(), endpoint_.end(), 1));
  for (int32_t d = 1; 2 * d < count; ++d) distances_.push_back(d);
  for (size_t i = distances_.size(); i > 1; --i) {
    std::swap(distances_[i - 1], distances_[random_.below(static_cast<int32_t>(i))]);
  }
  if (count % 2 == 0) distances_.push_back(count / 2);  // last, where an odd period has its layer of one slot
}

size_t SwitchSplitting::direction(size_t layer, int32_t cable, int32_t node) const {
  return (layer * cables_.size() + cable) * 2 + (!is_single(layer) && cables_[cable].v == node);
}

size_t SwitchSplitting::port(size_t layer, int32_t node, bool out) const {
  return (layer * endpoint_.size() + node) * 2 + (!is_single(layer) && !out);
}

void SwitchSplitting::take(size_t layer, const SwitchPath& path, int64_t units) {
  for (size_t i = 0; i < path.cables.size(); ++i) {
    left_[direction(layer, path.cables[i], path.nodes[i])] -= units;
    ports_[port(layer, path.nodes[i], true)] -= units;
    ports_[port(layer, path.nodes[i + 1], false)] -= units;
  }
}

SwitchPath SwitchSplitting::remove(size_t layer, size_t index) {
  std::swap(paths_[layer][index], paths_[layer].back());
  SwitchPath path = std::move(paths_[layer].back());
  paths_[layer].pop_back();
  take(layer, path, -1);
  return path;
}

void SwitchSplitting::add(size_t layer, SwitchPath path) {
  take(layer, path, 1);
  paths_[layer].push_back(std::move(path));
}

void SwitchSplitting::grow(std::vector<int32_t> group) {
  group_ = std::move(group);
  std::vector<int32_t> ends;
  for (size_t v = 0; v < endpoint_.size(); ++v) {
    if (endpoint_[v]) ends.push_back(static_cast<int32_t>(v));
  }
  std::vector<int32_t> turns;
  if (!group_.empty()) {
    measure(ends);
    turns = hops_;
    std::sort(turns.begin(), turns.end());
    turns.erase(std::unique(turns.begin(), turns.end()), turns.end());
  }
  for (size_t layer = 0; layer < paths_.size(); ++layer) {
    between_groups_ = true;
    for (const int32_t most : turns) grow_all(layer, ends, most);
    if (!turns.empty()) make_way(layer, ends);
    between_groups_ = false;
    grow_all(layer, ends, std::numeric_limits<int32_t>::max());
    lead_in(layer);
    make_way(layer, ends);
  }
}

void SwitchSplitting::grow_all(size_t layer, const std::vector<int32_t>& ends, int32_t most) {
  for (size_t before = paths_[layer].size() + 1; paths_[layer].size() != before;) {
    before = paths_[layer].size();
    grow(layer, ends, most);
  }
}

// Between endpoints that are `most` apart where `hops_` count.
void SwitchSplitting::grow(size_t layer, const std::vector<int32_t>& ends, int32_t most) {
  const auto count = static_cast<int32_t>(ends.size());
  const size_t start = cursor_;
  for (size_t k = 0; k < distances_.size(); ++k) {
    const int32_t d = distances_[(start + k) % distances_.size()];
    int32_t added = 0;
    for (int32_t rank = 0; rank < count; ++rank) {
      const int32_t other = ends[(rank + d) % count];
      if (!between_groups_ || hops(ends[rank], other) <= most) added += add_path(layer, ends[rank], other);
    }
    if (2 * added >= count) ++cursor_;
  }
  if (distances_.empty()) add_path(layer, ends[0], ends[1]);
}

void SwitchSplitting::measure(const std::vector<int32_t>& ends) {
  hops_.assign(endpoint_.size() * endpoint_.size(), 0);
  std::vector<int32_t> far, queue;
  for (const int32_t from : ends) {
    far.assign(endpoint_.size(), 0);
    queue.assign(1, from);
    for (size_t i = 0; i < queue.size(); ++i) {
      for (const int32_t c : around_[queue[i]]) {
        const int32_t w = other_end(cables_[c], queue[i]);
        if (far[w] != 0 || w == from) continue;
        far[w] = far[queue[i]] + 1;
        if (!endpoint_[w]) queue.push_back(w);
      }
    }
    for (const int32_t to : ends) {
      if (group_[from] != group_[to]) hops_[from * endpoint_.size() + to] = far[to];
    }
  }
}

// A shortest path with room; of the cables that lead on, the one with most room first.
bool SwitchSplitting::add_path(size_t layer, int32_t from, int32_t to) {
  if (!may_leave(layer, from) || !may_enter(layer, to)) return false;
  std::fill(before_.begin(), before_.end(), kNone);
  before_[from] = kStart;
  std::vector<int32_t> front{from}, next;
  const int32_t longest = between_groups_ ? hops(from, to) : static_cast<int32_t>(cables_.size());
  for (int32_t steps = 0; before_[to] == kNone && !front.empty() && steps < longest; ++steps) {
    next.clear();
    for (const int32_t v : front) {
      for (const int32_t c : around_[v]) {
        const int32_t w = other_end(cables_[c], v);
        const int64_t room = left_[direction(layer, c, v)];
        if (room == 0 || (endpoint_[w] && w != to)) continue;
        if (before_[w] == kNone) {
          before_[w] = c;
          next.push_back(w);
        } else if (before_[w] != kStart && std::find(next.begin(), next.end(), w) != next.end() &&
                   left_[direction(layer, before_[w], other_end(cables_[before_[w]], w))] < room) {
          before_[w] = c;
        }
      }
    }
    front.swap(next);
  }
  if (before_[to] == kNone) return false;
  SwitchPath path{{to}, {}};
  while (path.nodes.back() != from) {
    path.cables.push_back(before_[path.nodes.back()]);
    path.nodes.push_back(other_end(cables_[path.cables.back()], path.nodes.back()));
  }
  add(layer, reversed(std::move(path)));
  return true;
}

void SwitchSplitting::lead_in(size_t layer) {
  const int64_t needed = is_single(layer) ? 2 : 1;
  for (size_t c = 0; c < cables_.size(); ++c) {
    const auto cable = static_cast<int32_t>(c);
    const int32_t node = endpoint_[cables_[c].u] ? cables_[c].u : cables_[c].v;
    if (!endpoint_[node]) continue;
    while (left_[direction(layer, cable, cables_[c].u)] >= needed && left_[direction(layer, cable, cables_[c].v)] >= needed &&
           lead_in(layer, cable, node)) {
    }
  }
}

// A path past the switch at the cable's other end, from a random one on, that does not end at `node`: it goes there and back.
bool SwitchSplitting::lead_in(size_t layer, int32_t cable, int32_t node) {
  const size_t count = paths_[layer].size();
  const size_t start = count == 0 ? 0 : random_.below(static_cast<int32_t>(count));
  for (size_t k = 0; k < count; ++k) {
    const size_t index = (start + k) % count;
    const auto& nodes = paths_[layer][index].nodes;
    if (nodes.front() == node || nodes.back() == node) continue;
    const auto meeting = std::find(nodes.begin(), nodes.end(), other_end(cables_[cable], node));
    if (meeting == nodes.end()) continue;
    const auto i = static_cast<int32_t>(meeting - nodes.begin());
    const SwitchPath path = remove(layer, index), in{{path.nodes[i], node}, {cable}};
    add(layer, spliced(path, i, in, 0));
    add(layer, spliced(reversed(in), 1, path, i));
    return true;
  }
  return false;
}

void SwitchSplitting::make_way(size_t layer, const std::vector<int32_t>& ends) {
  for (const int32_t from : ends) {
    for (const int32_t to : ends) {
      while (may_leave(layer, from) && may_enter(layer, to) && make_way(layer, from, to)) {
      }
    }
  }
}

// Two paths, from `from` to the end and from the start to `to`, instead of one.
bool SwitchSplitting::make_way(size_t layer, int32_t from, int32_t to) {
  const size_t count = paths_[layer].size();
  const size_t start = count == 0 ? 0 : random_.below(static_cast<int32_t>(count));
  for (size_t k = 0; k < std::min(count, kPathTries); ++k) {
    const size_t index = (start + k) % count;
    const int32_t a = paths_[layer][index].nodes.front(), b = paths_[layer][index].nodes.back();
    if (a == to || b == from) continue;
    SwitchPath path = remove(layer, index);
    if (add_path(layer, a, to)) {
      if (add_path(layer, from, b)) return true;
      remove(layer, paths_[layer].size() - 1);
    }
    add(layer, std::move(path));
  }
  return false;
}

bool SwitchSplitting::repair(const std::vector<std::vector<int32_t>>& parts, const std::vector<int64_t>& needs, int64_t moves) {
  std::vector<int64_t> crossing(parts.size(), 0);
  for (const auto& layer : paths_) {
    for (const auto& path : layer) {
      for (size_t i = 0; i < parts.size(); ++i) crossing[i] += parts[i][path.nodes.front()] != parts[i][path.nodes.back()];
    }
  }
  for (int64_t move = 0; move < moves && lacking(needs, crossing) > 0; ++move) exchange(parts, needs, crossing);
  const bool enough = lacking(needs, crossing) == 0;
  for (size_t layer = 0; layer < paths_.size(); ++layer) {
    for (auto& path : paths_[layer]) cut_loops(layer, path);
  }
  grow(group_);
  return enough;
}

// Two random paths of a layer that meet at a switch trade their ends there, unless more would be lacking then. In a layer of one
// slot either may be turned round.
void SwitchSplitting::exchange(const std::vector<std::vector<int32_t>>& parts, const std::vector<int64_t>& needs,
                               std::vector<int64_t>& crossing) {
  const auto layer = static_cast<size_t>(random_.below(static_cast<int32_t>(paths_.size())));
  const auto count = static_cast<int32_t>(paths_[layer].size());
  if (count < 2) return;
  SwitchPath& first = paths_[layer][random_.below(count)];
  SwitchPath& second = paths_[layer][random_.below(count)];
  if (&first == &second) return;
  if (is_single(layer) && random_.below(2) == 1) second = reversed(std::move(second));
  const int32_t i = 1 + random_.below(static_cast<int32_t>(first.nodes.size()) - 2);
  const auto meeting = std::find(second.nodes.begin() + 1, second.nodes.end() - 1, first.nodes[i]);
  if (meeting == second.nodes.end() - 1) return;
  const int32_t a = first.nodes.front(), b = first.nodes.back(), c = second.nodes.front(), d = second.nodes.back();
  if (a == d || c == b) return;
  auto after = crossing;
  for (size_t p = 0; p < parts.size(); ++p) {
    const auto& part = parts[p];
    after[p] += (part[a] != part[d]) + (part[c] != part[b]) - (part[a] != part[b]) - (part[c] != part[d]);
  }
  if (lacking(needs, after) > lacking(needs, crossing)) return;
  const auto j = static_cast<int32_t>(meeting - second.nodes.begin());
  SwitchPath joined = spliced(first, i, second, j);
  second = spliced(second, j, first, i);
  first = std::move(joined);
  crossing = std::move(after);
}

// Cuts out what leads back to a node that the path has passed.
void SwitchSplitting::cut_loops(size_t layer, SwitchPath& path) {
  for (int32_t i = 0; i < static_cast<int32_t>(path.nodes.size()); ++i) {
    const auto last = std::find(path.nodes.rbegin(), path.nodes.rend(), path.nodes[i]);
    const auto j = static_cast<int32_t>(path.nodes.rend() - last) - 1;
    if (i == j) continue;
    SwitchPath shorter = spliced(path, i, path, j);
    take(layer, path, -1);
    take(layer, shorter, 1);
    path = std::move(shorter);
  }
}

}  // namespace certree
