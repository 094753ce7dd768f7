// Python bindings of the router network.
#pragma once

#include <nanobind/nanobind.h>

namespace certree {

void bind_flit_network(nanobind::module_& module);

}  // namespace certree
