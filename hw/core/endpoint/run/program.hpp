// What the endpoints of a run execute, as plain columns.
#pragma once

#include <cstdint>
#include <vector>

#include "endpoint/units/load_order.hpp"
#include "endpoint/units/parameters.hpp"

namespace certree::endpoint {

using Column = std::vector<std::uint32_t>;

// A list for each of several things: that of i is in values[begin[i]] to values[begin[i + 1] - 1].
struct Lists {
  Column begin;
  Column values;
};

// A chunk follows one of `parts` programs, in turn; each has its rows, which are messages, for every phase and node in the order in
// which a state machine sends them.
struct Program {
  std::uint32_t nodes = 0, phases = 0, parts = 0, chunks = 0, cells = 0;  // cells: of a chunk, at all nodes together
  Column row_begin;                                                       // (part · phases + phase) · nodes + node, and the end
  Column receipts;  // with the same index: messages that a node gets in a phase
  Column row_source, row_destination, row_phase, row_adds, row_bytes;
  Column row_needs;  // arrivals of the same chunk that a row waits for
  Lists row_feeds;   // the rows that wait for what a row brings
  Lists row_links;
  Lists row_from, row_to;  // cells
  Column link_bytes, link_cycles, link_latency, link_lanes;
  // A flow is what one node sends to another by one link, its last, in one phase. Messages of it that a port holds: for each state
  // machine its own, or that many more for all.
  Column row_flow, flow_link, flow_phase, flow_depth;
  Column phase_machines;
  std::vector<std::uint64_t> rooms, sizes;         // of partitions
  std::uint64_t load_bytes = 0, result_bytes = 0;  // of a chunk at a node
  std::vector<Command> commands;
  bool lifo = false;

  std::uint32_t rows() const { return static_cast<std::uint32_t>(row_source.size()); }
  std::uint32_t place(std::uint32_t part, std::uint32_t phase, std::uint32_t node) const {
    return (part * phases + phase) * nodes + node;
  }

  // Throws std::invalid_argument when columns contradict each other.
  void check() const;
};

}  // namespace certree::endpoint
