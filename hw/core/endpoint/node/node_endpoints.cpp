#include "endpoint/node/node_endpoints.hpp"

#include <algorithm>
#include <stdexcept>

namespace certree::endpoint {

NodeEndpoints::NodeEndpoints(const Parameters& parameters, RunColumns columns)
    : parameters_(parameters), columns_(std::move(columns)) {
  if (columns_.asked.empty()) return;
  std::uint32_t iterations = 0;
  for (const Command& command : columns_.asked) {
    if (command.first != iterations || command.last <= command.first) throw std::invalid_argument("endpoints: collectives");
    iterations = command.last;
  }
  std::vector<std::uint32_t> each;
  for (const Begun& one : columns_.begin_order) each.push_back(one.iteration);
  std::ranges::sort(each);
  for (std::uint32_t place = 0; place < each.size(); ++place) {
    if (each[place] != place || each.size() != iterations) throw std::invalid_argument("endpoints: order of iterations");
  }
  collectives_.emplace(columns_.asked, columns_.lifo, columns_.begin_order);
}

std::vector<Endpoint*> NodeEndpoints::start(const Program& program) {
  if (!buses_.empty()) throw std::invalid_argument("endpoints: they have run");
  const bool is_engine = parameters_.system == System::kEngine;
  if (!columns_.needs.empty() && columns_.needs.size() != program.message_arrival.size()) {
    throw std::invalid_argument("endpoints: earlier uses of cells");
  }
  if (columns_.message_bytes.size() != program.message_arrival.size()) throw std::invalid_argument("endpoints: message_bytes");
  if (columns_.ends.size() != program.message_arrival.size()) throw std::invalid_argument("endpoints: ends of transfers");
  if (is_engine && (columns_.load_bytes.size() != program.nodes || columns_.result_bytes.size() != program.nodes ||
                    columns_.rooms.size() != 2 || columns_.sizes.size() != 2 || columns_.state_machines == 0)) {
    throw std::invalid_argument("endpoints: columns of an engine");
  }
  if (collectives_ && columns_.asked.back().last != program.repeats) {
    throw std::invalid_argument("endpoints: iterations of collectives");
  }
  uses_ = program.message_arrival.size() * program.repeats;
  if (!columns_.hand_over.empty() && columns_.hand_over.size() != 2 * uses_) {
    throw std::invalid_argument("endpoints: times of another run");
  }
  std::vector<Endpoint*> started(program.nodes);
  Collectives* collectives = collectives_ ? &*collectives_ : nullptr;
  if (collectives != nullptr) collectives->set_period(program.period);
  for (std::uint32_t node = 0; node < program.nodes; ++node) {
    const bool is_empty =
        program.row_begin[node] == program.row_begin[node + 1] && program.arrival_begin[node] == program.arrival_begin[node + 1];
    if (is_empty) continue;
    if (is_engine) {
      auto engine = std::make_unique<EngineEndpoint>(parameters_, columns_, program, node, collectives);
      engines_.push_back(engine.get());
      buses_.push_back(std::move(engine));
    } else {
      buses_.push_back(std::make_unique<MemoryEndpoint>(parameters_, columns_, program, node, collectives));
    }
    started[node] = buses_.back().get();
  }
  return started;
}

NodeCounters NodeEndpoints::counters(Cycle now) {
  NodeCounters sum;
  for (const auto& node : buses_) {
    node->memory().settle(now);
    sum.memory_cycles += node->memory().busy_cycles(now);
    sum.memory_bytes += node->memory().bus().bytes();
    sum.computing_bytes += node->memory().computed(now);
    sum.to_interface_cycles += node->to_interface().busy_cycles(now);
    sum.to_accelerator_cycles += node->to_accelerator().busy_cycles(now);
    sum.adder_cycles += node->adder().busy_cycles();
    sum.held += node->held();
    sum.last_complete = std::max(sum.last_complete, node->last_complete().value);
    sum.memory_queued.add(node->memory().bus().queued());
    sum.memory_moved.add(node->memory().bus().moved());
    for (const Bus* bus : {&node->to_interface(), &node->to_accelerator()}) {
      sum.interface_queued.add(bus->queued());
      sum.interface_moved.add(bus->moved());
    }
    sum.delays.network.add(node->delays().network);
    sum.delays.sum.add(node->delays().sum);
    sum.delays.stall.add(node->delays().stall);
    sum.delays.iterations.add(node->delays().iterations);
  }
  for (const EngineEndpoint* engine : engines_) {
    sum.alu_cycles += engine->crossbar().alus().busy_cycles();
    sum.sram_peak = std::max(sum.sram_peak, engine->sram().peak(0));
    sum.results_peak = std::max(sum.results_peak, engine->sram().peak(1));
    sum.waited += engine->waited();
    sum.waiting_peak = std::max<std::uint64_t>(sum.waiting_peak, engine->waiting_peak());
    sum.forwarded += engine->forwarded();
  }
  return sum;
}

std::vector<std::uint64_t> NodeEndpoints::handed_over() const {
  std::vector<std::uint64_t> all(2 * uses_);
  for (const auto& node : buses_) {
    std::uint64_t place = 0;
    for (const auto& [use, when] : node->handed_over()) {
      all[2 * use] = when.value;
      all[2 * use + 1] = place++;
    }
  }
  return all;
}

std::vector<std::uint64_t> NodeEndpoints::ends() const {
  std::vector<std::uint64_t> found;
  if (collectives_) {
    for (const Cycle end : collectives_->ends()) found.push_back(end.value);
  }
  return found;
}

std::vector<std::uint64_t> NodeEndpoints::begin_order() const {
  std::vector<std::uint64_t> found;
  if (!collectives_) return found;
  for (const Begun& one : collectives_->begun()) found.insert(found.end(), {one.iteration, one.first_step, one.is_fresh});
  return found;
}

std::vector<IterationRecord> NodeEndpoints::steps() const {
  std::vector<IterationRecord> all;
  for (const EngineEndpoint* engine : engines_) all.insert(all.end(), engine->steps().begin(), engine->steps().end());
  return all;
}

}  // namespace certree::endpoint
