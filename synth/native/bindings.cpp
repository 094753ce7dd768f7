// Python bindings of the synthesizer's kernels.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <stdexcept>
#include <string>

#include "columns.hpp"
#include "fine/fine_bindings.hpp"
#include "flows/flow_lengths.hpp"
#include "flows/pair_router.hpp"
#include "flows/path_choice.hpp"
#include "packing/branching_packing.hpp"
#include "packing/forest_packing.hpp"
#include "packing/steiner_packing.hpp"
#include "packing/switch_splitting.hpp"
#include "packing/tree_growth.hpp"
#include "packing/tree_shape.hpp"
#include "slots/modulo_scheduler.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace certree {
namespace {

ForestPacking make_packing(int32_t nodes, const Column<int32_t>& u, const Column<int32_t>& v, const Column<int64_t>& capacity,
                           int32_t forests) {
  std::vector<Edge> edges(u.size());
  for (size_t e = 0; e < edges.size(); ++e) edges[e] = {u.data()[e], v.data()[e]};
  return ForestPacking(nodes, std::move(edges), copy(capacity), forests);
}

// (True, parents of shape (K, n), -1 at the root) or (False, part of every node).
std::pair<bool, nb::ndarray<nb::numpy, int32_t>> pack_trees(int32_t nodes, Column<int32_t> u, Column<int32_t> v,
                                                            Column<int64_t> capacity, Column<int32_t> roots, int32_t height,
                                                            int64_t moves, uint64_t seed) {
  const auto forests = static_cast<int32_t>(roots.size());
  auto packing = make_packing(nodes, u, v, capacity, forests);
  const auto starts = copy(roots);
  {
    nb::gil_scoped_release release;
    grow_shallow(packing, starts);
    while (!packing.spanning() && packing.augment()) {
    }
    if (packing.spanning()) {
      shorten(packing, starts, height, moves, seed);
      root_at_centres(packing);
    }
  }
  if (!packing.spanning()) return {false, to_numpy(packing.part(), {static_cast<size_t>(nodes)})};
  std::vector<int32_t> parents;
  parents.reserve(static_cast<size_t>(forests) * nodes);
  for (int32_t f = 0; f < forests; ++f) {
    for (int32_t node = 0; node < nodes; ++node) parents.push_back(packing.parent(f, node));
  }
  return {true, to_numpy(parents, {static_cast<size_t>(forests), static_cast<size_t>(nodes)})};
}

// Parents of shape (roots, n), -1 at the root; no rows when the branchings do not fit.
nb::ndarray<nb::numpy, int32_t> pack_branchings(int32_t nodes, Column<int32_t> tail, Column<int32_t> head, Column<int64_t> capacity,
                                                Column<int32_t> roots) {
  std::vector<Arc> arcs(tail.size());
  for (size_t a = 0; a < arcs.size(); ++a) arcs[a] = {tail.data()[a], head.data()[a]};
  BranchingPacking packing(nodes, std::move(arcs), copy(capacity));
  const auto starts = copy(roots);
  std::vector<int32_t> parents;
  {
    nb::gil_scoped_release release;
    parents = packing.pack(starts);
  }
  const auto width = static_cast<size_t>(nodes);
  return to_numpy(parents, {parents.size() / width, width});
}

// (tree, node, offset, arc): columns of SteinerTrees; no rows when none were found.
auto pack_steiner_trees(Column<int32_t> offset, Column<int32_t> head, Column<int32_t> twin, Column<int64_t> capacity,
                        Column<uint8_t> holds, Column<int32_t> ends, Column<int32_t> roots, int32_t turns, uint64_t seed) {
  SteinerPacking packing({copy(offset), copy(head), copy(twin), copy(capacity), copy(holds)}, copy(ends), seed);
  const auto starts = copy(roots);
  SteinerTrees found;
  {
    nb::gil_scoped_release release;
    found = packing.pack(starts, turns);
  }
  const auto column = [](std::vector<int32_t>& values) {
    const auto size = values.size();
    return to_numpy(values, {size});
  };
  return std::make_tuple(column(found.tree), column(found.node), column(found.offset), column(found.arc));
}

// (start slots, empty when the rules cannot be met; work done)
std::pair<nb::ndarray<nb::numpy, int32_t>, int64_t> schedule(Column<int32_t> link_offset, Column<int32_t> link,
                                                             Column<int32_t> reducer, Column<int32_t> group,
                                                             Column<int32_t> successor_offset, Column<int32_t> successor,
                                                             Column<int64_t> capacity, int32_t reducers, int32_t delay,
                                                             int32_t period, int32_t reductions, int32_t tries, int64_t work,
                                                             int32_t stagger, uint64_t seed, Column<int32_t> turn) {
  const Jobs jobs{copy(link_offset), copy(link), copy(reducer), copy(group), copy(successor_offset), copy(successor), copy(turn)};
  const auto capacities = copy(capacity);
  SlotResult result;
  {
    nb::gil_scoped_release release;
    result = schedule_jobs(jobs, capacities, reducers, {delay, period, reductions}, {tries, work, stagger}, seed);
  }
  return {to_numpy(result.start, {result.start.size()}), result.work};
}

Turns checked(int32_t turns) {
  if (turns < 0 || turns > static_cast<int32_t>(Turns::authors)) {
    throw std::invalid_argument("unknown turns " + std::to_string(turns) +
                                "; allowed: 0 (ascending), 1 (remaining height), 2 (authors)");
  }
  return static_cast<Turns>(turns);
}

// (tree, step, src, dst, path, path offset): see tree_growth.hpp. A pending signal, such as Ctrl-C, is raised between two steps.
auto grow(Column<uint8_t> endpoint, Column<int32_t> offset, Column<int32_t> pair, Column<int32_t> tail, Column<int32_t> head,
          Column<int64_t> capacity, Column<int32_t> roots, int32_t turns, Column<int32_t> priority, int32_t arity) {
  const GrowthNetwork network{copy(endpoint), copy(offset), copy(pair), copy(tail), copy(head), copy(capacity)};
  const auto growth = grow_trees(network, copy(roots), checked(turns), copy(priority), arity, [] {
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
  });
  const auto column = [](const std::vector<int32_t>& values) { return to_numpy(values, {values.size()}); };
  return std::make_tuple(column(growth.tree), column(growth.step), column(growth.src), column(growth.dst), column(growth.path),
                         column(growth.path_offset));
}

// (offset, arc, period): see pair_router.hpp; offset has one entry where some target cannot be reached.
auto route(Column<int32_t> offset, Column<int32_t> head, Column<int32_t> kind, Column<int64_t> capacity, Column<int32_t> source,
           Column<int32_t> target, Column<int64_t> size, int32_t sweeps, int64_t goal, uint64_t seed, Column<int64_t> length) {
  const RouterNetwork network{copy(offset), copy(head), copy(kind), copy(capacity), copy(length)};
  const auto paths = route_pairs(network, {copy(source), copy(target), copy(size)}, sweeps, goal, seed, [] {
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
  });
  return std::make_tuple(to_numpy(paths.offset, {paths.offset.size()}), to_numpy(paths.arc, {paths.arc.size()}), paths.period);
}

auto lengths(Column<int32_t> offset, Column<int32_t> head, Column<int32_t> kind, Column<int64_t> capacity, Column<int64_t> start,
             Column<int32_t> source, Column<int32_t> target, Column<int64_t> amount, int32_t passes, int32_t first_parts) {
  const LengthNetwork network{copy(offset), copy(head), copy(kind), copy(capacity), copy(start)};
  const LengthDemand demand{copy(source), copy(target), copy(amount)};
  const auto found = flow_lengths(network, demand, passes, first_parts, [] {
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
  });
  return to_numpy(found, {found.size()});
}

// (first, offset, arc): see path_choice.hpp.
auto prepare(Column<int32_t> offset, Column<int32_t> head, Column<int32_t> ends, int32_t tries, uint64_t seed) {
  const RouterNetwork network{copy(offset), copy(head), {}, {}, {}};
  const auto found = prepare_paths(network, copy(ends), tries, seed, [] {
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
  });
  const auto column = [](const std::vector<int32_t>& values) { return to_numpy(values, {values.size()}); };
  return std::make_tuple(column(found.first), column(found.offset), column(found.arc));
}

// (path of each message, rounds of the fullest arc); no path where a message has none to choose from.
auto choose(Column<int32_t> first, Column<int32_t> offset, Column<int32_t> arc, Column<int64_t> capacity, Column<int32_t> pair,
            Column<int64_t> size, int32_t sweeps, int64_t goal) {
  const PreparedPaths prepared{copy(first), copy(offset), copy(arc)};
  const auto found = choose_paths(prepared, copy(capacity), copy(pair), copy(size), sweeps, goal);
  return std::make_pair(to_numpy(found.path, {found.path.size()}), found.period);
}

SwitchSplitting make_splitting(Column<uint8_t> endpoint, Column<int32_t> u, Column<int32_t> v, Column<int64_t> capacity,
                               int32_t period, uint64_t seed) {
  std::vector<Cable> cables(u.size());
  for (size_t c = 0; c < cables.size(); ++c) cables[c] = {u.data()[c], v.data()[c]};
  return SwitchSplitting(copy(endpoint), std::move(cables), copy(capacity), period, seed);
}

// `group`: one for each node id, or nothing.
void grow_paths(SwitchSplitting& splitting, Column<int32_t> group) {
  auto groups = copy(group);
  nb::gil_scoped_release release;
  splitting.grow(std::move(groups));
}

// Partitions as rows of one table: a part for each node id.
bool repair(SwitchSplitting& splitting, nb::ndarray<const int32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu> parts,
            Column<int64_t> needs, int64_t moves) {
  std::vector<std::vector<int32_t>> rows;
  for (size_t i = 0; i < parts.shape(0); ++i) {
    rows.emplace_back(parts.data() + i * parts.shape(1), parts.data() + (i + 1) * parts.shape(1));
  }
  const auto needed = copy(needs);
  nb::gil_scoped_release release;
  return splitting.repair(rows, needed, moves);
}

// (layer, offset, nodes, cables): path i visits nodes[offset[i] .. offset[i + 1]]; its cables are those at the same places but the
// last.
auto paths_of(const SwitchSplitting& splitting) {
  std::vector<int32_t> layer, offset{0}, nodes, cables;
  for (size_t l = 0; l < splitting.layers().size(); ++l) {
    for (const auto& path : splitting.layers()[l]) {
      layer.push_back(static_cast<int32_t>(l));
      nodes.insert(nodes.end(), path.nodes.begin(), path.nodes.end());
      cables.insert(cables.end(), path.cables.begin(), path.cables.end());
      cables.push_back(-1);
      offset.push_back(static_cast<int32_t>(nodes.size()));
    }
  }
  const auto column = [](const std::vector<int32_t>& values) { return to_numpy(values, {values.size()}); };
  return std::make_tuple(column(layer), column(offset), column(nodes), column(cables));
}

}  // namespace
}  // namespace certree

