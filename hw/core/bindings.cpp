// Python bindings of the simulator core.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <string>
#include <tuple>

#include "aggregation_bindings.hpp"
#include "columns.hpp"
#include "endpoint/bindings.hpp"
#include "event_machine.hpp"
#include "flit_machine.hpp"
#include "flit_network_bindings.hpp"
#include "packet_stepper_bindings.hpp"
#include "run_documents.hpp"

namespace nb = nanobind;

namespace {

using Cells = nb::ndarray<std::uint64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

certree::Program read_program(const nb::dict& scalars, const nb::dict& columns) {
  certree::Program program = certree::read_rows(scalars, columns);
  program.message_hops = {certree::column<std::uint32_t>(columns, "message_hops_begin"),
                          certree::column<std::uint32_t>(columns, "message_hops")};
  program.bundle_begin = certree::column<std::uint32_t>(columns, "bundle_begin");
  program.bundle_source = certree::column<std::uint32_t>(columns, "bundle_source");
  program.bundle_destination = certree::column<std::uint32_t>(columns, "bundle_destination");
  program.bundle_latency = certree::column<std::uint32_t>(columns, "bundle_latency");
  return program;
}

// An engine together with the numpy array that is its memory.
class Run {
 public:
  Run(const nb::dict& scalars, const nb::dict& columns, const std::string& engine, const std::string& mode, Cells cells, bool traced)
      : cells_(cells) {
    const auto run_mode = mode == "paced" ? certree::RunMode::kPaced : certree::RunMode::kSlotted;
    const auto memory = checked_cells(scalars, cells);
    if (engine == "fast") {
      machine_ = std::make_unique<certree::EventMachine>(read_program(scalars, columns), run_mode, memory, traced);
    } else {
      machine_ = std::make_unique<certree::FlitMachine>(read_program(scalars, columns), run_mode, memory, traced);
    }
  }

  bool advance(std::uint64_t budget) { return machine_->run(budget); }
  const certree::LaneMachine& machine() const { return *machine_; }

 private:
  static std::span<std::uint64_t> checked_cells(const nb::dict& scalars, const Cells& cells) {
    const auto chunks = certree::scalar<std::uint64_t>(scalars, "chunks") * certree::scalar<std::uint64_t>(scalars, "repeats");
    if (cells.shape(0) != certree::scalar<std::uint64_t>(scalars, "nodes") || cells.shape(1) != chunks) {
      throw std::invalid_argument("simulator memory must have shape (nodes, chunks of all iterations)");
    }
    return {cells.data(), cells.size()};
  }

  Cells cells_;
  std::unique_ptr<certree::LaneMachine> machine_;
};

nb::dict statistics(const Run& run) {
  return certree::shown_statistics(run.machine().statistics(), run.machine().busiest_lane_cycles());
}

// (message, lane, start) of every lane that a message got.
std::vector<std::tuple<std::uint64_t, std::uint32_t, std::uint64_t>> hops(const Run& run) {
  std::vector<std::tuple<std::uint64_t, std::uint32_t, std::uint64_t>> rows;
  for (const certree::HopRecord& record : run.machine().hops()) {
    rows.emplace_back(record.message, record.lane.value, record.start.value);
  }
  return rows;
}

}  // namespace

NB_MODULE(_core, module) {
  module.doc() = "Cycle-accurate simulator core.";
  nb::class_<Run>(module, "Run", "One run of a set of tables; `cells` is the memory of all nodes and is changed in place.")
      .def(nb::init<const nb::dict&, const nb::dict&, const std::string&, const std::string&, Cells, bool>(), nb::arg("scalars"),
           nb::arg("columns"), nb::arg("engine"), nb::arg("mode"), nb::arg("cells").noconvert(), nb::arg("traced"))
      .def("advance", &Run::advance, nb::arg("budget"), nb::call_guard<nb::gil_scoped_release>(),
           "Run for about `budget` flit moves (lanes) or events (fast); returns whether the run has ended.")
      .def_prop_ro("cycle", [](const Run& run) { return run.machine().now().value; })
      .def_prop_ro("is_deadlocked", [](const Run& run) { return run.machine().is_deadlocked(); })
      .def("statistics", &statistics)
      .def("waiting", [](const Run& run) { return certree::waiting_rows(run.machine().waiting()); })
      .def("trace", [](const Run& run) { return certree::trace_rows(run.machine().trace()); })
      .def("hops", &hops);
  certree::bind_endpoints(module);
  certree::bind_flit_network(module);
  certree::bind_packet_stepper(module);
  certree::bind_aggregation(module);
}
