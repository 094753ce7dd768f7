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

PacketList read_packets(const nb::mapping& columns) {
  return {column<std::uint32_t>(columns, "injector"), column<std::uint32_t>(columns, "destination"),
          column<std::uint32_t>(columns, "flits"), column<std::uint32_t>(columns, "route"),
          column<std::uint64_t>(columns, "release")};
}

// One time of every packet as a numpy column.
nb::ndarray<nb::numpy, std::uint64_t, nb::ndim<1>> times(PacketRun& run, Cycle Packet::* time) {
  const PacketTable& packets = run.network().packets();
  auto* values = new std::uint64_t[packets.size()];
  const nb::capsule owner(values, [](void* memory) noexcept { delete[] static_cast<std::uint64_t*>(memory); });
  for (std::size_t i = 0; i < packets.size(); ++i) values[i] = (packets[i].*time).value;
  return {values, {packets.size()}, owner};
}

// (class, number, channel, start, cycles) of every stretch of consecutive flits of a packet; empty without a trace.
std::vector<std::tuple<std::uint32_t, std::uint64_t, std::uint32_t, std::uint64_t, std::uint64_t>> link_uses(
    const FlitNetwork& network) {
  std::vector<std::tuple<std::uint32_t, std::uint64_t, std::uint32_t, std::uint64_t, std::uint64_t>> rows;
  if (!network.link_trace()) return rows;
  for (const LinkUse& use : network.link_trace()->uses()) {
    rows.emplace_back(use.traffic_class, use.number, use.channel, use.start.value, use.cycles);
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

// (node where it starts, where it ends, flits) of every packet that came to its interface.
std::vector<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>> traced_packets(const FlitNetwork& network) {
  std::vector<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>> rows;
  if (!network.flit_trace()) return rows;
  std::vector<std::uint32_t> nodes;  // of injectors
  const NetworkLayout& layout = network.layout();
  for (std::size_t channel = 0; channel < layout.channel_source.size(); ++channel) {
    if (layout.channel_source[channel] == kInterface) nodes.push_back(layout.channel_destination[channel]);
  }
  for (const Packet& packet : network.flit_trace()->packets()) {
    rows.emplace_back(nodes[packet.injector], packet.destination, packet.flits);
  }
  return rows;
}

// The message of each of these packets, by its number among those that rows send in an iteration.
std::vector<std::uint32_t> traced_messages(FlitEngine& engine) {
  std::vector<std::uint32_t> messages;
  if (!engine.network().flit_trace()) return messages;
  for (const Packet& packet : engine.network().flit_trace()->packets()) messages.push_back(engine.message_indices()[packet.number]);
  return messages;
}

// (cycle, step as in FlitStep, channel, VC, packet, flit) of every step of flits and credits.
std::vector<std::tuple<std::uint64_t, std::uint8_t, std::uint32_t, std::uint8_t, std::uint32_t, std::uint32_t>> flit_events(
    const FlitNetwork& network) {
  std::vector<std::tuple<std::uint64_t, std::uint8_t, std::uint32_t, std::uint8_t, std::uint32_t, std::uint32_t>> rows;
  if (!network.flit_trace()) return rows;
  for (const FlitEvent& event : network.flit_trace()->events()) {
    rows.emplace_back(event.cycle.value, static_cast<std::uint8_t>(event.step), event.channel, event.vc, event.packet, event.flit);
  }
  return rows;
}

std::vector<std::tuple<std::uint32_t, std::uint8_t>> credits_left(const FlitNetwork& network) {
  std::vector<std::tuple<std::uint32_t, std::uint8_t>> rows;
  network.visit_credits([&](std::uint32_t channel, std::uint8_t vc) { rows.emplace_back(channel, vc); });
  return rows;
}

Counters counters(PacketRun& run) {
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
  FlitRun(const Scalars& scalars, const RowColumns& rows, const Scalars& network_scalars, const Columns& network,
          const Columns& plan, const Columns& others, const std::string& mode, const Cells& cells, bool traced,
          Endpoints* endpoints)
      : cells_(cells),
        engine_(read_rows(scalars, rows), run_mode(mode), read_layout(network_scalars, network), read_plan(plan),
                read_packets(others), run_memory(scalars, cells), traced, endpoints) {}

  bool run(std::uint64_t budget) { return engine_.run(budget); }
  bool is_deadlocked() const { return engine_.is_deadlocked(); }
  FlitNetwork& network() { return engine_.network(); }
  FlitEngine& engine() { return engine_; }

 private:
  static MessagePlan read_plan(const nb::mapping& plan) {
    return {{column<std::uint32_t>(plan, "routes_begin"), column<std::uint32_t>(plan, "routes")},
            column<std::uint32_t>(plan, "route_injector"),
            column<std::uint32_t>(plan, "message_flits"),
            column<std::uint32_t>(plan, "packet_flits").at(0)};
  }

  Cells cells_;
  FlitEngine engine_;
};

Counters flit_statistics(FlitRun& run) {
  FlitEngine& engine = run.engine();
  nb::dict result = statistics_dict(engine.statistics(), engine.order(), engine.network().busiest_channel_cycles());
  result["other_packets"] = engine.other_packets();
  result["other_latency"] = engine.other_latency();
  result["longest_other_latency"] = engine.longest_other_latency();
  return result;
}

std::vector<std::uint64_t> flits_by_code(FlitRun& run) {
  const auto& by_code = run.engine().network().counters().ejected_by_code;
  return {by_code.begin(), by_code.end()};
}

// What both kinds of runs have.
template <class Run>
void bind_run(nb::class_<Run>& bound) {
  bound
      .def("advance", &Run::run, nb::arg("budget"), nb::call_guard<nb::gil_scoped_release>(),
           "Run for about `budget` cycles; returns whether the run has ended.")
      .def_prop_ro(
          "cycle", [](Run& run) { return run.network().now().value; }, "The current time.")
      .def_prop_ro("is_deadlocked", &Run::is_deadlocked, "Whether the run ended because nothing could move any more.")
      .def(
          "lost", [](Run& run) { return lost(run.network()); },
          "(packet, router where it is, destination, routers that it has passed) of a packet that never arrives; -1 without one.")
      .def(
          "blocked", [](Run& run) { return blocked_packets(run.network()); },
          "(packet, router, channel, VC, wanted channel, VC held of it) of everything that cannot go on.")
      .def(
          "watch", [](Run& run, std::uint64_t bound) { run.network().watch(bound); }, nb::arg("bound"),
          "From now on look for packets that wait for `bound` cycles or longer while others pass.")
      .def(
          "trace_flits", [](Run& run) { run.network().trace_flits(); }, "Before the run: keep every step of flits and credits.")
      .def(
          "traced_packets", [](Run& run) { return traced_packets(run.network()); },
          "(source node, destination node, flits) of every packet that came to its interface, in that order.")
      .def(
          "flit_events", [](Run& run) { return flit_events(run.network()); },
          "(cycle, step, channel, VC, packet, flit) of every step of flits and credits (`flit_trace.hpp`).")
      .def(
          "credits_left", [](Run& run) { return credits_left(run.network()); }, "(channel, VC) of every credit on its way.")
      .def_prop_ro(
          "starved_count", [](Run& run) { return starved_count(run.network()); }, "The number of such packets so far.")
      .def(
          "starved", [](Run& run) { return starved(run.network()); },
          "(class, number, destination, place as in `blocked`, first cycle, cycles, flits of others) of the first of them.");
}

}  // namespace

void bind_routers(nb::module_& module) {
  auto packet_run = nb::class_<PacketRun>(module, "PacketRun", "Explicit packets through a network of routers.");
  packet_run
      .def(
          "__init__",
          [](PacketRun* self, const Scalars& scalars, const Columns& columns, const Columns& packets) {
            new (self) PacketRun(read_layout(scalars, columns), read_packets(packets));
          },
          nb::arg("scalars"), nb::arg("columns"), nb::arg("packets"), "Columns of `network_layout.hpp` and `packet_run.hpp`.")
      .def(
          "heads", [](PacketRun& run) { return times(run, &Packet::head); },
          "When the first flit of each packet was received; all ones: never.")
      .def(
          "tails", [](PacketRun& run) { return times(run, &Packet::tail); },
          "When the last flit of each packet was received; all ones: never.")
      .def("counters", &counters, "Counters of the run so far.");
  bind_run(packet_run);
  nb::class_<PacketStepper>(module, "PacketStepper", "A network of routers whose packets are decided on as it goes.")
      .def(
          "__init__",
          [](PacketStepper* self, const Scalars& scalars, const Columns& columns) {
            new (self) PacketStepper(read_layout(scalars, columns));
          },
          nb::arg("scalars"), nb::arg("columns"), "Columns of `network_layout.hpp`.")
      .def("send", &PacketStepper::send, nb::arg("injector"), nb::arg("destination"), nb::arg("flits"), nb::arg("route"),
           nb::arg("priority"),
           "A packet that may leave from now on; returns its number, which others may have once it has been received.")
      .def(
          "advance", [](PacketStepper& run, std::uint64_t until) { run.advance({until}); }, nb::arg("until") = kNever.value,
          nb::call_guard<nb::gil_scoped_release>(),
          "Go on to the cycle in which the next packet is received whole, or to `until`; without it, when nothing is in flight any "
          "more, "
          "to the cycle behind the last event.")
      .def_prop_ro(
          "cycle", [](PacketStepper& run) { return run.network().now().value; }, "The current time.")
      .def_prop_ro("is_idle", &PacketStepper::is_idle, "Whether nothing is in flight, credits included.")
      .def("received", &received, "Numbers of the packets received whole at the start of this cycle.")
      .def("backlog", &PacketStepper::backlog, nb::arg("injector"), "Flits of an injector's packets that have not left it.");
  auto flit_run = nb::class_<FlitRun>(
      module, "FlitRun", "Tables on a network of routers; `cells` is the memory of all nodes and is changed in place.");
  flit_run
      .def(nb::init<const Scalars&, const RowColumns&, const Scalars&, const Columns&, const Columns&, const Columns&,
                    const std::string&, const Cells&, bool, Endpoints*>(),
           nb::arg("scalars"), nb::arg("rows"), nb::arg("network_scalars"), nb::arg("network"), nb::arg("plan"), nb::arg("others"),
           nb::arg("mode"), nb::arg("cells").noconvert(), nb::arg("traced"), nb::arg("endpoints").none() = nb::none(),
           nb::keep_alive<1, 11>())
      .def("statistics", &flit_statistics, "Counters of the run so far.")
      .def("flits_by_code", &flits_by_code, "Flits received so far, by their codes (`packet.hpp`).")
      .def(
          "waiting", [](FlitRun& run) { return waiting_rows(run.engine().waiting()); },
          "(node, row or -1, iteration, arrival or -1) of every node that is not done.")
      .def(
          "order_faults", [](FlitRun& run) { return order_fault_rows(run.engine().order()); },
          "(message, iteration, later turn) of the first operands that were added after one of a later turn.")
      .def(
          "trace", [](FlitRun& run) { return trace_rows(run.engine().trace()); },
          "(row, iteration, destination, fired, first, complete, usable) of every message that counted, and its number.")
      .def(
          "traced_messages", [](FlitRun& run) { return traced_messages(run.engine()); },
          "The message of every packet of `traced_packets`, by its number among those that rows send in an iteration.")
      .def(
          "fetches", [](FlitRun& run) { return fetch_rows(run.engine().fetches()); },
          "(message, cycle in which its payload was at its interface) of a traced run with endpoints.")
      .def(
          "link_uses", [](FlitRun& run) { return link_uses(run.network()); },
          "(class, number, channel, start, cycles) of every stretch of consecutive flits of a message or packet over a link; "
          "classes are 0 "
          "for the collective, where `number` is that of the message, and 1 for other packets, in the order of their columns.");
  bind_run(flit_run);
}

}  // namespace certree
