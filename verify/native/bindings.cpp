// Python bindings of what checkers need to be fast.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/tuple.h>

#include <limits>
#include <stdexcept>

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

}  // namespace
}  // namespace certree

NB_MODULE(_proofs, m) {
  m.doc() = "Checking refutations, and chains of waits.";
  m.def("check_rup", &certree::check, "variables"_a, "formula"_a, "proof"_a, "deletes"_a,
        "most_steps"_a = std::numeric_limits<uint64_t>::max(),
        "Whether lines refute a formula, each clause derived from those before it by unit propagation: (number of a RupResult, "
        "line, clauses visited).");
  m.def("known_units", &certree::known, "source"_a, "place"_a, "low"_a, "high"_a, "arrivals"_a, "nodes"_a,
        "How many units of each node have fired, as each unit knows: int32 of shape (units, nodes); see known_units.hpp.");
}
