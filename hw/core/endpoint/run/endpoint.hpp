// All that a node has between its memory and its links.
#pragma once

#include <vector>

#include "endpoint/run/program.hpp"
#include "endpoint/units/bus.hpp"
#include "endpoint/units/crossbar.hpp"
#include "endpoint/units/sram.hpp"
#include "endpoint/units/state_machine.hpp"

namespace certree::endpoint {

// Where a chunk is at a node: in memory, in a phase (1 to P), among the results (P + 1), back in memory (P + 2).
struct ChunkState {
  std::uint32_t place = 0;
  std::uint32_t next_row = 0;  // the next that it sends in its phase
  Cycle since;                 // it stands in its queue
};

struct Endpoint {
  Endpoint(const Program& program, const Parameters& parameters)
      : memory(parameters.memory),
        to_interface(parameters.interface),
        to_accelerator(parameters.interface),
        adder(parameters.adder),
        crossbar(parameters.crossbar),
        sram(program.rooms, program.sizes),
        chunks(program.chunks) {
    for (const std::uint32_t count : program.phase_machines) {
      first_machine.push_back(static_cast<std::uint32_t>(machines.size()));
      machines.resize(machines.size() + count);
    }
    first_machine.push_back(static_cast<std::uint32_t>(machines.size()));
  }

  // Chunks take the state machines of a phase in turn.
  StateMachine& machine(std::uint32_t phase, ChunkId chunk) { return machines[machine_of(phase, chunk)]; }
  const StateMachine& machine(std::uint32_t phase, ChunkId chunk) const { return machines[machine_of(phase, chunk)]; }

  std::uint32_t machine_of(std::uint32_t phase, ChunkId chunk) const {
    const std::uint32_t first = first_machine[phase];
    return first + chunk.value % (first_machine[phase + 1] - first);
  }

  Bus memory, to_interface, to_accelerator;
  Server adder;
  Crossbar crossbar;
  Sram sram;
  std::vector<StateMachine> machines;
  std::vector<std::uint32_t> first_machine;  // of every phase, and the end
  std::vector<std::uint32_t> ports;          // that end here
  std::vector<ChunkState> chunks;
  std::uint64_t begun = 0;     // chunks that have left memory
  std::uint64_t finished = 0;  // and that are back: as many interrupts
};

}  // namespace certree::endpoint
