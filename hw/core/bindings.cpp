// Python bindings of the simulator core.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <tuple>

#include "flit_network_bindings.hpp"
#include "simulator.hpp"

namespace nb = nanobind;

namespace {

using Column = nb::ndarray<const std::uint32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Cells = nb::ndarray<std::uint64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

template <class T>
T scalar(const nb::dict& scalars, const char* name) {
  return nb::cast<T>(scalars[name]);
}

std::vector<std::uint32_t> column(const nb::dict& columns, const char* name) {
  const auto view = nb::cast<Column>(columns[name]);
  return {view.data(), view.data() + view.shape(0)};
}

certree::Program read_program(const nb::dict& scalars, const nb::dict& columns) {
  certree::Program program;
  program.nodes = scalar<std::uint32_t>(scalars, "nodes");
  program.chunks = scalar<std::uint32_t>(scalars, "chunks");
  program.repeats = scalar<std::uint32_t>(scalars, "repeats");
  program.period = scalar<std::uint32_t>(scalars, "period");
  program.slot_cycles = scalar<std::uint64_t>(scalars, "slot_cycles");
  program.message_flits = scalar<std::uint32_t>(scalars, "message_flits");
  program.ni_buffer_flits = scalar<std::uint64_t>(scalars, "ni_buffer_flits");
  program.reduce_start_cycles = scalar<std::uint64_t>(scalars, "reduce_start_cycles");
  program.reduce_chunk_cycles = scalar<std::uint64_t>(scalars, "reduce_chunk_cycles");
  program.ni_cycles = scalar<std::uint32_t>(scalars, "ni_cycles");
  program.router_cycles = scalar<std::uint32_t>(scalars, "router_cycles");
  program.row_begin = column(columns, "row_begin");
  program.row_op = column(columns, "row_op");
  program.row_flow = column(columns, "row_flow");
  program.row_step = column(columns, "row_step");
  program.row_waits = {column(columns, "row_waits_begin"), column(columns, "row_waits")};
  program.row_messages = {column(columns, "row_messages_begin"), column(columns, "row_messages")};
  program.message_bundle = column(columns, "message_bundle");
  program.message_arrival = column(columns, "message_arrival");
  program.bundle_begin = column(columns, "bundle_begin");
  program.bundle_source = column(columns, "bundle_source");
  program.bundle_destination = column(columns, "bundle_destination");
  program.bundle_latency = column(columns, "bundle_latency");
  program.arrival_begin = column(columns, "arrival_begin");
  return program;
}

// A simulator together with the numpy array that is its memory.
class Run {
 public:
  Run(const nb::dict& scalars, const nb::dict& columns, const std::string& mode, Cells cells, bool traced)
      : cells_(cells),
        simulator_(read_program(scalars, columns), mode == "paced" ? certree::RunMode::kPaced : certree::RunMode::kSlotted,
                   checked_cells(scalars, cells), traced) {}

  bool advance(std::uint64_t budget) { return simulator_.run(budget); }
  const certree::Simulator& simulator() const { return simulator_; }

 private:
  static std::span<std::uint64_t> checked_cells(const nb::dict& scalars, const Cells& cells) {
    const auto chunks = scalar<std::uint64_t>(scalars, "chunks") * scalar<std::uint64_t>(scalars, "repeats");
    if (cells.shape(0) != scalar<std::uint64_t>(scalars, "nodes") || cells.shape(1) != chunks) {
      throw std::invalid_argument("simulator memory must have shape (nodes, chunks of all iterations)");
    }
    return {cells.data(), cells.size()};
  }

  Cells cells_;
  certree::Simulator simulator_;
};

nb::dict statistics(const Run& run) {
  const certree::Statistics& values = run.simulator().statistics();
  nb::dict result;
  result["cycles"] = values.end.value;
  result["contention_cycles"] = values.contention_cycles;
  result["late"] = values.late;
  result["messages"] = values.messages;
  result["flit_hops"] = values.flit_hops;
  result["busiest_lane_cycles"] = run.simulator().busiest_lane_cycles();
  return result;
}

// (node, row or -1, iteration, arrival or -1) of every node that is not done.
std::vector<std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t>> waiting(const Run& run) {
  std::vector<std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t>> nodes;
  for (const certree::Waiting& entry : run.simulator().waiting()) {
    const std::int64_t arrival = entry.arrival ? std::int64_t{entry.arrival->value} : -1;
    nodes.emplace_back(entry.node.value, entry.firing ? std::int64_t{entry.firing->row.value} : -1,
                       entry.firing ? entry.firing->iteration : 0, arrival);
  }
  return nodes;
}

// (row, iteration, destination, fired, first, complete, usable) of every message.
std::vector<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t>> trace(
    const Run& run) {
  std::vector<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t>> rows;
  for (const certree::TraceRecord& record : run.simulator().trace()) {
    rows.emplace_back(record.row.value, record.iteration, record.destination.value, record.fired.value, record.first.value,
                      record.complete.value, record.usable.value);
  }
  return rows;
}

}  // namespace

NB_MODULE(_core, module) {
  module.doc() = "Cycle-accurate simulator core.";
  nb::class_<Run>(module, "Run", "One run of a set of tables; `cells` is the memory of all nodes and is changed in place.")
      .def(nb::init<const nb::dict&, const nb::dict&, const std::string&, Cells, bool>(), nb::arg("scalars"), nb::arg("columns"),
           nb::arg("mode"), nb::arg("cells").noconvert(), nb::arg("traced"))
      .def("advance", &Run::advance, nb::arg("budget"), nb::call_guard<nb::gil_scoped_release>(),
           "Run for about `budget` flit moves; returns whether the run has ended.")
      .def_prop_ro("cycle", [](const Run& run) { return run.simulator().now().value; })
      .def_prop_ro("is_deadlocked", [](const Run& run) { return run.simulator().is_deadlocked(); })
      .def("statistics", &statistics)
      .def("waiting", &waiting)
      .def("trace", &trace);
  certree::bind_flit_network(module);
}
