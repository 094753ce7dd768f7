// Python bindings of routers whose packets are decided on as it goes.
#pragma once

#include <nanobind/nanobind.h>

namespace certree {

void bind_packet_stepper(nanobind::module_& module);

}  // namespace certree
