#include "packet_stepper_bindings.hpp"

#include <nanobind/stl/vector.h>

#include "network_columns.hpp"
#include "packet_stepper.hpp"

namespace nb = nanobind;

namespace certree {
namespace {

std::vector<std::uint32_t> received(const PacketStepper& run) {
  std::vector<std::uint32_t> numbers;
  for (const PacketId packet : run.received()) numbers.push_back(packet.value);
  return numbers;
}

}  // namespace

void bind_packet_stepper(nb::module_& module) {
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
}

}  // namespace certree
