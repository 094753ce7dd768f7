// Python bindings of the proof checker.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>

#include <stdexcept>

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

std::pair<int, size_t> check(int32_t variables, Column<int32_t> formula, Column<int32_t> proof, Column<uint8_t> deletes) {
  if (variables < 0) throw std::invalid_argument("a negative number of variables");
  const auto given = copy(formula), lines = copy(proof);
  const auto flags = copy(deletes);
  checked(given, variables);
  if (checked(lines, variables) != flags.size()) throw std::invalid_argument("a flag is needed for every line");
  for (const uint8_t flag : flags) {
    if (flag > 1) throw std::invalid_argument("a flag is 0 (add the clause) or 1 (delete it)");
  }
  size_t line = 0;
  nb::gil_scoped_release release;
  const RupResult result = check_rup(variables, given, lines, flags, line);
  return {static_cast<int>(result), line};
}

}  // namespace
}  // namespace certree

NB_MODULE(_proofs, m) {
  m.doc() = "Checking refutations.";
  m.def("check_rup", &certree::check, "variables"_a, "formula"_a, "proof"_a, "deletes"_a,
        "Whether lines refute a formula, each clause derived from those before it by unit propagation: (number of a RupResult, "
        "line).");
}
