// Parameters of an endpoint, the same at all nodes.
#pragma once

#include <cstdint>

#include "endpoint/units/bus.hpp"
#include "endpoint/units/crossbar.hpp"

namespace certree::endpoint {

// Who does the work of the collective.
enum class System : std::uint8_t {
  kAccelerator,  // baseline: every message goes through memory, sums are formed by the accelerator
  kEngine,       // ACE
  kIdeal,        // nothing at the endpoint takes time but one cycle for a message
};

// Rules by which engines do not hang; a third is how deep ports are. The paper has none of them.
struct Rules {
  bool in_order = true;  // chunks enter a partition in the order of loading
  bool apart = true;     // a port has places for every flow and state machine: what one cannot take yet does not hold up others
};

// What else uses memory: blocks of that many bytes at a rate, one at a time; no bytes: nothing.
struct Computing {
  std::uint64_t block_bytes = 0;
  Rate rate;
};

struct Parameters {
  System system = System::kEngine;
  BusParameters memory;     // reads and writes
  BusParameters interface;  // accelerator to network interface; as wide in the other direction
  Rate adder;               // of the accelerator
  CrossbarParameters crossbar;
  Rules rules;
  Computing computing;  // in runs of tables
};

}  // namespace certree::endpoint
