#include "bindings.hpp"

#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "reducing/carriers/router_carrier.hpp"
#include "reducing/run/aggregation_run.hpp"
#include "routers/network/blocked_packets.hpp"
#include "routers/network_columns.hpp"

namespace nb = nanobind;

namespace certree {
namespace {

Lists lists(const nb::mapping& columns, const char* begin, const char* values) {
  return {column<std::uint32_t>(columns, begin), column<std::uint32_t>(columns, values)};
}

AggregationLayout read_aggregation(const nb::mapping& scalars, const nb::mapping& columns) {
  AggregationLayout layout;
  layout.packet_flits = scalar<std::uint32_t>(scalars, "packet_flits");
  layout.packet_cycles = scalar<std::uint32_t>(scalars, "packet_cycles");
  layout.window = scalar<std::uint32_t>(scalars, "window");
  layout.places = scalar<std::uint32_t>(scalars, "places");
  layout.buffer_packets = scalar<std::uint64_t>(scalars, "buffer_packets");
  layout.adders = scalar<std::uint32_t>(scalars, "adders");
  layout.timeout = scalar<std::uint64_t>(scalars, "timeout");
  layout.give_up = scalar<std::uint32_t>(scalars, "give_up");
  layout.reduce_start_cycles = scalar<std::uint64_t>(scalars, "reduce_start_cycles");
  layout.reduce_packet_cycles = scalar<std::uint64_t>(scalars, "reduce_packet_cycles");
  layout.interface_cycles = scalar<std::uint64_t>(scalars, "interface_cycles");
  layout.router_cycles = scalar<std::uint32_t>(scalars, "router_cycles");
  layout.seed = scalar<std::uint64_t>(scalars, "seed");
  layout.loss = scalar<std::uint64_t>(scalars, "loss");
  layout.copies = scalar<std::uint64_t>(scalars, "copies");
  layout.latest = scalar<std::uint64_t>(scalars, "latest");
  layout.nodes = scalar<std::uint32_t>(scalars, "nodes");
  layout.rank = column<std::uint32_t>(columns, "rank");
  layout.flow_packets = column<std::uint32_t>(columns, "flow_packets");
  layout.edge_flow = column<std::uint32_t>(columns, "edge_flow");
  layout.edge_child = column<std::uint32_t>(columns, "edge_child");
  layout.edge_parent = column<std::uint32_t>(columns, "edge_parent");
  layout.up_routes = lists(columns, "up_routes_begin", "up_routes");
  layout.down_routes = lists(columns, "down_routes_begin", "down_routes");
  layout.route_lanes = lists(columns, "route_lanes_begin", "route_lanes");
  layout.route_injector = column<std::uint32_t>(columns, "route_injector");
  layout.lane_latency = column<std::uint32_t>(columns, "lane_latency");
  return layout;
}

// A run together with the numpy array that is the memory of its hosts.
class BoundRun {
 public:
  BoundRun(const Scalars& scalars, const Columns& columns, const std::optional<Scalars>& network_scalars,
           const std::optional<Columns>& network, const Cells& cells, bool traced)
      : cells_(cells),
        run_(read_aggregation(scalars, columns), read_network(network_scalars, network), {cells.data(), cells.size()}, traced) {}

  bool advance(std::uint64_t budget) { return run_.run(budget); }
  const AggregationRun& run() const { return run_; }

 private:
  static std::optional<NetworkLayout> read_network(const std::optional<Scalars>& scalars, const std::optional<Columns>& columns) {
    if (scalars.has_value() != columns.has_value()) throw std::invalid_argument("a network is scalars and columns, or neither");
    if (!scalars) return std::nullopt;
    return read_layout(*scalars, *columns);
  }

