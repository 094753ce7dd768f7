// Python bindings of the synthesizer's kernels.
#include <nanobind/nanobind.h>

NB_MODULE(_native, module) { module.doc() = "Kernels of the synthesizer."; }
