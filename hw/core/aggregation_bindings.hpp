// Python bindings of runs with reducing switches.
#pragma once

#include <nanobind/nanobind.h>

namespace certree {

void bind_aggregation(nanobind::module_& module);

}  // namespace certree
