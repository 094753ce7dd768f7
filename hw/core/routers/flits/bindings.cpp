#include <nanobind/ndarray.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "bindings.hpp"
#include "common/columns.hpp"
#include "routers/flits/flit_bits.hpp"

namespace nb = nanobind;

namespace certree {
namespace {

using Words = nb::ndarray<nb::numpy, std::uint64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

FlitShape read_shape(const nb::mapping& widths) {
  const FlitShape shape{scalar<std::uint32_t>(widths, "vc"),    scalar<std::uint32_t>(widths, "node"),
                        scalar<std::uint32_t>(widths, "ports"), scalar<std::uint32_t>(widths, "hops"),
                        scalar<std::uint32_t>(widths, "tree"),  scalar<std::uint32_t>(widths, "data")};
  const std::uint64_t route = (std::uint64_t{shape.hops} + 1) * shape.ports;
  if (std::max({shape.vc, shape.node, shape.tree}) > 31 || shape.data < route + shape.tree || shape.data < 2 * shape.node) {
    throw std::invalid_argument("a head is wider than its flit");
  }
  return shape;
}

std::span<std::uint64_t> row(const Words& words, std::size_t index) {
  return {words.data() + index * words.shape(1), words.shape(1)};
}

void require_limbs(const Words& words, const FlitShape& shape, std::size_t flits) {
  if (words.shape(0) != flits || words.shape(1) != shape.limbs()) throw std::invalid_argument("words do not fit the flits");
}

// Write the flits of these columns into `words`, which are zeros; `data` has limbs as words do.
void pack(const Scalars& widths, const RowColumns& columns, const Words& data, const Words& words) {
  const FlitShape shape = read_shape(widths);
  const auto type = column<std::uint32_t>(columns, "type"), vc = column<std::uint32_t>(columns, "vc");
  const auto dest = column<std::uint32_t>(columns, "dest"), src = column<std::uint32_t>(columns, "src");
  const auto tree = column<std::uint32_t>(columns, "tree"), route = column<std::uint32_t>(columns, "route");
  const std::size_t flits = type.size(), fields = shape.route_fields();
  for (const auto* one : {&vc, &dest, &src, &tree}) {
    if (one->size() != flits) throw std::invalid_argument("columns differ in length");
  }
  if (route.size() != flits * fields) throw std::invalid_argument("a route has a field for each hop, and Eject");
  require_limbs(words, shape, flits);
  require_limbs(data, shape, flits);
  for (std::size_t i = 0; i < flits; ++i) {
    const std::span<std::uint64_t> limbs = row(data, i);
    const FlitFields flit{static_cast<FlitCode>(type[i] & 7),
                          vc[i],
                          dest[i],
                          src[i],
                          tree[i],
                          {route.begin() + i * fields, route.begin() + (i + 1) * fields},
                          {limbs.begin(), limbs.end()}};
    pack_flit(shape, flit, row(words, i));
  }
}

// Write the fields of flits into `fields` (type, vc, dest, src, tree, then the route) and their data into `data`, which are zeros;
// returns for each whether its route is one-hot.
std::vector<bool> unpack(const Scalars& widths, const Words& words, const Words& fields, const Words& data) {
  const FlitShape shape = read_shape(widths);
  const std::size_t flits = words.shape(0);
  require_limbs(words, shape, flits);
  require_limbs(data, shape, flits);
  if (fields.shape(0) != flits || fields.shape(1) != 5 + shape.route_fields()) throw std::invalid_argument("fields do not fit");
  std::vector<bool> legal(flits);
  FlitFields flit;
  for (std::size_t i = 0; i < flits; ++i) {
    legal[i] = unpack_flit(shape, row(words, i), flit);
    const std::span<std::uint64_t> to = row(fields, i);
    const std::uint64_t numbers[] = {static_cast<std::uint64_t>(flit.code), flit.vc, flit.dest, flit.src, flit.tree};
    std::copy(std::begin(numbers), std::end(numbers), to.begin());
    std::copy(flit.route.begin(), flit.route.end(), to.begin() + std::size(numbers));
    std::copy(flit.data.begin(), flit.data.end(), row(data, i).begin());
  }
  return legal;
}

// Turn the routes of flits by one field, in place.
void turn(const Scalars& widths, const Words& words) {
  const FlitShape shape = read_shape(widths);
  require_limbs(words, shape, words.shape(0));
  for (std::size_t i = 0; i < words.shape(0); ++i) turn_flit(shape, row(words, i));
}

}  // namespace

void bind_flits(nb::module_& module) {
  module.def("pack_flits", &pack, nb::arg("widths"), nb::arg("columns"), nb::arg("data").noconvert(), nb::arg("words").noconvert(),
             "Flits of columns of fields, as bits (MultiTree, Fig. 8).");
  module.def("unpack_flits", &unpack, nb::arg("widths"), nb::arg("words").noconvert(), nb::arg("fields").noconvert(),
             nb::arg("data").noconvert(), "Fields of flits, and for each whether its route is one-hot.");
  module.def("turn_flits", &turn, nb::arg("widths"), nb::arg("words").noconvert(), "Heads of messages as routers pass them on.");
}

}  // namespace certree
