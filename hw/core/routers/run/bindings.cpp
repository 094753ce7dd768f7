#include "bindings.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <tuple>

#include "interface/run_results.hpp"
#include "routers/network/blocked_packets.hpp"
#include "routers/network_columns.hpp"
#include "routers/run/flit_engine.hpp"
#include "routers/run/packet_stepper.hpp"

namespace nb = nanobind;

namespace certree {
namespace {

PacketList read_packets(const nb::dict& columns) {
  return {column<std::uint32_t>(columns, "injector"), column<std::uint32_t>(columns, "destination"),
          column<std::uint32_t>(columns, "flits"), column<std::uint32_t>(columns, "route"), column<std::uint64_t>(columns, "release")};
}

// One time of every packet as a numpy column.
nb::ndarray<nb::numpy, std::uint64_t, nb::ndim<1>> times(PacketRun& run, Cycle Packet::* time) {
  const PacketTable& packets = run.network().packets();
  auto* values = new std::uint64_t[packets.size()];
  const nb::capsule owner(values, [](void* memory) noexcept { delete[] static_cast<std::uint64_t*>(memory); });
  for (std::size_t i = 0; i < packets.size(); ++i) values[i] = (packets[i].*time).value;
  return {values, {packets.size()}, owner};
}

// (class, number, channel, start, flits) of every stretch of consecutive flits of a packet; empty without a trace.
std::vector<std::tuple<std::uint32_t, std::uint64_t, std::uint32_t, std::uint64_t, std::uint64_t>> link_uses(const FlitNetwork& network) {
  std::vector<std::tuple<std::uint32_t, std::uint64_t, std::uint32_t, std::uint64_t, std::uint64_t>> rows;
  if (!network.link_trace()) return rows;
  for (const LinkUse& use : network.link_trace()->uses()) {
    rows.emplace_back(use.traffic_class, use.number, use.channel, use.start.value, use.flits);
  }
  return rows;
}

// (packet, router where it is, destination, routers that it has passed) of a packet that never arrives; -1 without one.
std::tuple<std::int64_t, std::uint32_t, std::uint32_t, std::uint32_t> lost(FlitNetwork& network) {
  if (!network.lost()) return {-1, 0, 0, 0};
  const auto& [packet, router] = *network.lost();
  return {packet.value, router, network.packets()[packet.value].destination, network.packets()[packet.value].hop};
}

using Starved = std::tuple<std::uint32_t, std::uint64_t, std::uint32_t, BlockedRow, std::uint64_t, std::uint64_t, std::uint64_t>;

std::vector<Starved> starved(const FlitNetwork& network) {
  std::vector<Starved> rows;
  for (std::size_t i = 0; i < network.starved().size(); ++i) {
    const auto& [place, traffic_class, number, destination] = network.starved()[i];
    const Starvation& found = network.watchdog()->reports()[i];
    rows.emplace_back(traffic_class, number, destination,
                      BlockedRow{place.packet.value, place.router, place.channel, place.vc, place.output_channel, place.output_vc},
                      found.since, found.cycles, found.passed);
  }
  return rows;
}

std::uint64_t starved_count(const FlitNetwork& network) { return network.watchdog() ? network.watchdog()->found() : 0; }

nb::dict counters(PacketRun& run) {
  const NetworkCounters& counted = run.network().counters();
  nb::dict result;
  result["packets"] = counted.packets;
  result["injected"] = counted.injected;
  result["ejected"] = counted.ejected;
  result["flit_hops"] = counted.flit_hops;
  result["busiest_channel_cycles"] = run.network().busiest_channel_cycles();
  return result;
}

std::vector<std::uint32_t> received(const PacketStepper& run) {
  std::vector<std::uint32_t> numbers;
  for (const PacketId packet : run.received()) numbers.push_back(packet.value);
  return numbers;
}

// An engine together with the numpy array that is its memory.
class FlitRun {
 public:
  FlitRun(const nb::dict& scalars, const nb::dict& rows, const nb::dict& network_scalars, const nb::dict& network,
          const nb::dict& plan, const nb::dict& others, const std::string& mode, const Cells& cells, bool traced)
      : cells_(cells),
        simulator_(read_rows(scalars, rows), run_mode(mode),
                   read_layout(network_scalars, network), read_plan(plan), read_packets(others), run_memory(scalars, cells), traced) {}

  bool advance(std::uint64_t budget) { return simulator_.run(budget); }
  FlitEngine& simulator() { return simulator_; }

 private:
  static MessagePlan read_plan(const nb::dict& plan) {
    return {{column<std::uint32_t>(plan, "ways_begin"), column<std::uint32_t>(plan, "ways")},
            column<std::uint32_t>(plan, "way_injector"),
            column<std::uint32_t>(plan, "packet_flits")};
  }

