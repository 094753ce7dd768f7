// The `lanes` engine of message flow: every flit of every message moves through every stage of its route.
#pragma once

#include <cstdint>
#include <functional>
#include <queue>
#include <span>
#include <vector>

#include "lanes/lane.hpp"
#include "lanes/message_engine.hpp"

namespace certree {

// Every cycle has two halves, so that the order of nodes and lanes cannot change a result. Evaluate: interfaces fire rows by what
// their counters showed when the cycle began, and every lane moves its flits by one stage. Commit: messages whose last flit came
// out are written or handed to the reduction unit, messages whose first flit came to a router queue for their next lane. Cycles in
// which no lane holds a flit are skipped up to the next time that some counter or reduction unit changes by itself. Lanes touch
// nothing but themselves, so in quiet cycles (no interface changes, no message starts or ends or asks for a lane) each lane moves
// its flits through a whole block of cycles at once. Time O(flits · links they pass), memory O(rows + lanes · path latency +
// messages in flight).
class LanesEngine final : public MessageEngine {
 public:
  LanesEngine(Program program, RunMode mode, std::span<std::uint64_t> cells, bool traced, Endpoints* endpoints = nullptr);
  bool run(std::uint64_t budget) override;  // in flit moves
  std::uint64_t busiest_lane_cycles() const override;

 private:
  struct Completion {
    LaneId lane;
    MessageId message;
  };
  // The first flit of a message that comes to the router behind a lane.
  struct Head {
    Cycle when;
    LaneId lane;
    MessageId message;
    bool operator>(const Head& other) const { return when != other.when ? when > other.when : lane > other.lane; }
  };

  std::uint64_t backlog(LaneId lane) const override { return lanes_[lane.value].port.backlog(); }
  void enqueue(LaneId lane, MessageId message) override;
  void evaluate_interfaces();
  std::uint64_t quiet_cycles() const;
  void move_flits(std::uint64_t cycles);
  void start_message(LaneId id);
  bool pass_on(LaneId lane, MessageId message, std::uint64_t flits);
  void receive_flits(LaneId id, std::span<const Flit> block);
  void commit();
  void forward_heads();
  void wake(NodeId node, Cycle when);

  std::vector<Lane> lanes_;
  std::vector<LaneId> busy_lanes_;       // those that hold flits, in no order
  bool some_go_on_;                      // whether messages pass several lanes
  std::vector<Flit> block_;              // what goes into or comes out of a lane, cycle by cycle
  std::vector<Completion> completions_;  // of this cycle
  std::priority_queue<Head, std::vector<Head>, std::greater<>> heads_;
  std::uint64_t settling_backlog_;  // a port with this backlog has just got its last flit into the injection buffer
  Cycle earliest_wake_;             // no interface changes before
};

}  // namespace certree
