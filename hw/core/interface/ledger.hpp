// What the network interfaces of a run share: messages in flight, memory, counters.
#pragma once

#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "common/program.hpp"
#include "interface/addition_order.hpp"
#include "interface/memory.hpp"
#include "interface/message.hpp"
#include "interface/scoreboard.hpp"

namespace certree {

struct Statistics {
  Cycle end;                            // when the last chunk so far was written or reduced, or results were back
  Cycle usable;                         // when the last chunk so far was written or reduced
  std::uint64_t contention_cycles = 0;  // cycles that ready messages waited for their ports
  std::uint64_t late = 0;               // rows fired after the opening of their slot
  std::uint64_t messages = 0;
  std::uint64_t flit_hops = 0;
};

// A message that got a lane.
struct HopRecord {
  std::uint64_t message;
  LaneId lane;
  Cycle start;
  std::uint32_t flits;
};

// One line of the trace: a message that counted.
struct TraceRecord {
  std::uint64_t number;
  RowId row;
  std::uint32_t iteration;
  NodeId destination;
  Cycle fired;
  Cycle first;
  Cycle complete;
  Cycle usable;
};

// When the payload of a message was at its interface, of runs with endpoints.
struct FetchRecord {
  std::uint64_t number;
  Cycle when;
};

struct Ledger {
  Ledger(const Program& program, std::span<std::uint64_t> cells, bool traced)
      : memory(cells, program.cells),
        scoreboard(program),
        order(program),
        is_traced(traced),
        rows_left(std::uint64_t{program.repeats} * program.row_op.size()),
        arrivals_left(program.repeats *
                      std::accumulate(program.arrival_count.begin(), program.arrival_count.end(), std::uint64_t{0})) {
    arrival_node.reserve(program.arrival_begin.back());
    for (std::uint32_t node = 0; node < program.nodes; ++node) arrival_node.resize(program.arrival_begin[node + 1], NodeId{node});
  }

  // The chunk of a message is in memory at time `usable`: its arrival counts.
  void count(MessageId id, Cycle usable) {
    const Message& message = messages[id];
    scoreboard.count(message.arrival, message.iteration);
    if (statistics.end < usable) statistics.end = usable;
    if (statistics.usable < usable) statistics.usable = usable;
    if (is_traced) {
      trace.push_back({message.number, message.row, message.iteration, message.destination, message.fired, message.first,
                       message.complete, usable});
    }
    messages.remove(id);
    --arrivals_left;
  }

  // An endpoint has brought results back to memory.
  void note_returned(Cycle now) {
    if (statistics.end < now) statistics.end = now;
    --returns_left;
  }

  bool is_done() const { return rows_left == 0 && arrivals_left == 0 && returns_left == 0; }

  MessagePool messages;
  Memory memory;
  Scoreboard scoreboard;
  AdditionOrder order;
  Statistics statistics;
  bool is_traced;
  std::vector<TraceRecord> trace;
  std::vector<FetchRecord> fetches;
  std::vector<NodeId> arrival_node;  // who expects it
  std::uint64_t rows_left;           // firings still to come
  std::uint64_t arrivals_left;       // arrivals still to count
  std::uint64_t returns_left = 0;    // results that endpoints have yet to bring back
};

}  // namespace certree
