#include "tree_growth.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace certree {
namespace {

struct Tree {
  std::vector<int32_t> members;  // in the order of joining
  std::vector<uint8_t> inside;   // by node
  std::vector<int32_t> taken;    // by place among the members: children that count against the limit
  size_t parents = 1;            // members of earlier steps
  int32_t missing = 0;
  // What fails once fails again until the era ends, since room only shrinks and trees only grow:
  int64_t era = -1;           // of the next two
  size_t position = 0;        // members before this one add nothing
  std::vector<int64_t> dead;  // by node, where paths may pass some: the last era in which a search from here found nothing
};

class Grower {
 public:
  Grower(const GrowthNetwork& network, const std::vector<int32_t>& roots, int32_t arity)
      : network_(network),
        arity_(arity),
        ports_(network.nodes(), 0),
        seen_(network.nodes(), 0),
        from_(network.nodes()),
        trees_(roots.size()) {
    for (size_t pair = 0; pair < network.head.size(); ++pair) ports_[network.tail[pair]] += network.endpoint[network.head[pair]];
    const auto endpoints = static_cast<int32_t>(std::count(network.endpoint.begin(), network.endpoint.end(), 1));
    const auto passed = endpoints < network.nodes() ? network.nodes() : 0;
    for (size_t t = 0; t < roots.size(); ++t) {
      trees_[t].members = {roots[t]};
      trees_[t].taken = {0};
      trees_[t].inside.assign(network.nodes(), 0);
      trees_[t].inside[roots[t]] = 1;
      trees_[t].missing = endpoints - 1;
      trees_[t].dead.assign(passed, -1);
    }
  }

  void open_step(int32_t step) {
    step_ = step;
    ++era_;
    room_ = network_.capacity;
    open_ports_ = ports_;
    passes_all_ = false;
    for (auto& tree : trees_) {
      tree.parents = tree.members.size();
      if (arity_ > 1) std::fill(tree.taken.begin(), tree.taken.end(), 0);
    }
  }

  // For the rest of the step, paths may pass switches with room towards endpoints, too.
  void pass_all() {
    passes_all_ = true;
    ++era_;
  }
  size_t added() const { return growth_.tree.size(); }

  bool complete(size_t t) const { return trees_[t].missing == 0; }
  bool all_complete() const {
    return std::all_of(trees_.begin(), trees_.end(), [](const Tree& tree) { return tree.missing == 0; });
  }

  // One turn: adds the first node that the tree can reach.
  bool add_one(size_t t) {
    Tree& tree = trees_[t];
    if (tree.missing == 0) return false;
    if (tree.era != era_) {
      tree.era = era_;
      tree.position = 0;
    }
    for (; tree.position < tree.parents; ++tree.position) {
      if (arity_ > 0 && tree.taken[tree.position] == std::max(1, arity_ - 1)) continue;
      if (search(tree, tree.members[tree.position])) {
        ++tree.taken[tree.position];
        record(tree, static_cast<int32_t>(t), tree.members[tree.position]);
        return true;
      }
    }
    return false;
  }

  // Distance of the farthest missing node from the tree, over all pairs.
  int32_t remaining_height(size_t t) {
    const Tree& tree = trees_[t];
    std::vector<int32_t> layer = tree.members, next;
    std::vector<uint8_t> reached = tree.inside;
    int32_t height = 0, left = tree.missing;
    for (int32_t distance = 1; left > 0; ++distance) {
      next.clear();
      for (const int32_t node : layer) {
        for (int32_t i = network_.offset[node]; i < network_.offset[node + 1]; ++i) {
          const int32_t head = network_.head[network_.pair[i]];
          if (reached[head]) continue;
          reached[head] = 1;
          next.push_back(head);
          if (network_.endpoint[head]) {
            --left;
            height = distance;
          }
        }
      }
      layer.swap(next);
    }
    return height;
  }

  Growth take() { return std::move(growth_); }

