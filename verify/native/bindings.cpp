// Python bindings of what checkers need to be fast.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/tuple.h>

#include <array>
#include <limits>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "additions.hpp"
#include "known_units.hpp"
#include "rup_checker.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace certree {
namespace {

template <typename T>
using Column = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <typename T>
std::vector<T> copy(const Column<T>& column) {
  return {column.data(), column.data() + column.size()};
}

// The number of clauses; every literal must be in range and the last clause ended.
size_t checked(const std::vector<Literal>& literals, int32_t variables) {
  size_t ends = 0;
  for (const Literal literal : literals) {
    if (literal < -variables || literal > variables) throw std::invalid_argument("a literal is not a variable of the formula");
    ends += literal == 0;
  }
  if (!literals.empty() && literals.back() != 0) throw std::invalid_argument("the last clause does not end");
  return ends;
}

std::tuple<int, size_t, uint64_t> check(int32_t variables, Column<int32_t> formula, Column<int32_t> proof, Column<uint8_t> deletes,
                                        uint64_t most_steps) {
  if (variables < 0) throw std::invalid_argument("a negative number of variables");
  const auto given = copy(formula), lines = copy(proof);
  const auto flags = copy(deletes);
  checked(given, variables);
  if (checked(lines, variables) != flags.size()) throw std::invalid_argument("a flag is needed for every line");
  for (const uint8_t flag : flags) {
    if (flag > 1) throw std::invalid_argument("a flag is 0 (add the clause) or 1 (delete it)");
  }
  nb::gil_scoped_release release;
  const RupAnswer answer = check_rup(variables, given, lines, flags, most_steps);
  return {static_cast<int>(answer.result), answer.line, answer.steps};
}

using Table = nb::ndarray<nb::numpy, int32_t, nb::ndim<2>, nb::c_contig>;

Table known(Column<int64_t> source, Column<int64_t> place, Column<int64_t> low, Column<int64_t> high, Column<int64_t> arrivals,
            int64_t nodes) {
  const Units units{copy(source), copy(place), copy(low), copy(high), copy(arrivals)};
  const size_t count = units.source.size();
  if (units.place.size() != count || units.low.size() != count || units.high.size() != count) {
    throw std::invalid_argument("columns of units differ in length");
  }
  for (size_t unit = 0; unit < count; ++unit) {
    if (units.source[unit] < 0 || units.source[unit] >= nodes) throw std::invalid_argument("a unit has no such node");
    const int64_t low_one = units.low[unit], high_one = units.high[unit];
    if (low_one < 0 || high_one > static_cast<int64_t>(units.arrivals.size())) throw std::invalid_argument("no such arrival");
    for (int64_t at = low_one; at < high_one; ++at) {
      const int64_t other = units.arrivals[static_cast<size_t>(at)];
      if (other < 0 || other >= static_cast<int64_t>(unit)) throw std::invalid_argument("a unit waits for a later one");
    }
  }
  auto* found = new std::vector<int32_t>;
  const nb::capsule owner(found, [](void* data) noexcept { delete static_cast<std::vector<int32_t>*>(data); });
  {
    nb::gil_scoped_release release;
    *found = known_units(units, static_cast<size_t>(nodes));
  }
  return Table(found->data(), {count, static_cast<size_t>(nodes)}, owner);
}

using Numbers = nb::ndarray<nb::numpy, int32_t, nb::ndim<1>, nb::c_contig>;

Numbers given(std::vector<int32_t> values) {
  auto* kept = new std::vector<int32_t>(std::move(values));
  const nb::capsule owner(kept, [](void* data) noexcept { delete static_cast<std::vector<int32_t>*>(data); });
  return Numbers(kept->data(), {kept->size()}, owner);
}

// Columns of one length, or empty where they may be, with entries from 0 on.
template <typename T>
std::span<const T> checked(const Column<T>& column, size_t rows, int64_t limit, bool may_be_empty) {
  const std::span<const T> values(column.data(), column.size());
  if (values.size() != rows && !(may_be_empty && values.empty()))
    throw std::invalid_argument("columns of transfers differ in length");
  for (const T value : values) {
    if (value < 0 || value >= limit) throw std::invalid_argument("a column of transfers is out of range");
  }
  return values;
}

std::tuple<Numbers, Numbers, Numbers, int64_t, int64_t> added_up(const std::array<Column<int32_t>, 6>& columns, Column<int8_t> op,
                                                                 const std::array<Column<int64_t>, 2>& times,
                                                                 const std::array<Column<int64_t>, 2>& orders, Column<int32_t> held,
                                                                 const std::array<int64_t, 5>& sizes) {
  const auto [chunks, buffers, delay, ranks, apart] = sizes;
  const size_t rows = op.size();
  if (chunks < 1 || buffers < 1 || delay < 0 || ranks < 0 || ranks > std::numeric_limits<int32_t>::max()) {
    throw std::invalid_argument("sizes of a schedule are out of range");
  }
  const int64_t nodes = static_cast<int64_t>(held.size()) / (chunks * buffers), end = std::numeric_limits<int64_t>::max();
  const auto count = static_cast<int64_t>(rows);
  const CarriedRows carried{checked(columns[0], rows, nodes, false),
                            checked(columns[1], rows, nodes, false),
                            checked(columns[2], rows, chunks, false),
                            checked(columns[3], rows, buffers, true),
                            checked(columns[4], rows, buffers, true),
                            checked(columns[5], rows, end, false),
                            checked(op, rows, 2, false),
                            checked(times[0], rows, end, true),
                            checked(times[1], rows, end, true),
                            checked(orders[0], rows, count, true),
                            checked(orders[1], rows, count, true),
                            chunks,
                            buffers,
                            delay};
  AddedUp found;
  {
    nb::gil_scoped_release release;
    found = add_up(carried, copy(held), static_cast<int32_t>(ranks), apart);
  }
  return {given(std::move(found.held)), given(std::move(found.left)), given(std::move(found.right)), found.tied, found.ties};
}

}  // namespace
}  // namespace certree

NB_MODULE(_proofs, m) {
  m.doc() = "Checking refutations, chains of waits, and orders of additions.";
  m.def("check_rup", &certree::check, "variables"_a, "formula"_a, "proof"_a, "deletes"_a,
        "most_steps"_a = std::numeric_limits<uint64_t>::max(),
        "Whether lines refute a formula, each clause derived from those before it by unit propagation: (number of a RupResult, "
        "line, clauses visited).");
  m.def("known_units", &certree::known, "source"_a, "place"_a, "low"_a, "high"_a, "arrivals"_a, "nodes"_a,
        "How many units of each node have fired, as each unit knows: int32 of shape (units, nodes); see known_units.hpp.");
  m.def(
      "add_up", &certree::added_up, "columns"_a, "op"_a, "times"_a, "orders"_a, "held"_a, "sizes"_a,
      "(expression of each cell at the end, left and right operands of sums, a row that comes together with another one or -1, "
      "how many do). `columns`: src, dst, chunk, src_buffer, dst_buffer, step; `times`: lands, comes; `orders`: leaving, landing; "
      "`sizes`: chunks, buffers, delay, ranks, apart; see additions.hpp.");
}
