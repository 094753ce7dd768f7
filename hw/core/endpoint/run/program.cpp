#include "endpoint/run/program.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace certree::endpoint {
namespace {

void require(bool holds, const char* what) {
  if (!holds) throw std::invalid_argument(std::string("endpoint program: ") + what);
}

bool all_below(const Column& column, std::uint32_t limit) {
  return std::all_of(column.begin(), column.end(), [&](std::uint32_t value) { return value < limit; });
}

void require_lists(const Lists& lists, std::size_t count, std::uint32_t limit, const char* what) {
  require(lists.begin.size() == count + 1 && lists.begin.front() == 0 && lists.begin.back() == lists.values.size() &&
              std::is_sorted(lists.begin.begin(), lists.begin.end()) && all_below(lists.values, limit),
          what);
}

}  // namespace

void Program::check() const {
  const std::size_t places = std::size_t{parts} * phases * nodes;
  require(nodes > 0 && phases > 0 && parts > 0 && chunks > 0, "nodes, phases, parts and chunks are above zero");
  require(row_begin.size() == places + 1 && row_begin.front() == 0 && row_begin.back() == rows() &&
              std::is_sorted(row_begin.begin(), row_begin.end()) && receipts.size() == places,
          "rows of every part, phase and node");
  for (const Column* column : {&row_destination, &row_phase, &row_adds, &row_bytes, &row_needs}) {
    require(column->size() == rows(), "columns of rows are equally long");
  }
  require(all_below(row_source, nodes) && all_below(row_destination, nodes) && all_below(row_phase, phases),
          "nodes and phases of rows");
  require(all_below(row_adds, 2), "row_adds is 0 (overwrite) or 1 (add)");
  require(std::find(row_bytes.begin(), row_bytes.end(), 0) == row_bytes.end(), "rows have bytes");
  const std::size_t links = link_bytes.size();
  for (const Column* column : {&link_cycles, &link_latency, &link_lanes}) require(column->size() == links, "columns of links");
  for (std::size_t i = 0; i < links; ++i) require(link_bytes[i] && link_cycles[i] && link_lanes[i], "links carry something");
  require(row_flow.size() == rows() && all_below(row_flow, static_cast<std::uint32_t>(flow_link.size())), "flows of rows");
  require(flow_phase.size() == flow_link.size() && flow_depth.size() == flow_link.size() && all_below(flow_phase, phases) &&
              all_below(flow_link, static_cast<std::uint32_t>(links)),
          "flows");
  require_lists(row_feeds, rows(), rows(), "rows that others wait for");
  require_lists(row_links, rows(), static_cast<std::uint32_t>(links), "links of rows");
  for (std::uint32_t row = 0; row < rows(); ++row)
    require(row_links.begin[row] < row_links.begin[row + 1], "every row takes a link");
  require_lists(row_from, rows(), cells, "cells that rows read");
  require_lists(row_to, rows(), cells, "cells that rows write");
  require(row_from.begin == row_to.begin, "a row writes as many cells as it reads");
  require(phase_machines.size() == phases && all_below(Column{0}, *std::min_element(phase_machines.begin(), phase_machines.end())),
          "every phase has a state machine");
  require(rooms.size() == phases + 1 && sizes.size() == phases + 1, "a partition for every phase, and one for results");
  std::uint32_t next = 0;
  for (const Command& command : commands) {
    require(command.first == next && command.last > next, "commands have chunks one after the other");
    next = command.last;
  }
  require(next == chunks, "commands have all chunks");
}

}  // namespace certree::endpoint
