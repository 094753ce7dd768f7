#include "bindings.hpp"
#include "endpoint/node/node_endpoints.hpp"
#include "endpoint/read_parameters.hpp"

#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <tuple>

namespace nb = nanobind;

namespace certree {
namespace {

endpoint::RunColumns read_run_columns(const nb::mapping& scalars, const nb::mapping& columns) {
  const auto reads = column<std::uint32_t>(columns, "earlier_reads"), writes = column<std::uint32_t>(columns, "earlier_writes");
  if (reads.size() != writes.size()) throw std::invalid_argument("endpoints: earlier uses of cells");
  std::vector<endpoint::Uses> needs;
  for (std::size_t index = 0; index < reads.size(); ++index) needs.push_back({reads[index], writes[index]});
  const auto bounds = column<std::uint32_t>(columns, "asked_begin");
  const auto starts = column<std::uint64_t>(columns, "asked_start");
  if (bounds.size() != starts.size() + 1) throw std::invalid_argument("endpoints: collectives");
  std::vector<endpoint::Command> asked;
  for (std::size_t number = 0; number < starts.size(); ++number) {
    asked.push_back({bounds[number], bounds[number + 1], {starts[number]}});
  }
  const auto begun = column<std::uint64_t>(columns, "begin_order");
  if (begun.size() % 3 != 0) throw std::invalid_argument("endpoints: order of iterations");
  std::vector<Begun> order;
  for (std::size_t i = 0; i < begun.size(); i += 3)
    order.push_back({static_cast<std::uint32_t>(begun[i]), begun[i + 1], begun[i + 2] != 0});
  return {column<std::uint32_t>(columns, "message_bytes"),
          column<std::uint64_t>(columns, "load_bytes"),
          column<std::uint64_t>(columns, "result_bytes"),
          column<std::uint64_t>(columns, "rooms"),
          column<std::uint64_t>(columns, "sizes"),
          flag(scalars, "traced"),
          scalar<std::uint32_t>(scalars, "state_machines"),
          std::move(needs),
          column<std::uint64_t>(columns, "hand_over"),
          flag(scalars, "records"),
          column<std::uint32_t>(columns, "ends"),
          std::move(asked),
          flag(scalars, "lifo"),
          std::move(order)};
}

nb::typed<nb::dict, nb::str, nb::any> node_counters(endpoint::NodeEndpoints& endpoints, std::uint64_t cycle) {
  const endpoint::NodeCounters counted = endpoints.counters({cycle});
  nb::dict result;
  result["endpoints"] = endpoints.count();
  result["memory_cycles"] = counted.memory_cycles;
  result["memory_bytes"] = counted.memory_bytes;
  result["computing_bytes"] = counted.computing_bytes;
  result["to_interface_cycles"] = counted.to_interface_cycles;
  result["to_accelerator_cycles"] = counted.to_accelerator_cycles;
  result["adder_cycles"] = counted.adder_cycles;
  result["held"] = counted.held;
  result["last_complete"] = counted.last_complete;
  result["alu_cycles"] = counted.alu_cycles;
  result["sram_peak"] = counted.sram_peak;
  result["results_peak"] = counted.results_peak;
  result["waited"] = counted.waited;
  result["waiting_peak"] = counted.waiting_peak;
  result["forwarded"] = counted.forwarded;
  const auto shown = [](const endpoint::Tally& tally) { return std::tuple(tally.sum, tally.count); };
  result["memory_queued"] = shown(counted.memory_queued);
  result["memory_moved"] = shown(counted.memory_moved);
  result["interface_queued"] = shown(counted.interface_queued);
  result["interface_moved"] = shown(counted.interface_moved);
  result["network"] = shown(counted.delays.network);
  result["sum"] = shown(counted.delays.sum);
  result["stall"] = shown(counted.delays.stall);
  result["chunk_wait"] = shown(counted.delays.iterations);
  return result;
}

template <class T>
nb::ndarray<nb::numpy, T, nb::ndim<1>> as_array(std::vector<T> values) {
  auto* kept = new std::vector<T>(std::move(values));
  const nb::capsule owner(kept, [](void* memory) noexcept { delete static_cast<std::vector<T>*>(memory); });
  return {kept->data(), {kept->size()}, owner};
}

using StepRow = std::tuple<std::uint64_t, std::uint32_t, std::uint32_t, std::uint8_t>;

std::vector<StepRow> iteration_steps(const endpoint::NodeEndpoints& endpoints) {
  std::vector<StepRow> rows;
  for (const endpoint::IterationRecord& record : endpoints.steps()) {
    rows.emplace_back(record.when.value, record.node, record.iteration, static_cast<std::uint8_t>(record.step));
  }
  return rows;
}

}  // namespace

void bind_node_endpoints(nb::module_& module) {
  nb::class_<Endpoints>(module, "Endpoints", "What nodes have between memory and network interface.");
  nb::class_<endpoint::NodeEndpoints, Endpoints>(module, "NodeEndpoints",
                                                 "The endpoints of all nodes, for one run of tables (`endpoint/node`).")
      .def(
          "__init__",
          [](endpoint::NodeEndpoints* self, const Scalars& scalars, const Columns& columns) {
            new (self) endpoint::NodeEndpoints(endpoint::read_parameters(scalars), read_run_columns(scalars, columns));
          },
          nb::arg("scalars"), nb::arg("columns"))
      .def("steps", &iteration_steps, "(cycle, node, iteration, step as in IterationStep) of a traced run, node by node.")
      .def("ends", &endpoint::NodeEndpoints::ends, "By collective of the run the cycle in which it was over at the last node.")
      .def(
          "begin_order", [](const endpoint::NodeEndpoints& self) { return as_array(self.begin_order()); },
          "(iteration, its first step, whether nothing was left to begin before) of a run that has ended, flat, in the order of "
          "beginning.")
      .def(
          "handed_over", [](const endpoint::NodeEndpoints& self) { return as_array(self.handed_over()); },
          "(cycle at the interface, place among those of its node) of each message of each iteration, flat, in a run that noted "
          "it; 0 "
          "for messages within a node.")
      .def("counters", &node_counters, nb::arg("cycle"),
           "Sums over all nodes up to a cycle that the run has come to, and peaks; (sum, number) of delays.");
}

}  // namespace certree
