#include "common/program.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace certree {
namespace {

void require(bool holds, const char* what) {
  if (!holds) throw std::invalid_argument(std::string("simulator program: ") + what);
}

void require_bounds(const std::vector<std::uint32_t>& begin, std::size_t lists, std::size_t end, const char* what) {
  require(begin.size() == lists + 1 && begin.front() == 0 && begin.back() == end, what);
  for (std::size_t i = 0; i < lists; ++i) require(begin[i] <= begin[i + 1], what);
}

void require_below(const std::vector<std::uint32_t>& column, std::size_t size, std::size_t limit, const char* what) {
  require(column.size() == size, what);
  for (std::uint32_t value : column) require(value < limit, what);
}

}  // namespace

void Program::validate_rows() const {
  const std::size_t rows = row_op.size(), messages = message_arrival.size();
  require(nodes > 0 && cells > 0 && in_flight > 0 && repeats > 0 && period > 0 && slot_cycles > 0, "a scalar is zero");
  require(!arrival_begin.empty(), "bounds are missing");
  const std::size_t arrivals = arrival_begin.back();
  require_bounds(row_begin, nodes, rows, "row_begin");
  require_bounds(arrival_begin, nodes, arrivals, "arrival_begin");
  require_bounds(row_waits.begin, rows, row_waits.values.size(), "row_waits");
  require_bounds(row_messages.begin, rows, row_messages.values.size(), "row_messages");
  require_below(row_op, rows, 3, "row_op; allowed: 0 (nop), 1 (reduce), 2 (gather)");
  require(row_cell.size() == rows, "row_cell");
  require(row_step.size() == rows, "row_step");
  require_below(row_waits.values, row_waits.values.size(), arrivals, "row_waits");
  require_below(row_messages.values, row_messages.values.size(), messages, "row_messages");
  require(row_needs.size() == row_waits.values.size(), "row_needs");
  require_below(message_arrival, messages, arrivals, "message_arrival");
  require(message_cell.size() == messages, "message_cell");
  require(message_cycles.size() == messages && std::ranges::find(message_cycles, 0u) == message_cycles.end(), "message_cycles");
  require(message_addition.empty() || message_addition.size() == messages, "message_addition");
  require(message_turn.empty() || message_turn.size() == messages, "message_turn");
  require(arrival_count.size() == arrivals, "arrival_count");
  for (const std::vector<std::uint32_t>* column : {&row_cell, &message_cell}) {
    for (const std::uint32_t cell : *column) {
      for (const std::uint32_t iteration : {std::uint32_t{0}, std::min(in_flight, repeats) - 1, repeats - 1}) {
        require(cell_of(cell, iteration) < cells, "a cell beyond the memory");
      }
    }
  }
  require(clock_skew.size() == nodes && clock_numerator.size() == nodes && clock_denominator.size() == nodes, "clocks");
  for (std::uint32_t node = 0; node < nodes; ++node) require(clock_numerator[node] > 0 && clock_denominator[node] > 0, "clocks");
}

void Program::validate_lanes() const {
  const std::size_t messages = message_arrival.size(), bundles = bundle_source.size();
  require(!bundle_begin.empty(), "bounds are missing");
  require_bounds(bundle_begin, bundles, bundle_begin.back(), "bundle_begin");
  require_bounds(message_hops.begin, messages, message_hops.values.size(), "message_hops");
  require_below(message_hops.values, message_hops.values.size(), bundles, "message_hops");
  require_below(bundle_source, bundles, nodes, "bundle_source");
  require_below(bundle_destination, bundles, nodes, "bundle_destination");
  require(bundle_latency.size() == bundles, "bundle_latency");
  for (std::uint32_t bundle : message_hops.values)
    require(bundle_begin[bundle] < bundle_begin[bundle + 1], "a bundle without lanes");
  for (std::uint32_t node = 0; node < nodes; ++node) {
    for (std::uint32_t i = row_messages.begin[row_begin[node]]; i < row_messages.begin[row_begin[node + 1]]; ++i) {
      const std::uint32_t message = row_messages.values[i];
      const bool has_hops = message_hops.begin[message] < message_hops.begin[message + 1];
      require(has_hops != is_local(node, message), "a message without hops, or one with hops within a node");
    }
  }
  for (std::size_t message = 0; message < messages; ++message) {
    for (std::uint32_t hop = message_hops.begin[message] + 1; hop < message_hops.begin[message + 1]; ++hop) {
      const std::uint32_t before = message_hops.values[hop - 1];
      require(bundle_destination[before] == bundle_source[message_hops.values[hop]], "hops that do not meet");
      require(bundle_latency[before] + router_cycles > 0, "a router that is passed in no time");
    }
  }
}

}  // namespace certree
