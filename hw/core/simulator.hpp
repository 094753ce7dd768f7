// The clock: every cycle has two halves, so that the order of nodes and lanes cannot change a result.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "fabric.hpp"
#include "ledger.hpp"
#include "make_sequencer.hpp"
#include "network_interface.hpp"
#include "program.hpp"

namespace certree {

// Evaluate: interfaces fire rows by what their counters showed when the cycle began, and every lane moves its flits by one stage.
// Commit: messages whose last flit came out are written or handed to the reduction unit. Cycles in which no lane holds a flit are
// skipped up to the next time that some counter or reduction unit changes by itself. Lanes touch nothing but themselves, so in
// quiet cycles (no interface changes, no message starts or ends) each lane moves its flits through a whole block of cycles at once.
// Time O(flits · links they pass), memory O(rows + lanes · path latency + messages under way).
class Simulator {
 public:
  // `cells`: see Memory. Throws std::invalid_argument when the program is inconsistent.
  Simulator(Program program, RunMode mode, std::span<std::uint64_t> cells, bool traced);
  Simulator(const Simulator&) = delete;
  Simulator& operator=(const Simulator&) = delete;

  // Runs until the end or for about `budget` flit moves; returns whether it has ended.
  bool run(std::uint64_t budget);

  bool is_deadlocked() const { return is_deadlocked_; }
  Cycle now() const { return now_; }
  const Statistics& statistics() const { return ledger_.statistics; }
  const std::vector<TraceRecord>& trace() const { return ledger_.trace; }
  std::uint64_t busiest_lane_cycles() const;
  std::vector<Waiting> waiting() const;

 private:
  struct Completion {
    LaneId lane;
    MessageId message;
  };
  void evaluate_interfaces();
  std::uint64_t quiet_cycles() const;
  void move_flits(std::uint64_t cycles);
  void start_message(const Lane& lane);
  void receive_flits(LaneId id, std::span<const Flit> block);
  void commit();
  void wake(NodeId node, Cycle when);

  Program program_;
  Ledger ledger_;
  Fabric fabric_;
  std::vector<NetworkInterface> interfaces_;
  std::vector<Flit> block_;              // what goes into or comes out of a lane, cycle by cycle
  std::vector<Completion> completions_;  // of this cycle
  std::uint64_t settling_backlog_;       // a port with this backlog has just got its last flit into the injection buffer
  Cycle now_;
  Cycle earliest_wake_;  // no interface changes before
  bool is_deadlocked_ = false;
};

}  // namespace certree
