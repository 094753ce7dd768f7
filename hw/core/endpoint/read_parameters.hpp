// Parameters of endpoints as Python gives them.
#pragma once

#include <string>

#include "common/columns.hpp"
#include "endpoint/units/parameters.hpp"

namespace certree::endpoint {

inline Rate read_rate(const nanobind::mapping& scalars, const std::string& name) {
  return {scalar<std::uint64_t>(scalars, (name + "_bytes").c_str()), scalar<std::uint64_t>(scalars, (name + "_cycles").c_str())};
}

inline Parameters read_parameters(const nanobind::mapping& scalars) {
  Parameters parameters;
  parameters.system = numbered<System>("system", scalar<std::uint64_t>(scalars, "system"), {"accelerator", "engine", "ideal"});
  const auto latency = scalar<std::uint64_t>(scalars, "bus_latency");
  const auto overhead = scalar<std::uint64_t>(scalars, "bus_overhead");
  const auto gap = scalar<std::uint64_t>(scalars, "bus_gap");
  parameters.memory = {read_rate(scalars, "memory"), latency, overhead, gap};
  parameters.interface = {read_rate(scalars, "interface"), latency, overhead, gap};
  parameters.adder = read_rate(scalars, "adder");
  parameters.crossbar = {scalar<std::uint32_t>(scalars, "alus"), scalar<std::uint64_t>(scalars, "alu_bytes"),
                         scalar<std::uint32_t>(scalars, "banks"), scalar<std::uint64_t>(scalars, "bank_bytes"),
                         scalar<std::uint64_t>(scalars, "packet_bytes")};
  parameters.rules = {flag(scalars, "in_order"), flag(scalars, "apart")};
  parameters.computing = {scalar<std::uint64_t>(scalars, "computing_block"), read_rate(scalars, "computing")};
  return parameters;
}

}  // namespace certree::endpoint
