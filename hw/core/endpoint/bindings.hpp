// Python bindings of the endpoints.
#pragma once

#include <nanobind/nanobind.h>

namespace certree {

void bind_endpoints(nanobind::module_& module);

}  // namespace certree
