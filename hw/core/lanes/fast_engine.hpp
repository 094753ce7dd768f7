// The `fast` engine: a message is one event for each lane it takes, not a flit for each cycle.
#pragma once

#include <queue>
#include <vector>

#include "lanes/message_engine.hpp"

namespace certree {

// A message that has a lane keeps it for as many cycles as it has flits, and a lane serves those that wait in the order in which
// they came. So the cycle in which each one gets its lane is known the moment it queues, and nothing that happens later changes it.
// Time O(hops of all messages · log(messages in flight)), memory O(rows + lanes + messages in flight), whatever their size.
class FastEngine final : public MessageEngine {
 public:
  FastEngine(Program program, RunMode mode, std::span<std::uint64_t> cells, bool traced, Endpoints* endpoints = nullptr);
  bool run(std::uint64_t budget) override;  // in events
  std::uint64_t busiest_lane_cycles() const override;

  // Before the run: lanes carry messages in this order, however early others come, and interfaces never wait for their buffers.
  // Throws std::invalid_argument for an order of another program.
  void keep_order(LaneOrder order) { ordered_.emplace(std::move(order), program_); }

 private:
  // In the order in which they happen at one point in time.
  enum class Kind : std::uint8_t { kComplete, kHead, kSettle, kWake };
  struct Event {
    Cycle when;
    std::uint64_t order;  // kind, then lane or node
    MessageId message;
    bool operator>(const Event& other) const { return when != other.when ? when > other.when : order > other.order; }
  };
  struct LaneState {
    Cycle free_at;
    std::uint64_t flits = 0;  // that it has carried, or will
  };

  std::uint64_t backlog(LaneId lane) const override;
  void enqueue(LaneId lane, MessageId message) override;
  void request_lane(MessageId id) override;
  bool is_settled(NodeId node) const override { return ordered_ || MessageEngine::is_settled(node); }
  void schedule(Cycle when, Kind kind, std::uint32_t place, MessageId message = {});
  void handle(const Event& event);
  void schedule_wake(NodeId node);

  std::optional<OrderedLanes> ordered_;
  std::vector<LaneState> lane_states_;
  std::vector<Cycle> scheduled_wakes_;  // of each node: the earliest wake among the events
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
};

}  // namespace certree
