#include "flit_network_bindings.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <tuple>

#include "columns.hpp"
#include "packet_run.hpp"

namespace nb = nanobind;

namespace certree {
namespace {

NetworkLayout read_layout(const nb::dict& scalars, const nb::dict& columns) {
  const auto scalar = [&](const char* name) { return nb::cast<std::uint32_t>(scalars[name]); };
  NetworkLayout layout;
  layout.route_cycles = scalar("route_cycles");
  layout.vc_cycles = scalar("vc_cycles");
  layout.switch_cycles = scalar("switch_cycles");
  layout.traversal_cycles = scalar("traversal_cycles");
  layout.credit_cycles = scalar("credit_cycles");
  layout.vcs = scalar("vcs");
  layout.buffer_flits = scalar("buffer_flits");
  layout.allocator_iterations = scalar("allocator_iterations");
  layout.allocator = scalar("is_separable") != 0 ? AllocatorKind::kSeparable : AllocatorKind::kIslip;
  layout.reuse_when_empty = scalar("reuse_when_empty") != 0;
  layout.routers = scalar("routers");
  layout.channel_source = column<std::uint32_t>(columns, "channel_source");
  layout.channel_destination = column<std::uint32_t>(columns, "channel_destination");
  layout.channel_latency = column<std::uint32_t>(columns, "channel_latency");
  layout.input_order = column<std::uint32_t>(columns, "input_order");
  layout.channel_ejection = column<std::uint32_t>(columns, "channel_ejection");
  layout.vc_mask = column<std::uint64_t>(columns, "vc_mask");
  layout.unit_flits = column<std::uint32_t>(columns, "unit_flits");
  layout.table = column<std::uint16_t>(columns, "table");
  layout.routes = {column<std::uint32_t>(columns, "route_begin"), column<std::uint32_t>(columns, "route_hops")};
  return layout;
}

PacketList read_packets(const nb::dict& columns) {
  return {column<std::uint32_t>(columns, "injector"), column<std::uint32_t>(columns, "destination"),
          column<std::uint32_t>(columns, "flits"),    column<std::uint32_t>(columns, "route"),
          column<std::uint32_t>(columns, "class"),    column<std::uint64_t>(columns, "release")};
}

// One time of every packet as a numpy column.
nb::ndarray<nb::numpy, std::uint64_t, nb::ndim<1>> times(PacketRun& run, Cycle Packet::* time) {
  const PacketTable& packets = run.network().packets();
  auto* values = new std::uint64_t[packets.size()];
  const nb::capsule owner(values, [](void* memory) noexcept { delete[] static_cast<std::uint64_t*>(memory); });
  for (std::size_t i = 0; i < packets.size(); ++i) values[i] = (packets[i].*time).value;
  return {values, {packets.size()}, owner};
}

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

using Blocked = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>;

std::vector<Blocked> blocked(PacketRun& run) {
  std::vector<Blocked> rows;
  for (const BlockedPacket& entry : run.network().blocked()) {
    rows.emplace_back(entry.packet.value, entry.router, entry.channel, entry.vc, entry.output_channel, entry.output_vc);
  }
  return rows;
}

}  // namespace

void bind_flit_network(nb::module_& module) {
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
      .def("blocked", &blocked);
}

}  // namespace certree
