#include "bindings.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <tuple>

#include "common/columns.hpp"
#include "endpoint/read_parameters.hpp"
#include "endpoint/run/simulation.hpp"

namespace nb = nanobind;

namespace certree {
namespace {

endpoint::Lists read_lists(const nb::mapping& columns, const std::string& name) {
  return {column<std::uint32_t>(columns, (name + "_begin").c_str()), column<std::uint32_t>(columns, name.c_str())};
}

endpoint::Program read_endpoint_program(const nb::mapping& scalars, const nb::mapping& columns) {
  endpoint::Program program;
  program.nodes = scalar<std::uint32_t>(scalars, "nodes");
  program.phases = scalar<std::uint32_t>(scalars, "phases");
  program.parts = scalar<std::uint32_t>(scalars, "parts");
  program.chunks = scalar<std::uint32_t>(scalars, "chunks");
  program.cells = scalar<std::uint32_t>(scalars, "cells");
  program.load_bytes = scalar<std::uint64_t>(scalars, "load_bytes");
  program.result_bytes = scalar<std::uint64_t>(scalars, "result_bytes");
  program.lifo = flag(scalars, "lifo");
  program.row_begin = column<std::uint32_t>(columns, "row_begin");
  program.receipts = column<std::uint32_t>(columns, "receipts");
  program.row_source = column<std::uint32_t>(columns, "row_source");
  program.row_destination = column<std::uint32_t>(columns, "row_destination");
  program.row_phase = column<std::uint32_t>(columns, "row_phase");
  program.row_adds = column<std::uint32_t>(columns, "row_adds");
  program.row_bytes = column<std::uint32_t>(columns, "row_bytes");
  program.row_needs = column<std::uint32_t>(columns, "row_needs");
  program.row_feeds = read_lists(columns, "row_feeds");
  program.row_links = read_lists(columns, "row_links");
  program.row_from = read_lists(columns, "row_from");
  program.row_to = read_lists(columns, "row_to");
  program.link_bytes = column<std::uint32_t>(columns, "link_bytes");
  program.link_cycles = column<std::uint32_t>(columns, "link_cycles");
  program.link_latency = column<std::uint32_t>(columns, "link_latency");
  program.link_lanes = column<std::uint32_t>(columns, "link_lanes");
  program.row_flow = column<std::uint32_t>(columns, "row_flow");
  program.flow_link = column<std::uint32_t>(columns, "flow_link");
  program.flow_phase = column<std::uint32_t>(columns, "flow_phase");
  program.flow_depth = column<std::uint32_t>(columns, "flow_depth");
  program.phase_machines = column<std::uint32_t>(columns, "phase_machines");
  program.rooms = column<std::uint64_t>(columns, "rooms");
  program.sizes = column<std::uint64_t>(columns, "sizes");
  const auto chunks = column<std::uint32_t>(columns, "command_chunks");
  const auto starts = column<std::uint64_t>(columns, "command_start");
  std::uint32_t first = 0;
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    program.commands.push_back({first, first + chunks[i], {starts.at(i)}});
    first += chunks[i];
  }
  return program;
}

// A simulation together with the numpy array that is its memory.
class EndpointRun {
 public:
  EndpointRun(const Scalars& scalars, const Columns& columns, Cells cells, bool traced)
      : cells_(cells),
        simulation_(read_endpoint_program(scalars, columns), endpoint::read_parameters(scalars), {cells.data(), cells.size()},
                    traced) {}
  bool advance(std::uint64_t budget) { return simulation_.run(budget); }
  const endpoint::Simulation& simulation() const { return simulation_; }

