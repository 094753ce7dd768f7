// Numpy columns and Python numbers as the plain ones of the core.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <span>
#include <stdexcept>
#include <vector>

#include "common/choices.hpp"
#include "common/program.hpp"

namespace certree {

// Arguments and results, so called that generated stubs have their types.
struct IntegerArray : nanobind::object {
  using object::object;
  static constexpr auto Name = nanobind::detail::const_name("numpy.typing.NDArray[numpy.integer]");
};
using Scalars = nanobind::typed<nanobind::mapping, nanobind::str, nanobind::int_>;
using RowColumns = nanobind::typed<nanobind::mapping, nanobind::str, nanobind::ndarray<nanobind::numpy, std::uint32_t>>;
using Columns = nanobind::typed<nanobind::mapping, nanobind::str, IntegerArray>;
using Counters = nanobind::typed<nanobind::dict, nanobind::str, nanobind::int_>;

template <class T>
T scalar(const nanobind::mapping& scalars, const char* name) {
  T value;
  if (!nanobind::try_cast(scalars[name], value)) throw std::invalid_argument(std::string(name) + " is out of range");
  return value;
}

// 0 or 1, or a Python bool.
inline bool flag(const nanobind::mapping& scalars, const char* name) {
  return numbered<bool>(name, scalar<std::uint64_t>(scalars, name), {"no", "yes"});
}

template <class T>
std::vector<T> column(const nanobind::mapping& columns, const char* name) {
  using Column = nanobind::ndarray<const T, nanobind::ndim<1>, nanobind::c_contig, nanobind::device::cpu>;
  const auto view = nanobind::cast<Column>(columns[name]);
  return {view.data(), view.data() + view.shape(0)};
}

using Cells = nanobind::ndarray<std::uint64_t, nanobind::ndim<2>, nanobind::c_contig, nanobind::device::cpu>;

// The memory of a run of tables: an integer for each node (row) and chunk that it has room for.
inline std::span<std::uint64_t> run_memory(const nanobind::mapping& scalars, const Cells& cells) {
  const auto chunks = scalar<std::uint64_t>(scalars, "cells");
  if (cells.shape(0) != scalar<std::uint64_t>(scalars, "nodes") || cells.shape(1) != chunks) {
    throw std::invalid_argument("simulator memory must have shape (nodes, cells of a node)");
  }
  return {cells.data(), cells.size()};
}

// The rows, messages and arrivals of a program; its lanes stay empty.
inline Program read_rows(const nanobind::mapping& scalars, const nanobind::mapping& columns) {
  Program program;
  program.nodes = scalar<std::uint32_t>(scalars, "nodes");
  program.repeats = scalar<std::uint32_t>(scalars, "repeats");
  program.period = scalar<std::uint32_t>(scalars, "period");
  program.slot_cycles = scalar<std::uint64_t>(scalars, "slot_cycles");
  program.step_cycles = scalar<std::uint64_t>(scalars, "step_cycles");
  program.ni_buffer_flits = scalar<std::uint64_t>(scalars, "ni_buffer_flits");
  program.reduce_start_cycles = scalar<std::uint64_t>(scalars, "reduce_start_cycles");
  program.reduce_chunk_cycles = scalar<std::uint64_t>(scalars, "reduce_chunk_cycles");
  program.interface_cycles = scalar<std::uint64_t>(scalars, "interface_cycles");
  program.router_cycles = scalar<std::uint32_t>(scalars, "router_cycles");
  program.cells = scalar<std::uint64_t>(scalars, "cells");
  program.stride = scalar<std::uint64_t>(scalars, "stride");
  program.work_base = scalar<std::uint64_t>(scalars, "work_base");
  program.work_stride = scalar<std::uint64_t>(scalars, "work_stride");
  program.in_flight = scalar<std::uint32_t>(scalars, "in_flight");
  program.row_begin = column<std::uint32_t>(columns, "row_begin");
  program.row_op = column<std::uint32_t>(columns, "row_op");
  program.row_cell = column<std::uint32_t>(columns, "row_cell");
  program.row_step = column<std::uint32_t>(columns, "row_step");
  program.row_waits = {column<std::uint32_t>(columns, "row_waits_begin"), column<std::uint32_t>(columns, "row_waits")};
  program.row_needs = column<std::uint32_t>(columns, "row_needs");
  program.row_messages = {column<std::uint32_t>(columns, "row_messages_begin"), column<std::uint32_t>(columns, "row_messages")};
  program.message_arrival = column<std::uint32_t>(columns, "message_arrival");
  program.message_cell = column<std::uint32_t>(columns, "message_cell");
  program.message_cycles = column<std::uint32_t>(columns, "message_cycles");
  program.message_addition = column<std::uint32_t>(columns, "message_addition");
  program.message_turn = column<std::uint32_t>(columns, "message_turn");
  program.clock_skew = column<std::uint32_t>(columns, "clock_skew");
  program.clock_numerator = column<std::uint32_t>(columns, "clock_numerator");
  program.clock_denominator = column<std::uint32_t>(columns, "clock_denominator");
  program.arrival_begin = column<std::uint32_t>(columns, "arrival_begin");
  program.arrival_count = column<std::uint32_t>(columns, "arrival_count");
  return program;
}

}  // namespace certree
