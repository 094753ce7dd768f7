// The network interfaces of all nodes of a run.
#pragma once

#include <stdexcept>
#include <vector>

#include "interface/endpoint.hpp"
#include "interface/network_interface.hpp"
#include "interface/run_mode.hpp"

namespace certree {

// `endpoints`: of the nodes, or null; the run then lasts until they have brought all results back.
inline std::vector<NetworkInterface> make_interfaces(const Program& program, Ledger& ledger, Transport& transport, RunMode mode,
                                                     Endpoints* endpoints) {
  std::vector<Endpoint*> started(program.nodes);
  IterationOrder* order = endpoints == nullptr ? nullptr : endpoints->iteration_order();
  if (order != nullptr && mode != RunMode::kPaced) {
    throw std::invalid_argument("endpoints that begin iterations are for paced runs");
  }
  if (endpoints != nullptr) started = endpoints->start(program);
  std::vector<NetworkInterface> interfaces;
  interfaces.reserve(program.nodes);
  for (std::uint32_t node = 0; node < program.nodes; ++node) {
    if (started[node] != nullptr) ledger.returns_left += started[node]->returns();
    std::unique_ptr<Sequencer> sequencer = order == nullptr ? make_sequencer(program, mode, {node})
                                                            : std::make_unique<MergingSequencer>(program, NodeId{node}, *order);
    interfaces.emplace_back(program, ledger, transport, NodeId{node}, std::move(sequencer), started[node]);
  }
  return interfaces;
}

}  // namespace certree