  Cells cells_;
  AggregationRun run_;
};

Counters counters(const BoundRun& bound) {
  const AggregationCounters& counted = bound.run().counters();
  nb::dict result;
  result["cycles"] = counted.end.value;
  result["sent"] = counted.sent;
  result["copied"] = counted.copied;
  result["lost"] = counted.lost;
  result["dropped"] = counted.dropped;
  result["received"] = counted.received;
  result["resent"] = counted.resent;
  result["ignored"] = counted.ignored;
  result["repeated"] = counted.repeated;
  result["results_again"] = counted.results_again;
  result["flit_hops"] = bound.run().carrier().flit_hops();
  result["busiest_lane_cycles"] = bound.run().carrier().busiest_lane_cycles();
  return result;
}

using SwitchRow = std::tuple<std::uint32_t, std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t>;

// (node, most aggregators in use, cycles of aggregators in use, most payloads waiting, payloads dropped) of every switch.
std::vector<SwitchRow> switches(const BoundRun& bound) {
  std::vector<SwitchRow> rows;
  for (const ReducingSwitch& entry : bound.run().switches()) {
    rows.emplace_back(entry.node().value, entry.used().most(), entry.used().cycles(bound.run().now()), entry.buffer().most(),
                      entry.buffer().dropped());
  }
  return rows;
}

using TraceRow =
    std::tuple<std::uint64_t, std::uint32_t, bool, std::uint32_t, std::uint32_t, std::uint32_t, std::uint64_t, bool, std::uint32_t>;

// (time, event, is_up, edge, number, place works on, arrived, has_result, answer), the last four after `add` and `pass`.
std::vector<TraceRow> trace(const BoundRun& bound) {
  std::vector<TraceRow> rows;
  for (const AggregationRecord& line : bound.run().trace()) {
    rows.emplace_back(line.when.value, static_cast<std::uint32_t>(line.event), line.is_up, line.edge.value, line.number,
                      line.works_on, line.arrived, line.has_result, static_cast<std::uint32_t>(line.answer));
  }
  return rows;
}

// (is_up, edge, number) of every packet that is left at the end.
std::vector<std::tuple<bool, std::uint32_t, std::uint32_t>> left(const BoundRun& bound) {
  std::vector<std::tuple<bool, std::uint32_t, std::uint32_t>> rows;
  for (const AggregationPacket& packet : bound.run().left()) rows.emplace_back(packet.is_up, packet.edge.value, packet.number);
  return rows;
}

// (flow, host, number, times sent, switch or -1, what its place works on); empty when the run has not stalled.
std::vector<std::int64_t> stall(const BoundRun& bound) {
  const std::optional<Stall>& found = bound.run().stall();
  if (!found) return {};
  const std::int64_t taken_at = found->taken_at ? std::int64_t{found->taken_at->value} : -1;
  return {found->flow, found->host.value, found->number, found->times_sent, taken_at, found->works_on};
}

// Packets of routers that can never move again; empty when they can, and on lanes.
std::vector<BlockedRow> blocked(const BoundRun& bound) {
  const auto* routers = dynamic_cast<const RouterCarrier*>(&bound.run().carrier());
  return routers != nullptr && routers->is_blocked() ? blocked_packets(routers->network()) : std::vector<BlockedRow>();
}

}  // namespace

void bind_reducing(nb::module_& module) {
  nb::class_<BoundRun>(module, "AggregationRun", "Reducing switches at work; `cells` is the memory of all hosts, changed in place.")
      .def(nb::init<const Scalars&, const Columns&, const std::optional<Scalars>&, const std::optional<Columns>&, const Cells&,
                    bool>(),
           nb::arg("scalars"), nb::arg("columns"), nb::arg("network_scalars").none(), nb::arg("network").none(),
           nb::arg("cells").noconvert(), nb::arg("traced"))
      .def("advance", &BoundRun::advance, nb::arg("budget"), nb::call_guard<nb::gil_scoped_release>(),
           "Run for about `budget` events; returns whether the run has ended.")
      .def_prop_ro(
          "cycle", [](const BoundRun& bound) { return bound.run().now().value; }, "The current time.")
      .def("counters", &counters, "Counters of the run so far.")
      .def("switches", &switches,
           "(node, most aggregators in use, cycles of aggregators in use, most payloads, dropped ones) of every switch.")
      .def("trace", &trace,
           "(time, event, is_up, edge, number, place works on, arrived, has_result, answer), the last four after add and pass.")
      .def("left", &left, "(is_up, edge, number) of every packet of which the trace has no arrival and no loss.")
      .def("stall", &stall,
           "(flow, host, number, times sent, switch or -1, what its place works on); empty when the run has not stalled.")
      .def("blocked", &blocked,
           "(packet, router, channel, VC, wanted channel, VC held of it) of packets in routers that can never move again.")
      .def(
          "waiting", [](const BoundRun& bound) { return bound.run().waiting(); },
          "(flow, host, oldest packet without a result) of every host that waits.");
}

}  // namespace certree
