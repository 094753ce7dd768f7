// Message flow: what the two engines that run it have in common.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "common/program.hpp"
#include "interface/interfaces.hpp"
#include "interface/ledger.hpp"
#include "interface/transport.hpp"
#include "lanes/lane_order.hpp"

namespace certree {

// A message takes one lane of each bundle on its route, each for as many cycles as it has flits: virtual cut-through, with room in
// every router for what waits there. A lane serves messages in the order in which their first flits stood before it. At one point
// in time things happen in this order: messages whose last flit came out are written or handed to the reduction unit, those at one
// node in the order of the lanes they came by; messages whose first flit came to a router queue for their next lane, in the order
// of the lanes they came by; then interfaces fire rows by what their counters show.
class MessageEngine : public Transport {
 public:
  // `cells`: see Memory; `endpoints`: of the nodes, or null. Throws std::invalid_argument when the program is inconsistent, or does
  // not fit the endpoints.
  MessageEngine(Program program, RunMode mode, std::span<std::uint64_t> cells, bool traced, Endpoints* endpoints);
  MessageEngine(const MessageEngine&) = delete;
  MessageEngine& operator=(const MessageEngine&) = delete;

  // Runs until the end or for about `budget` units of work; returns whether it has ended.
  virtual bool run(std::uint64_t budget) = 0;
  virtual std::uint64_t busiest_lane_cycles() const = 0;
  // Before the run: note in which order lanes carry messages.
  void record_order() { recorded_.emplace(lane_count()); }
  // After a run whose order was noted.
  LaneOrder order_of_lanes() const;

  bool is_deadlocked() const { return is_deadlocked_; }
  Cycle now() const { return now_; }
  const Statistics& statistics() const { return ledger_.statistics; }
  const AdditionOrder& order() const { return ledger_.order; }
  const std::vector<TraceRecord>& trace() const { return ledger_.trace; }
  const std::vector<FetchRecord>& fetches() const { return ledger_.fetches; }
  const std::vector<HopRecord>& hops() const { return hops_; }
  std::vector<Waiting> waiting() const;

 protected:
  // Flits that wait at the lane's port or are being sent, at the start of this cycle.
  virtual std::uint64_t backlog(LaneId lane) const = 0;
  // The message takes its turn at the port; its first flit is there in this cycle.
  virtual void enqueue(LaneId lane, MessageId message) = 0;

  // The message asks for a lane of the bundle of its hop.
  virtual void request_lane(MessageId id);
  // The message goes on from the router that it has come to.
  void request_next_lane(MessageId id);
  // The message has the lane from cycle `start` on.
  void begin_hop(MessageId id, LaneId lane, Cycle start);

  bool is_on_last_hop(MessageId id);
  // The hop that a message is on (`LaneOrder`).
  std::uint64_t use_of(const Message& message) const {
    return std::uint64_t{message.iteration} * program_.message_hops.values.size() + message.hop;
  }
  // Cycles from entering a lane to asking for the next one; and those in the wires of the two interfaces and the first router,
  // which come to the same wherever they stand, and are counted at the end.
  std::uint64_t crossing_cycles(LaneId lane) const {
    return std::uint64_t{program_.bundle_latency[bundle_of_lane_[lane.value]]} + program_.router_cycles;
  }
  std::uint64_t end_cycles() const { return program_.interface_cycles + program_.router_cycles; }
  NodeId source_of(LaneId lane) const { return {program_.bundle_source[bundle_of_lane_[lane.value]]}; }
  std::uint32_t lane_count() const { return program_.bundle_begin.back(); }

  bool is_settled(NodeId node) const override;

  Program program_;
  Ledger ledger_;
  std::vector<NetworkInterface> interfaces_;
  RunMode mode_;
  Cycle now_;
  bool is_deadlocked_ = false;

 private:
  void send(MessageId message, std::uint32_t index) override;
  // The lane of a bundle with the fewest flits still to send, the lowest numbered of equals.
  LaneId shortest_queue(std::uint32_t bundle) const;

  std::vector<std::uint32_t> bundle_of_lane_;
  std::vector<std::vector<LaneId>> ports_;  // of each node
  std::vector<HopRecord> hops_;
  std::optional<std::vector<std::vector<std::uint64_t>>> recorded_;  // of each lane, its uses
};

}  // namespace certree
