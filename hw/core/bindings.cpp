// Python bindings of the simulator core.
#include <nanobind/nanobind.h>

NB_MODULE(_core, module) { module.doc() = "Cycle-accurate simulator core."; }
