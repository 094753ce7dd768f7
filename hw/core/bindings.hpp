// What each folder adds to the Python module.
#pragma once

#include <nanobind/nanobind.h>

namespace certree {

void bind_node_endpoints(nanobind::module_& module);
void bind_lanes(nanobind::module_& module);
void bind_routers(nanobind::module_& module);
void bind_flits(nanobind::module_& module);
void bind_reducing(nanobind::module_& module);
void bind_endpoints(nanobind::module_& module);

}  // namespace certree
