// Results of a run as Python objects.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <tuple>
#include <vector>

#include "common/columns.hpp"
#include "interface/network_interface.hpp"

namespace certree {

using WaitingRow = std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t>;

// (node, row or -1, iteration, arrival or -1) of every node that is not done.
inline std::vector<WaitingRow> waiting_rows(const std::vector<Waiting>& waiting) {
  std::vector<WaitingRow> rows;
  for (const Waiting& entry : waiting) {
    const std::int64_t arrival = entry.arrival ? std::int64_t{entry.arrival->value} : -1;
    rows.emplace_back(entry.node.value, entry.firing ? std::int64_t{entry.firing->row.value} : -1,
                      entry.firing ? entry.firing->iteration : 0, arrival);
  }
  return rows;
}

using TraceRow = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t,
                            std::uint64_t>;

// (row, iteration, destination, fired, first, complete, usable) of every message that counted, and its number.
inline std::vector<TraceRow> trace_rows(const std::vector<TraceRecord>& trace) {
  std::vector<TraceRow> rows;
  for (const TraceRecord& record : trace) {
    rows.emplace_back(record.row.value, record.iteration, record.destination.value, record.fired.value, record.first.value,
                      record.complete.value, record.usable.value, record.number);
  }
  return rows;
}

// (message, cycle in which its payload was at its interface) in a run with endpoints.
inline std::vector<std::tuple<std::uint64_t, std::uint64_t>> fetch_rows(const std::vector<FetchRecord>& fetches) {
  std::vector<std::tuple<std::uint64_t, std::uint64_t>> rows;
  for (const FetchRecord& record : fetches) rows.emplace_back(record.number, record.when.value);
  return rows;
}

using OrderFaultRow = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;

// (message, iteration, later turn) of the first operands that were added after one of a later turn.
inline std::vector<OrderFaultRow> order_fault_rows(const AdditionOrder& order) {
  std::vector<OrderFaultRow> rows;
  for (const OrderFault& fault : order.faults()) rows.emplace_back(fault.message, fault.iteration, fault.later_turn);
  return rows;
}

// The counters of a run; `busiest`: cycles in which its busiest lane, or channel, carried a flit.
inline Counters statistics_dict(const Statistics& values, const AdditionOrder& order, std::uint64_t busiest) {
  nanobind::dict result;
  result["cycles"] = values.end.value;
  result["usable_cycles"] = values.usable.value;
  result["contention_cycles"] = values.contention_cycles;
  result["late"] = values.late;
  result["out_of_order"] = order.count();
  result["messages"] = values.messages;
  result["flit_hops"] = values.flit_hops;
  result["busiest_lane_cycles"] = busiest;
  return result;
}

}  // namespace certree
