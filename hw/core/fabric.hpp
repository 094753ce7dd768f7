// What the network interfaces share: lanes, messages under way, memory, counters.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lane.hpp"
#include "memory.hpp"
#include "message.hpp"
#include "program.hpp"
#include "scoreboard.hpp"

namespace certree {

struct Statistics {
  Cycle end;                            // when the last chunk so far was written or reduced
  std::uint64_t contention_cycles = 0;  // cycles that ready messages waited for their ports
  std::uint64_t late = 0;               // rows fired after the opening of their slot
  std::uint64_t messages = 0;
  std::uint64_t flit_hops = 0;
};

// One line of the trace: a message that counted.
struct TraceRecord {
  RowId row;
  std::uint32_t iteration;
  NodeId destination;
  Cycle fired;
  Cycle first;
  Cycle complete;
  Cycle usable;
};

struct Fabric {
  Fabric(const Program& program, std::span<std::uint64_t> cells, bool traced)
      : memory(cells, std::uint64_t{program.chunks} * program.repeats), scoreboard(program.arrival_begin.back()), is_traced(traced) {
    const PathDelays ends{program.ni_cycles, program.router_cycles, 0};
    for (std::size_t bundle = 0; bundle < program.bundle_source.size(); ++bundle) {
      PathDelays delays = ends;
      delays.link = program.bundle_latency[bundle];
      for (std::uint32_t lane = program.bundle_begin[bundle]; lane < program.bundle_begin[bundle + 1]; ++lane) {
        lanes.emplace_back(NodeId{program.bundle_source[bundle]}, delays, program.message_flits);
      }
    }
  }

  // The chunk of a message is in memory at time `usable`: its arrival counts.
  void count(MessageId id, Cycle usable) {
    const Message& message = messages[id];
    scoreboard.count(message.arrival);
    if (statistics.end < usable) statistics.end = usable;
    if (is_traced) {
      trace.push_back(
          {message.row, message.iteration, message.destination, message.fired, message.first, message.complete, usable});
    }
    messages.remove(id);
    --arrivals_left;
  }

  std::vector<Lane> lanes;
  std::vector<LaneId> busy_lanes;  // those that hold flits, in no order
  MessagePool messages;
  Memory memory;
  Scoreboard scoreboard;
  Statistics statistics;
  bool is_traced;
  std::vector<TraceRecord> trace;
  std::uint64_t rows_left = 0;      // firings still to come
  std::uint64_t arrivals_left = 0;  // arrivals still to count
};

}  // namespace certree
