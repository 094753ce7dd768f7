// The tables of all nodes and the machine they run on, as plain columns.
#pragma once

#include <cstdint>
#include <vector>

#include "common/types.hpp"

namespace certree {

// Lists of numbers, one after the other: list i is values[begin[i]] up to values[begin[i + 1]].
struct Lists {
  std::vector<std::uint32_t> begin;
  std::vector<std::uint32_t> values;
};

struct Program {
  // Scalars. Single-iteration tables have period = number of steps and repeats = 1.
  std::uint32_t nodes = 0;
  std::uint32_t repeats = 0;
  std::uint32_t period = 0;
  std::uint64_t slot_cycles = 0;
  std::uint64_t step_cycles = 0;  // paced: how long a step without rows lasts
  std::uint64_t ni_buffer_flits = 0;
  std::uint64_t reduce_start_cycles = 0;
  std::uint64_t reduce_chunk_cycles = 0;
  std::uint64_t interface_cycles = 0;  // of a message, at both ends of its route together
  std::uint32_t router_cycles = 0;
  // Memory of a node, in chunks. In iteration i a cell c below `work_base` is c + i · stride, and any other
  // c + (i mod in_flight) · work_stride.
  std::uint64_t cells = 0;
  std::uint64_t stride = 0;
  std::uint64_t work_base = 0;
  std::uint64_t work_stride = 0;
  std::uint32_t in_flight = 1;
  // Rows, those of one node together and in table order.
  std::vector<std::uint32_t> row_begin;  // first row of each node, and the end
  std::vector<std::uint32_t> row_op;
  std::vector<std::uint32_t> row_cell;  // that it reads
  std::vector<std::uint32_t> row_step;
  Lists row_waits;                       // row -> expected arrivals it waits for
  std::vector<std::uint32_t> row_needs;  // and how often each of these must have counted in its iteration
  Lists row_messages;                    // row -> messages it sends
  // Messages a row sends, in table order.
  std::vector<std::uint32_t> message_arrival;   // the counter it raises at its destination
  std::vector<std::uint32_t> message_cell;      // where it is written there
  std::vector<std::uint32_t> message_cycles;    // for which it has a lane
  std::vector<std::uint32_t> message_addition;  // cycles of a unit that adds it; empty where all take `reduce_chunk_cycles`
  std::vector<std::uint32_t> message_turn;      // of an operand, among those of its cell, in the stated order; empty without one
  // Lanes to one neighbour are consecutive: a bundle. Empty where routers carry the messages.
  Lists message_hops;                       // message -> the bundles of its route: it takes a lane of each
  std::vector<std::uint32_t> bundle_begin;  // first lane of each bundle, and the end
  std::vector<std::uint32_t> bundle_source;
  std::vector<std::uint32_t> bundle_destination;
  std::vector<std::uint32_t> bundle_latency;
  // Clocks: node n starts at time skew[n], and `denominator` cycles of its counters last `numerator` cycles.
  std::vector<std::uint32_t> clock_skew;
  std::vector<std::uint32_t> clock_numerator;
  std::vector<std::uint32_t> clock_denominator;
  // Expected arrivals, those of one node together.
  std::vector<std::uint32_t> arrival_begin;  // first arrival of each node, and the end
  std::vector<std::uint32_t> arrival_count;  // messages of one iteration that raise it

  // Whether a message of this node, number `index` of those that rows send, is for the node itself.
  bool is_local(std::uint32_t node, std::uint32_t index) const {
    return arrival_begin[node] <= message_arrival[index] && message_arrival[index] < arrival_begin[node + 1];
  }

  // For how long a reduction unit adds what a message brings, number `index` of those that rows send.
  std::uint64_t addition_cycles(std::uint32_t index) const {
    return message_addition.empty() ? reduce_chunk_cycles : message_addition[index];
  }

  std::uint64_t cell_of(std::uint32_t cell, std::uint32_t iteration) const {
    return cell < work_base ? cell + iteration * stride : cell + iteration % in_flight * work_stride;
  }

  // How long `cycles` of the counters of a node last, and when they are over if they count from its start.
  std::uint64_t local_cycles(std::uint32_t node, std::uint64_t cycles) const {
    const std::uint64_t numerator = clock_numerator[node], denominator = clock_denominator[node];
    if (numerator == denominator) return cycles;
    __extension__ using Wide = unsigned __int128;
    return static_cast<std::uint64_t>((Wide{cycles} * numerator + denominator - 1) / denominator);
  }
  Cycle local_time(std::uint32_t node, std::uint64_t cycles) const { return Cycle{clock_skew[node] + local_cycles(node, cycles)}; }

  // Throw std::invalid_argument naming the first column that is inconsistent: of rows, messages and arrivals, or of lanes. O(size).
  void validate_rows() const;
  void validate_lanes() const;
};

}  // namespace certree
