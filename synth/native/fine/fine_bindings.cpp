#include "fine_bindings.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <stdexcept>

#include "columns.hpp"
#include "fine_circles.hpp"
#include "fine_gates.hpp"
#include "fine_routes.hpp"
#include "fine_search.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace certree {
namespace {

// (end, priority, release): see fine_search.hpp. `jobs`: FineJobs of certree.models._lists.
auto search_jobs(nb::object jobs, const std::array<int64_t, 5>& cycles, Column<int64_t> hop, Column<int64_t> priority,
                 Column<int64_t> earliest, bool patient, bool apart, Column<int32_t> family, Column<int32_t> part, int64_t tries,
                 int64_t bound, uint64_t seed) {
  const auto& known = *nb::cast<const FineJobs*>(jobs);
  const FineCosts costs{cycles[0], cycles[1], cycles[2], cycles[3], cycles[4], copy(hop)};
  const FineTurns turns{copy(priority), copy(earliest), patient, apart};
  const FineGroups groups{copy(family), copy(part)};
  FineFound found;
  {
    nb::gil_scoped_release release;
    found = search(known, costs, turns, groups, tries, bound, seed);
  }
  const auto column = [](const auto& values) { return to_numpy(values, {values.size()}); };
  return std::make_tuple(found.end, column(found.turns.priority), column(found.turns.release));
}

// (offsets, links, first pair without a route or -1): see fine_routes.hpp.
auto routes_of(Column<int32_t> link_src, Column<int32_t> link_dst, Column<int32_t> capacity, Column<uint8_t> forwards,
               Column<int32_t> src, Column<int32_t> dst, int32_t sweeps) {
  const FineNetwork network{copy(link_src), copy(link_dst), copy(capacity), copy(forwards)};
  const auto found = even_routes(network, copy(src), copy(dst), sweeps);
  const auto column = [](const auto& values) { return to_numpy(values, {values.size()}); };
  return std::make_tuple(column(found.routes.offset), column(found.routes.value), found.lost);
}

// By node the number of its strongly connected component.
auto parts_of(int32_t nodes, Column<int32_t> tail, Column<int32_t> head) {
  const auto tails = copy(tail), heads = copy(head);
  if (tails.size() != heads.size()) throw std::invalid_argument("expected as many heads as tails");
  const auto is_node = [nodes](int32_t one) { return one >= 0 && one < nodes; };
  if (!std::all_of(tails.begin(), tails.end(), is_node) || !std::all_of(heads.begin(), heads.end(), is_node)) {
    throw std::invalid_argument("an end of an edge is not a node");
  }
  const auto parts = strong_parts(nodes, tails, heads);
  return to_numpy(parts, {parts.size()});
}

// (needs, original_of, group, follows, (offsets, values) of when_sent, when_landed, opens and groups): see fine_gates.hpp.
auto gates(Column<int32_t> begin, Column<int32_t> row, Column<uint8_t> writes, Column<uint8_t> copies, Column<uint8_t> local,
           bool in_order) {
  const CellUses uses{copy(begin), copy(row), copy(writes), copy(copies), copy(local), in_order};
  const bool has_ends =
      !uses.begin.empty() && uses.begin.front() == 0 && uses.begin.back() == static_cast<int32_t>(uses.row.size());
  if (!has_ends || !std::is_sorted(uses.begin.begin(), uses.begin.end()) || uses.writes.size() != uses.row.size() ||
      uses.local.size() != uses.copies.size()) {
    throw std::invalid_argument("columns of different lengths");
  }
  const auto rows = static_cast<int32_t>(uses.copies.size());
  if (!std::all_of(uses.row.begin(), uses.row.end(), [rows](int32_t one) { return one >= 0 && one < rows; })) {
    throw std::invalid_argument("a use by no row");
  }
  Gates found;
  {
    nb::gil_scoped_release release;
    found = gates_of(uses);
  }
  const auto column = [](const auto& values) { return to_numpy(values, {values.size()}); };
  const auto ragged = [&column](const Ragged& rows) { return std::make_pair(column(rows.offset), column(rows.value)); };
  return std::make_tuple(column(found.needs), column(found.original_of), column(found.group), column(found.follows),
                         ragged(found.when_sent), ragged(found.when_landed), ragged(found.opens), ragged(found.groups));
}

}  // namespace

void bind_fine(nb::module_& module) {
  module.def("search", &search_jobs, "jobs"_a, "cycles"_a, "hop"_a, "priority"_a, "release"_a, "patient"_a, "apart"_a, "family"_a,
             "part"_a, "tries"_a, "bound"_a, "seed"_a, "Local search: (end, priority, release) of the best turns found.");
  module.def("strong_parts", &parts_of, "nodes"_a, "tail"_a, "head"_a,
             "By node of a directed graph the number of its strongly connected component.");
  module.def(
      "gates_of", &gates, "begin"_a, "row"_a, "writes"_a, "copies"_a, "local"_a, "in_order"_a,
      "What waits for what in cells with reads and writes: (needs, originals, group, follows, and offsets and values of sent, "
      "landed, opens, groups).");
  module.def("even_routes", &routes_of, "link_src"_a, "link_dst"_a, "capacity"_a, "forwards"_a, "src"_a, "dst"_a, "sweeps"_a,
             "Shortest routes that load links evenly: (offsets, links, the first pair without a route or -1).");
}

}  // namespace certree