NB_MODULE(_native, module) {
  module.doc() = "Kernels of the synthesizer: spanning-tree packing, splitting of switches, tree growth and modulo scheduling.";
  module.def("pack_trees", &certree::pack_trees, "nodes"_a, "u"_a, "v"_a, "capacity"_a, "roots"_a, "height"_a, "moves"_a, "seed"_a,
             "Spanning trees, one a root, edge e in at most capacity[e] of them: (True, parents[K, n]) or (False, part[n]).");
  module.def("pack_branchings", &certree::pack_branchings, "nodes"_a, "tail"_a, "head"_a, "capacity"_a, "roots"_a,
             "Spanning branchings, one a root, arc a in at most capacity[a] of them: parents[K, n], no rows when they do not fit.");
  module.def(
      "pack_steiner_trees", &certree::pack_steiner_trees, "offset"_a, "head"_a, "twin"_a, "capacity"_a, "holds"_a, "ends"_a,
      "roots"_a, "turns"_a, "seed"_a,
      "Trees from roots to all ends over other nodes: (tree, node, offset, arc) of each node below a root, no rows when none "
      "were found.");
  module.def("schedule_jobs", &certree::schedule, "link_offset"_a, "link"_a, "reducer"_a, "group"_a, "successor_offset"_a,
             "successor"_a, "capacity"_a, "reducers"_a, "delay"_a, "period"_a, "reductions"_a, "tries"_a, "work"_a, "stagger"_a,
             "seed"_a, "turn"_a, "(start slots of the shortest schedule found, empty when the rules cannot be met; work done).");
  module.def("grow_trees", &certree::grow, "endpoint"_a, "offset"_a, "pair"_a, "tail"_a, "head"_a, "capacity"_a, "roots"_a,
             "turns"_a, "priority"_a, "arity"_a,
             "MultiTree: (tree, step, src, dst, path, path offset) of every node added to a tree.");
  module.def("route_pairs", &certree::route, "offset"_a, "head"_a, "kind"_a, "capacity"_a, "source"_a, "target"_a, "size"_a,
             "sweeps"_a, "goal"_a, "seed"_a, "length"_a,
             "Paths that load classes of arcs evenly: (offset, arc, rounds that the fullest class takes).");
  module.def("flow_lengths", &certree::lengths, "offset"_a, "head"_a, "kind"_a, "capacity"_a, "start"_a, "source"_a, "target"_a,
             "amount"_a, "passes"_a, "first_parts"_a,
             "Lengths of kinds of arcs that bound multicommodity flows; empty where a target cannot be reached.");
  module.def("prepare_paths", &certree::prepare, "offset"_a, "head"_a, "ends"_a, "tries"_a, "seed"_a,
             "A few paths for each pair of `ends`: (first path of each pair, offset, arc).");
  module.def("choose_paths", &certree::choose, "first"_a, "offset"_a, "arc"_a, "capacity"_a, "pair"_a, "size"_a, "sweeps"_a,
             "goal"_a, "One of the prepared paths for each message: (path, rounds that the fullest arc takes).");
  certree::bind_fine(module);
  nb::class_<certree::SwitchSplitting>(module, "SwitchSplitting",
                                       "Paths between endpoints through switches for all slots of a period.")
      .def(
          "__init__",
          [](certree::SwitchSplitting* self, certree::Column<uint8_t> endpoint, certree::Column<int32_t> u,
             certree::Column<int32_t> v, certree::Column<int64_t> capacity, int32_t period, uint64_t seed) {
            new (self) certree::SwitchSplitting(certree::make_splitting(endpoint, u, v, capacity, period, seed));
          },
          "endpoint"_a, "u"_a, "v"_a, "capacity"_a, "period"_a, "seed"_a)
      .def(
          "grow", &certree::grow_paths, "group"_a,
          "Shortest paths, evenly, until nothing fits; first those between different groups of endpoints, where group[n] is given.")
      .def("repair", &certree::repair, "parts"_a, "needs"_a, "moves"_a,
           "Exchanges towards needs[i] paths across parts[i]; whether reached.")
      .def("paths", &certree::paths_of, "(layer, offset, nodes, cables) of all paths.");
}
