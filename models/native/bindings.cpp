// Python bindings of the list scheduler.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>

#include "columns.hpp"
#include "fine/fine_forwarding.hpp"
#include "fine/fine_in_order.hpp"
#include "fine/first_fit.hpp"
#include "hops.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace certree {
namespace {

// Offsets; then resource, source, cycles after leaving, length.
using PlaceColumns = std::tuple<Column<int32_t>, Column<int32_t>, Column<int32_t>, Column<int64_t>, Column<int64_t>>;
// Resource, entry, length.
using TakenColumns = std::tuple<Column<int32_t>, Column<int64_t>, Column<int64_t>>;

Places make_places(const PlaceColumns& columns) {
  const auto& [offset, resource, source, after, length] = columns;
  Places found{copy(offset), {}};
  for (size_t i = 0; i < resource.size(); ++i) {
    found.place.push_back({resource.data()[i], source.data()[i], after.data()[i], length.data()[i]});
  }
  return found;
}

std::vector<Taken> make_taken(const TakenColumns& columns) {
  const auto& [resource, entry, length] = columns;
  std::vector<Taken> found;
  for (size_t i = 0; i < resource.size(); ++i) found.push_back({resource.data()[i], entry.data()[i], length.data()[i]});
  return found;
}

// `ragged`: offsets and values of route, when_sent, when_landed, opens, groups and parallel, in this order.
FineJobs make_jobs(Column<int32_t> src, Column<int32_t> dst, Column<uint8_t> adds, Column<int32_t> needs,
                   Column<int32_t> original_of, Column<int32_t> group, Column<int32_t> lanes, int32_t nodes,
                   const std::vector<std::pair<Column<int32_t>, Column<int32_t>>>& ragged, Column<int32_t> follows,
                   const PlaceColumns& holds, const TakenColumns& taken, Column<int64_t> length) {
  std::vector<Ragged> parts;
  for (const auto& [offset, value] : ragged) parts.push_back({copy(offset), copy(value)});
  if (parts.size() != 6) throw std::invalid_argument("expected 6 ragged columns");
  return {copy(src), copy(dst), copy(adds),        parts[0],           copy(needs),       parts[1],
          parts[2],  parts[3],  copy(original_of), parts[4],           copy(group),       copy(lanes),
          parts[5],  nodes,     copy(follows),     make_places(holds), make_taken(taken), copy(length)};
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
                  Column<int64_t> earliest, Column<int32_t> layer, Column<int32_t> route, int32_t layers, int32_t parts,
                  int64_t room, int64_t rounds) {
  const auto costs = make_costs(cycles, hop);
  const FineChannels channels{copy(layer), copy(route), layers, parts, room};
  FineForwarded found;
  {
    nb::gil_scoped_release release;
    found = forward(jobs, costs, {copy(priority), copy(earliest)}, channels, rounds);
  }
  const auto column = [](const auto& values) { return to_numpy(values, {values.size()}); };
  return std::make_tuple(static_cast<int32_t>(found.times.outcome), column(found.times.fire), column(found.times.landed),
                         column(found.times.reads_original), column(found.wait), column(found.channel), found.crowded);
}

// (fire, the group that found no common slot or -1): see fine_in_order.hpp.
auto book_stated(const std::pair<Column<int32_t>, Column<int32_t>>& groups, const PlaceColumns& places, Column<int32_t> reads,
                 Column<int32_t> writes, Column<uint8_t> copies, Column<int64_t> lands, Column<int64_t> earliest,
                 Column<int32_t> lanes, const TakenColumns& taken, int64_t slot, int64_t guard, int32_t sharing) {
  if (sharing < 0 || sharing > static_cast<int32_t>(Sharing::meetings)) throw std::invalid_argument("unknown way of sharing");
  const StatedJobs jobs{{copy(groups.first), copy(groups.second)},
                        make_places(places),
                        copy(reads),
                        copy(writes),
                        copy(copies),
                        copy(lands),
                        copy(earliest),
                        copy(lanes),
                        make_taken(taken),
                        slot,
                        guard,
                        static_cast<Sharing>(sharing)};
  StatedTimes times;
  {
    nb::gil_scoped_release release;
    times = book_in_order(jobs);
  }
  return std::make_tuple(to_numpy(times.fire, {times.fire.size()}), times.met);
}

// By transfer its round: see first_fit.hpp. `claims`, `members`, `later`: offsets and values.
auto fit_step(const std::pair<Column<int32_t>, Column<int32_t>>& claims, Column<int32_t> capacity,
              const std::pair<Column<int32_t>, Column<int32_t>>& members, const std::pair<Column<int32_t>, Column<int32_t>>& later,
              Column<int64_t> key) {
  const auto ragged = [](const auto& columns) { return Ragged{copy(columns.first), copy(columns.second)}; };
  const StepJobs jobs{ragged(claims), copy(capacity), ragged(members), ragged(later), copy(key)};
  const auto is_whole = [](const Ragged& rows, size_t length, size_t below) {
    return rows.offset.size() == length + 1 && rows.offset.front() == 0 && std::is_sorted(rows.offset.begin(), rows.offset.end()) &&
           rows.offset.back() == static_cast<int32_t>(rows.value.size()) &&
           std::all_of(rows.value.begin(), rows.value.end(),
                       [below](int32_t one) { return one >= 0 && static_cast<size_t>(one) < below; });
  };
  const size_t rows = jobs.key.size(), groups = std::max<size_t>(jobs.later.offset.size(), 1) - 1;
  if (!is_whole(jobs.claims, rows, jobs.capacity.size()) || !is_whole(jobs.members, groups, rows) ||
      !is_whole(jobs.later, groups, groups)) {
    throw std::invalid_argument("columns that do not fit each other");
  }
  std::vector<int32_t> round;
  {
    nb::gil_scoped_release release;
    round = first_fit(jobs);
  }
  return to_numpy(round, {round.size()});
}

// By node the links from `start` on: see hops.hpp.
auto hops_of(int32_t start, Column<int64_t> first, Column<int32_t> head, Column<uint8_t> passes) {
  const auto begin = copy(first);
  const auto ends = copy(head);
  const auto below = static_cast<int32_t>(passes.size());
  if (start < 0 || start >= below || begin.size() != passes.size() + 1 || begin.front() != 0 ||
      !std::is_sorted(begin.begin(), begin.end()) || begin.back() != static_cast<int64_t>(ends.size()) ||
      !std::all_of(ends.begin(), ends.end(), [below](int32_t one) { return one >= 0 && one < below; })) {
    throw std::invalid_argument("columns that do not fit each other");
  }
  const auto hops = hops_from(start, begin, ends, copy(passes));
  return to_numpy(hops, {hops.size()});
}

}  // namespace
}  // namespace certree

