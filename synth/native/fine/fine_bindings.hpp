// Python bindings of fine slots.
#pragma once

#include <nanobind/nanobind.h>

namespace certree {

void bind_fine(nanobind::module_& module);

}  // namespace certree
