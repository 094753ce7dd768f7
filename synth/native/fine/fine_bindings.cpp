#include "fine_bindings.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <stdexcept>

#include "../columns.hpp"
#include "fine_circles.hpp"
#include "fine_forwarding.hpp"
#include "fine_search.hpp"
#include "fine_ways.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace certree {
namespace {

// `ragged`: offsets and values of way, when_sent, when_landed, opens, groups and parallel, in this order.
FineJobs make_jobs(Column<int32_t> src, Column<int32_t> dst, Column<uint8_t> adds, Column<int32_t> needs,
                   Column<int32_t> original_of, Column<int32_t> group, Column<int32_t> lanes, int32_t nodes,
                   const std::vector<std::pair<Column<int32_t>, Column<int32_t>>>& ragged) {
  std::vector<Ragged> parts;
  for (const auto& [offset, value] : ragged) parts.push_back({copy(offset), copy(value)});
  if (parts.size() != 6) throw std::invalid_argument("expected 6 ragged columns");
  return {copy(src), copy(dst),         copy(adds), parts[0],    copy(needs), parts[1], parts[2],
          parts[3],  copy(original_of), parts[4],   copy(group), copy(lanes), parts[5], nodes};
}

// Cycles of ser, red, ends, start and slot, and of each link.
FineCosts make_costs(const std::array<int64_t, 5>& times, const Column<int64_t>& hop) {
  return {times[0], times[1], times[2], times[3], times[4], copy(hop)};
}

// (outcome, fire, landed, link, reads_original): see fine_booking.hpp.
auto book_jobs(const FineJobs& jobs, const std::array<int64_t, 5>& cycles, Column<int64_t> hop, Column<int64_t> priority,
               Column<int64_t> earliest, bool patient, bool apart) {
  const auto costs = make_costs(cycles, hop);
  const FineTurns turns{copy(priority), copy(earliest), patient, apart};
  FineTimes times;
  {
    nb::gil_scoped_release release;
    times = FineScheduler(jobs, costs).book(turns);
  }
  const auto column = [](const auto& values) { return to_numpy(values, {values.size()}); };
  return std::make_tuple(static_cast<int32_t>(times.outcome), column(times.fire), column(times.landed), column(times.link),
                         column(times.reads_original));
}

// (outcome, fire, landed, reads_original, wait, channel, crowded): see fine_forwarding.hpp.
auto forward_jobs(const FineJobs& jobs, const std::array<int64_t, 5>& cycles, Column<int64_t> hop, Column<int64_t> priority,
                  Column<int64_t> earliest, Column<int32_t> layer, Column<int32_t> way, int32_t layers, int32_t parts, int64_t room,
                  int64_t rounds) {
  const auto costs = make_costs(cycles, hop);
  const FineChannels channels{copy(layer), copy(way), layers, parts, room};
  FineForwarded found;
  {
    nb::gil_scoped_release release;
    found = forward(jobs, costs, {copy(priority), copy(earliest)}, channels, rounds);
  }
  const auto column = [](const auto& values) { return to_numpy(values, {values.size()}); };
  return std::make_tuple(static_cast<int32_t>(found.times.outcome), column(found.times.fire), column(found.times.landed),
                         column(found.times.reads_original), column(found.wait), column(found.channel), found.crowded);
}

// (end, priority, release): see fine_search.hpp.
auto search_jobs(const FineJobs& jobs, const std::array<int64_t, 5>& cycles, Column<int64_t> hop, Column<int64_t> priority,
                 Column<int64_t> earliest, bool patient, bool apart, Column<int32_t> family, Column<int32_t> part, int64_t tries,
                 int64_t bound, uint64_t seed) {
  const auto costs = make_costs(cycles, hop);
  const FineTurns turns{copy(priority), copy(earliest), patient, apart};
  const FineGroups groups{copy(family), copy(part)};
  FineFound found;
  {
    nb::gil_scoped_release release;
    found = search(jobs, costs, turns, groups, tries, bound, seed);
  }
  const auto column = [](const auto& values) { return to_numpy(values, {values.size()}); };
  return std::make_tuple(found.end, column(found.turns.priority), column(found.turns.release));
}

// (offsets, links, first pair without a route or -1): see fine_ways.hpp.
auto ways_of(Column<int32_t> link_src, Column<int32_t> link_dst, Column<int32_t> capacity, Column<uint8_t> forwards,
             Column<int32_t> src, Column<int32_t> dst, int32_t sweeps) {
  const FineNetwork network{copy(link_src), copy(link_dst), copy(capacity), copy(forwards)};
  const auto found = even_ways(network, copy(src), copy(dst), sweeps);
  const auto column = [](const auto& values) { return to_numpy(values, {values.size()}); };
  return std::make_tuple(column(found.ways.offset), column(found.ways.value), found.lost);
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

}  // namespace

void bind_fine(nb::module_& module) {
  nb::class_<FineJobs>(module, "FineJobs", "Transfers with fine slots, what they wait for, and their network.")
      .def(
          "__init__",
          [](FineJobs* self, Column<int32_t> src, Column<int32_t> dst, Column<uint8_t> adds, Column<int32_t> needs,
             Column<int32_t> original_of, Column<int32_t> group, Column<int32_t> lanes, int32_t nodes,
             const std::vector<std::pair<Column<int32_t>, Column<int32_t>>>& ragged) {
            new (self) FineJobs(make_jobs(src, dst, adds, needs, original_of, group, lanes, nodes, ragged));
          },
          "src"_a, "dst"_a, "adds"_a, "needs"_a, "original_of"_a, "group"_a, "lanes"_a, "nodes"_a, "ragged"_a)
      .def("book", &book_jobs, "cycles"_a, "hop"_a, "priority"_a, "release"_a, "patient"_a, "apart"_a,
           "List scheduling: (0, or 1 where transfers wait in a circle, or 2 where some that leave together meet; fire, landed, "
           "link, whether the original is read). `cycles`: ser, red, ends, start, slot.")
      .def("forward", &forward_jobs, "cycles"_a, "hop"_a, "priority"_a, "release"_a, "layer"_a, "way"_a, "layers"_a, "parts"_a,
           "room"_a, "rounds"_a,
           "A paced run: (outcome as that of book, fire, landed, whether the original is read, cycles of waiting by place in the "
           "ways, virtual channel, transfers without a buffer to wait in).")
      .def("search", &search_jobs, "cycles"_a, "hop"_a, "priority"_a, "release"_a, "patient"_a, "apart"_a, "family"_a, "part"_a,
           "tries"_a, "bound"_a, "seed"_a, "Local search: (end, priority, release) of the best turns found.");
  module.def("strong_parts", &parts_of, "nodes"_a, "tail"_a, "head"_a,
             "By node of a directed graph the number of its strongly connected component.");
  module.def("even_ways", &ways_of, "link_src"_a, "link_dst"_a, "capacity"_a, "forwards"_a, "src"_a, "dst"_a, "sweeps"_a,
             "Shortest routes that load links evenly: (offsets, links, the first pair without a route or -1).");
}

}  // namespace certree
