// The endpoints of all nodes of a run of tables.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "endpoint/node/engine_endpoint.hpp"
#include "endpoint/node/memory_endpoint.hpp"

namespace certree::endpoint {

// Sums over all nodes, and the most at any node.
struct NodeCounters {
  std::uint64_t memory_cycles = 0, memory_bytes = 0, computing_bytes = 0, to_interface_cycles = 0, to_accelerator_cycles = 0,
                adder_cycles = 0, held = 0, last_complete = 0;
  Tally memory_queued, memory_moved, interface_queued, interface_moved;
  Delays delays;
  std::uint64_t alu_cycles = 0, sram_peak = 0, results_peak = 0, waited = 0, waiting_peak = 0, forwarded = 0;
};

// For one run. Nodes without rows and arrivals have none.
class NodeEndpoints final : public Endpoints {
 public:
  // Throws std::invalid_argument for collectives whose iterations do not follow each other, or an order of others.
  NodeEndpoints(const Parameters& parameters, RunColumns columns);
  NodeEndpoints(const NodeEndpoints&) = delete;
  NodeEndpoints& operator=(const NodeEndpoints&) = delete;

  std::vector<Endpoint*> start(const Program& program) override;
  IterationOrder* iteration_order() override { return collectives_ ? &*collectives_ : nullptr; }
  // In a run that has come to cycle `now`.
  NodeCounters counters(Cycle now);
  // What iterations did at engines, node by node, where that was noted.
  std::vector<IterationRecord> steps() const;
  // Of every message of every iteration that went to another node: when its payload was at its interface, and its place among those
  // of its node, in a run that noted it.
  std::vector<std::uint64_t> handed_over() const;
  std::size_t count() const { return buses_.size(); }
  // Of each collective: when it was over at the last node.
  std::vector<std::uint64_t> ends() const;
  // (iteration, first step, whether it is fresh) in the order in which iterations began, flat, in a run of collectives that has
  // ended.
  std::vector<std::uint64_t> begin_order() const;

 private:
  Parameters parameters_;
  RunColumns columns_;
  std::optional<Collectives> collectives_;
  std::size_t uses_ = 0;                             // messages of all iterations
  std::vector<std::unique_ptr<DmaEndpoint>> buses_;  // of all nodes that have an endpoint
  std::vector<const EngineEndpoint*> engines_;       // those of them that are engines
};

}  // namespace certree::endpoint