 private:
  // Breadth first from a member over pairs with room; fills path_ when it finds an endpoint outside the tree.
  bool search(Tree& tree, int32_t parent) {
    ++search_;
    queue_.assign(1, parent);
    size_t own = 1;  // the parent's own switches end here in the queue
    for (size_t next = 0; next < queue_.size(); ++next) {
      const int32_t node = queue_[next];
      const bool passable = next < own || passes_all_ || open_ports_[node] == 0;
      for (int32_t i = network_.offset[node]; i < network_.offset[node + 1]; ++i) {
        const int32_t pair = network_.pair[i], head = network_.head[pair];
        if (room_[pair] == 0 || !network_.endpoint[head] || tree.inside[head]) continue;
        trace(parent, pair);
        return true;
      }
      for (int32_t i = network_.offset[node]; passable && i < network_.offset[node + 1]; ++i) {
        const int32_t pair = network_.pair[i], head = network_.head[pair];
        if (room_[pair] == 0 || network_.endpoint[head] || seen_[head] == search_) continue;
        if (next > 0 && tree.dead[head] == era_) continue;
        seen_[head] = search_;
        from_[head] = pair;
        queue_.push_back(head);
      }
      if (next == 0) own = queue_.size();
    }
    // A member's own switch is passed whatever its ports: it is dead to no member of its own, nor by this search to those of
    // others.
    for (size_t i = own; i < queue_.size(); ++i) tree.dead[queue_[i]] = era_;
    return false;
  }

  void trace(int32_t parent, int32_t last) {
    path_.assign(1, last);
    while (network_.tail[path_.back()] != parent) path_.push_back(from_[network_.tail[path_.back()]]);
    std::reverse(path_.begin(), path_.end());
  }

  void record(Tree& tree, int32_t t, int32_t parent) {
    const int32_t child = network_.head[path_.back()];
    for (const int32_t pair : path_) {
      if (--room_[pair] > 0 || !network_.endpoint[network_.head[pair]]) continue;
      if (--open_ports_[network_.tail[pair]] == 0) ++era_;  // it may be passed from now on
    }
    tree.inside[child] = 1;
    tree.members.push_back(child);
    tree.taken.push_back(0);
    --tree.missing;
    growth_.tree.push_back(t);
    growth_.step.push_back(step_);
    growth_.src.push_back(parent);
    growth_.dst.push_back(child);
    growth_.path.insert(growth_.path.end(), path_.begin(), path_.end());
    growth_.path_offset.push_back(static_cast<int32_t>(growth_.path.size()));
  }

  const GrowthNetwork& network_;
  int32_t arity_;
  bool passes_all_ = false;
  std::vector<int64_t> room_;        // by pair, in this step
  std::vector<int32_t> ports_;       // by node: pairs to endpoints
  std::vector<int32_t> open_ports_;  // those with room in this step
  std::vector<int64_t> seen_;        // by node: the last search that came here
  std::vector<int32_t> from_;        // by node: the pair by which that search came
  std::vector<Tree> trees_;
  std::vector<int32_t> queue_, path_;
  Growth growth_;
  int64_t search_ = 0, era_ = 0;
  int32_t step_ = 0;
};

// Rounds of turns of one step, until one adds nothing.
void run_rounds(Grower& grower, const std::vector<size_t>& order) {
  for (bool added = true; added;) {
    added = false;
    for (const size_t t : order) added |= grower.add_one(t);
  }
}

// Rounds of turns of one step as the released program has them; `order` is what its first round follows, `later` all others.
void run_authors_rounds(Grower& grower, std::vector<size_t>& order, const std::vector<size_t>& later) {
  bool last_added = true;
  while (last_added && !grower.all_complete()) {
    for (const size_t t : order) last_added = grower.add_one(t);
    order = later;
  }
}

}  // namespace

Growth grow_trees(const GrowthNetwork& network, const std::vector<int32_t>& roots, Turns turns,
                  const std::vector<int32_t>& priority, int32_t arity, const std::function<void()>& each_step) {
  Grower grower(network, roots, arity);
  std::vector<size_t> ascending(roots.size());
  std::iota(ascending.begin(), ascending.end(), 0);
  auto order = ascending, later = ascending;
  if (turns == Turns::authors) {
    std::sort(later.begin(), later.end(), [&](size_t a, size_t b) { return std::tie(priority[a], a) > std::tie(priority[b], b); });
  }
  for (int32_t step = 0; !grower.all_complete(); ++step) {
    each_step();
    grower.open_step(step);
    const size_t before = grower.added();
    if (turns == Turns::authors) {
      run_authors_rounds(grower, order, later);
    } else {
      order = ascending;
      if (turns == Turns::remaining_height) {
        std::vector<int32_t> height(roots.size());
        for (size_t t = 0; t < roots.size(); ++t) height[t] = grower.remaining_height(t);
        std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return height[a] > height[b]; });
      }
      run_rounds(grower, order);
    }
    if (grower.added() > before) continue;
    grower.pass_all();
    run_rounds(grower, ascending);
    if (grower.added() == before) break;
  }
  return grower.take();
}

}  // namespace certree