  Cells cells_;
  FlitEngine simulator_;
};

nb::dict flit_statistics(FlitRun& run) {
  FlitEngine& simulator = run.simulator();
  nb::dict result = statistics_dict(simulator.statistics(), simulator.network().busiest_channel_cycles());
  const auto& by_code = simulator.network().counters().ejected_by_code;
  result["flits_by_code"] = std::vector<std::uint64_t>(by_code.begin(), by_code.end());
  result["other_packets"] = simulator.other_packets();
  result["other_latency"] = simulator.other_latency();
  result["longest_other_latency"] = simulator.longest_other_latency();
  return result;
}

}  // namespace

void bind_routers(nb::module_& module) {
  nb::class_<PacketRun>(module, "PacketRun", "Explicit packets through a network of routers.")
      .def(
          "__init__",
          [](PacketRun* self, const nb::dict& scalars, const nb::dict& columns, const nb::dict& packets) {
            new (self) PacketRun(read_layout(scalars, columns), read_packets(packets));
          },
          nb::arg("scalars"), nb::arg("columns"), nb::arg("packets"))
      .def("advance", &PacketRun::run, nb::arg("budget"), nb::call_guard<nb::gil_scoped_release>(),
           "Run for about `budget` cycles; returns whether the run has ended.")
      .def_prop_ro("cycle", [](PacketRun& run) { return run.network().now().value; })
      .def_prop_ro("is_deadlocked", &PacketRun::is_deadlocked)
      .def("heads", [](PacketRun& run) { return times(run, &Packet::head); })
      .def("tails", [](PacketRun& run) { return times(run, &Packet::tail); })
      .def("counters", &counters)
      .def("lost", [](PacketRun& run) { return lost(run.network()); })
      .def("blocked", [](PacketRun& run) { return blocked_packets(run.network()); })
      .def("watch", [](PacketRun& run, std::uint64_t bound) { run.network().watch(bound); }, nb::arg("bound"))
      .def_prop_ro("starved_count", [](PacketRun& run) { return starved_count(run.network()); })
      .def("starved", [](PacketRun& run) { return starved(run.network()); });
  nb::class_<PacketStepper>(module, "PacketStepper", "A network of routers whose packets are decided on as it goes.")
      .def(
          "__init__",
          [](PacketStepper* self, const nb::dict& scalars, const nb::dict& columns) {
            new (self) PacketStepper(read_layout(scalars, columns));
          },
          nb::arg("scalars"), nb::arg("columns"))
      .def("send", &PacketStepper::send, nb::arg("injector"), nb::arg("destination"), nb::arg("flits"), nb::arg("route"),
           nb::arg("priority"), "A packet that may leave from now on; returns its number.")
      .def(
          "advance", [](PacketStepper& run, std::uint64_t until) { run.advance({until}); }, nb::arg("until") = kNever.value,
          nb::call_guard<nb::gil_scoped_release>(),
          "Go on to the cycle in which the next packet is received whole, or to `until`; without it, when nothing is under way any more, "
          "to the cycle behind the last event.")
      .def_prop_ro("cycle", [](PacketStepper& run) { return run.network().now().value; })
      .def_prop_ro("is_idle", &PacketStepper::is_idle)
      .def("received", &received, "Numbers of the packets received whole at the start of this cycle.")
      .def("backlog", &PacketStepper::backlog, nb::arg("injector"), "Flits of an injector's packets that have not left it.");
  nb::class_<FlitRun>(module, "FlitRun", "Tables on a network of routers; `cells` is the memory of all nodes and is changed in place.")
      .def(nb::init<const nb::dict&, const nb::dict&, const nb::dict&, const nb::dict&, const nb::dict&, const nb::dict&,
                    const std::string&, const Cells&, bool>(),
           nb::arg("scalars"), nb::arg("rows"), nb::arg("network_scalars"), nb::arg("network"), nb::arg("plan"), nb::arg("others"),
           nb::arg("mode"), nb::arg("cells").noconvert(), nb::arg("traced"))
      .def("advance", &FlitRun::advance, nb::arg("budget"), nb::call_guard<nb::gil_scoped_release>(),
           "Run for about `budget` cycles; returns whether the run has ended.")
      .def_prop_ro("cycle", [](FlitRun& run) { return run.simulator().network().now().value; })
      .def_prop_ro("is_deadlocked", [](FlitRun& run) { return run.simulator().is_deadlocked(); })
      .def("statistics", &flit_statistics)
      .def("waiting", [](FlitRun& run) { return waiting_rows(run.simulator().waiting()); })
      .def("lost", [](FlitRun& run) { return lost(run.simulator().network()); })
      .def("blocked", [](FlitRun& run) { return blocked_packets(run.simulator().network()); })
      .def("watch", [](FlitRun& run, std::uint64_t bound) { run.simulator().network().watch(bound); }, nb::arg("bound"))
      .def_prop_ro("starved_count", [](FlitRun& run) { return starved_count(run.simulator().network()); })
      .def("starved", [](FlitRun& run) { return starved(run.simulator().network()); })
      .def("trace", [](FlitRun& run) { return trace_rows(run.simulator().trace()); })
      .def("link_uses", [](FlitRun& run) { return link_uses(run.simulator().network()); });
}

}  // namespace certree