 private:
  Cells cells_;
  endpoint::Simulation simulation_;
};

using Pair = std::tuple<std::uint64_t, std::uint64_t>;

Pair shown(const endpoint::Tally& tally) { return {tally.sum, tally.count}; }

// Sums over all nodes; (sum, number) of delays.
nb::typed<nb::dict, nb::str, nb::any> counters(const EndpointRun& run) {
  const endpoint::Simulation& simulation = run.simulation();
  nb::dict result;
  endpoint::Tally memory_queued, memory_moved, interface_queued, interface_moved;
  std::uint64_t memory = 0, out = 0, in = 0, adder = 0, alus = 0, reads = 0, writes = 0, byte_cycles = 0, memory_bytes = 0,
                interrupts = 0;
  std::vector<std::uint64_t> peaks(simulation.program().rooms.size());
  for (const endpoint::Endpoint& node : simulation.endpoints()) {
    memory_queued.add(node.memory.queued());
    memory_moved.add(node.memory.moved());
    for (const endpoint::Bus* bus : {&node.to_interface, &node.to_accelerator}) {
      interface_queued.add(bus->queued());
      interface_moved.add(bus->moved());
    }
    memory += node.memory.busy_cycles();
    memory_bytes += node.memory.bytes();
    out += node.to_interface.busy_cycles();
    in += node.to_accelerator.busy_cycles();
    adder += node.adder.busy_cycles();
    alus += node.crossbar.alus().busy_cycles();
    reads += node.crossbar.reads().busy_cycles();
    writes += node.crossbar.writes().busy_cycles();
    byte_cycles += node.sram.byte_cycles();
    interrupts += node.finished;
    for (std::size_t i = 0; i < peaks.size(); ++i) {
      peaks[i] = std::max(peaks[i], node.sram.peak(static_cast<std::uint32_t>(i)));
    }
  }
  std::uint64_t busiest = 0, link_bytes = 0, deepest = 0;
  for (const endpoint::Wire& wire : simulation.wires()) {
    busiest = std::max(busiest, wire.busy_cycles());
    link_bytes += wire.bytes();
  }
  for (const endpoint::Port& port : simulation.ports()) deepest = std::max<std::uint64_t>(deepest, port.peak());
  result["cycles"] = simulation.end().value;
  std::vector<std::uint64_t> ends;
  for (const Cycle end : simulation.ends()) ends.push_back(end.value);
  result["ends"] = ends;
  result["messages"] = simulation.messages();
  result["interrupts"] = interrupts;
  result["memory_cycles"] = memory;
  result["memory_bytes"] = memory_bytes;
  result["to_interface_cycles"] = out;
  result["to_accelerator_cycles"] = in;
  result["adder_cycles"] = adder;
  result["alu_cycles"] = alus;
  result["sram_read_cycles"] = reads;
  result["sram_write_cycles"] = writes;
  result["sram_byte_cycles"] = byte_cycles;
  result["partition_peaks"] = peaks;
  result["busiest_link_cycles"] = busiest;
  result["link_bytes"] = link_bytes;
  result["deepest_port"] = deepest;
  result["memory_queued"] = shown(memory_queued);
  result["memory_moved"] = shown(memory_moved);
  result["interface_queued"] = shown(interface_queued);
  result["interface_moved"] = shown(interface_moved);
  result["chunk_wait"] = shown(simulation.delays().chunk_wait);
  result["network"] = shown(simulation.delays().network);
  result["sum"] = shown(simulation.delays().sum);
  result["stall"] = shown(simulation.delays().stall);
  return result;
}

using WaitingEntry = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>;

// (node, reason, chunk, phase, row) of whatever does not go on.
std::vector<WaitingEntry> waiting(const EndpointRun& run) {
  std::vector<WaitingEntry> rows;
  for (const endpoint::Waiting& entry : run.simulation().waiting()) {
    rows.emplace_back(entry.node.value, static_cast<std::uint32_t>(entry.reason), entry.chunk.value, entry.phase, entry.row);
  }
  return rows;
}

using MoveEntry = std::tuple<std::uint64_t, std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>;

// (cycle, node, chunk, move, row taken, row sent).
std::vector<MoveEntry> moves(const EndpointRun& run) {
  std::vector<MoveEntry> rows;
  for (const endpoint::MoveRecord& entry : run.simulation().moves()) {
    rows.emplace_back(entry.when.value, entry.node.value, entry.chunk.value, static_cast<std::uint32_t>(entry.move), entry.taken,
                      entry.sent);
  }
  return rows;
}

}  // namespace

void bind_endpoints(nb::module_& module) {
  nb::class_<EndpointRun>(module, "EndpointRun",
                          "A collective by the endpoints; `cells` is the data of all chunks and is changed in place.")
      .def(nb::init<const Scalars&, const Columns&, Cells, bool>(), nb::arg("scalars"), nb::arg("columns"),
           nb::arg("cells").noconvert(), nb::arg("traced"))
      .def("advance", &EndpointRun::advance, nb::arg("budget"), nb::call_guard<nb::gil_scoped_release>(),
           "Run for about `budget` events; returns whether the run has ended.")
      .def_prop_ro(
          "cycle", [](const EndpointRun& run) { return run.simulation().now().value; }, "The current time.")
      .def_prop_ro(
          "is_stalled", [](const EndpointRun& run) { return run.simulation().is_stalled(); },
          "Whether nothing could go on any more.")
      .def_prop_ro(
          "is_empty", [](const EndpointRun& run) { return run.simulation().is_empty(); },
          "Whether nothing is left anywhere: no message, no room or place taken, no chunk queued.")
      .def("counters", &counters, "Sums over all nodes; (sum, number) of delays.")
      .def("waiting", &waiting, "(node, reason, chunk, phase, row) of everything that does not go on.")
      .def("moves", &moves, "(cycle, node, chunk, move, row taken, row sent) of a traced run.");
}

}  // namespace certree