NB_MODULE(_lists, module) {
  using namespace certree;
  module.doc() = "The list scheduler: transfers in cycles, by events or in a stated order.";
  nb::class_<FineJobs>(module, "FineJobs", "Transfers with fine slots, what they wait for, and their network.")
      .def(
          "__init__",
          [](FineJobs* self, Column<int32_t> src, Column<int32_t> dst, Column<uint8_t> adds, Column<int32_t> needs,
             Column<int32_t> original_of, Column<int32_t> group, Column<int32_t> lanes, int32_t nodes,
             const std::vector<std::pair<Column<int32_t>, Column<int32_t>>>& ragged, Column<int32_t> follows,
             const PlaceColumns& holds, const TakenColumns& taken, Column<int64_t> length) {
            new (self)
                FineJobs(make_jobs(src, dst, adds, needs, original_of, group, lanes, nodes, ragged, follows, holds, taken, length));
          },
          "src"_a, "dst"_a, "adds"_a, "needs"_a, "original_of"_a, "group"_a, "lanes"_a, "nodes"_a, "ragged"_a, "follows"_a,
          "holds"_a, "taken"_a, "length"_a)
      .def("book", &book_jobs, "cycles"_a, "hop"_a, "priority"_a, "release"_a, "patient"_a, "apart"_a,
           "List scheduling: (0, or 1 where transfers wait in a circle, or 2 where some that leave together meet; fire, landed, "
           "link, whether the original is read). `cycles`: ser, red, ends, start, slot.")
      .def("forward", &forward_jobs, "cycles"_a, "hop"_a, "priority"_a, "release"_a, "layer"_a, "way"_a, "layers"_a, "parts"_a,
           "room"_a, "rounds"_a,
           "A paced run: (outcome as that of book, fire, landed, whether the original is read, cycles of waiting by place in the "
           "routes, virtual channel, transfers without a buffer to wait in).");
  module.def("hops_from", &hops_of, "start"_a, "first"_a, "head"_a, "passes"_a,
             "By node the fewest links from `start`, through nodes that pass data on; -1 where there is no path.");
  module.def("first_fit", &fit_step, "claims"_a, "capacity"_a, "members"_a, "later"_a, "key"_a,
             "By transfer of a step the first round in which all that it claims has room, group by group in the order of keys.");
  module.def(
      "book_in_order", &book_stated, "groups"_a, "places"_a, "reads"_a, "writes"_a, "copies"_a, "lands"_a, "release"_a, "lanes"_a,
      "taken"_a, "slot"_a, "guard"_a, "sharing"_a,
      "List scheduling in a stated order: (fire, the group that found no common slot or -1). `sharing` of resources: 0, each "
      "message has a lane, behind all others; 1, or between them; 2, it meets fewer messages than there are lanes.");
}
