// All-reduces by reducing switches: hosts with windows, trees of switches, and a network that may lose, copy and delay packets.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <queue>

#include "reducing/carriers/lane_carrier.hpp"
#include "reducing/carriers/packet_faults.hpp"
#include "reducing/run/window_sender.hpp"
#include "reducing/switch/reducing_switch.hpp"
#include "routers/network_layout.hpp"

namespace certree {

struct AggregationCounters {
  Cycle end;                        // when the last result so far was taken
  std::uint64_t sent = 0;           // packets sent, those of hosts and switches
  std::uint64_t copied = 0;         // by the network
  std::uint64_t lost = 0;           // by the network
  std::uint64_t dropped = 0;        // at full payload buffers
  std::uint64_t received = 0;       // by hosts and switches
  std::uint64_t resent = 0;         // by hosts, after a time-out
  std::uint64_t ignored = 0;        // contributions of packets before the one that the place works on
  std::uint64_t repeated = 0;       // contributions that were in the sum already
  std::uint64_t results_again = 0;  // results that a host had already
};

enum class TraceEvent : std::uint8_t { kSend, kAdd, kPass, kTake, kLose, kCopy };

// One line of the trace: a step of the protocol, in the order in which they happen.
struct AggregationRecord {
  Cycle when;
  TraceEvent event;
  bool is_up;  // the direction of the packet; of kSend always up
  EdgeId edge;
  std::uint32_t number;
  // Of kAdd and kPass, the place afterwards.
  std::uint32_t works_on = 0;
  std::uint64_t arrived = 0;  // children, a bit each
  bool has_result = false;
  Answer answer = Answer::kNothing;
};

// Why a run cannot end: this packet's result never comes.
struct Stall {
  std::uint32_t flow;
  NodeId host;
  std::uint32_t number;
  std::uint32_t times_sent;
  // The place that went to a later packet while the host still waits; none where the host gave up.
  std::optional<NodeId> taken_at;
  std::uint32_t works_on = 0;
};

// At one point in time things happen in this order: packets that have come are taken, those from lower nodes first; then adders
// finish, those of lower switches first; then hosts send again what is overdue. Time O(packets · hops · log(packets in flight)).
class AggregationRun {
 public:
  // `cells`: an integer for each host (row) and packet of all flows, flow by flow; results replace contributions. Throws
  // std::invalid_argument when the layout is inconsistent. Packets go over lanes, or through `network`.
  AggregationRun(AggregationLayout layout, std::optional<NetworkLayout> network, std::span<std::uint64_t> cells, bool traced);
  AggregationRun(const AggregationRun&) = delete;
  AggregationRun& operator=(const AggregationRun&) = delete;

  // Runs until every host has every result, or a result can never come, or packets block each other, or for about `budget` events;
  // returns whether it has ended. Throws std::overflow_error when time comes near the end of 64 bits.
  bool run(std::uint64_t budget);

  Cycle now() const { return now_; }
  const std::optional<Stall>& stall() const { return stall_; }
  const AggregationCounters& counters() const { return counters_; }
  const PacketCarrier& carrier() const { return *carrier_; }
  const std::vector<ReducingSwitch>& switches() const { return switches_; }
  const std::vector<AggregationRecord>& trace() const { return trace_; }
  // The packets of which the trace has no arrival and no loss: in flight, or at a switch whose adder is not through with them.
  std::vector<AggregationPacket> left() const;
  // (flow, host, oldest packet without a result) of every host that waits.
  std::vector<std::array<std::uint32_t, 3>> waiting() const;

 private:
  // In the order in which they happen at one point in time.
  enum class Kind : std::uint8_t { kArrive, kAdded, kRetry };
  struct Event {
    Cycle when;
    std::uint64_t order;     // kind, then node, adder or sender
    std::uint64_t sequence;  // of two late packets
    std::uint32_t packet;
    bool operator>(const Event& other) const {
      if (when != other.when) return when > other.when;
      return order != other.order ? order > other.order : sequence > other.sequence;
    }
  };
  // A packet in flight, and what will become of it.
  struct Flight {
    Fate fate;
    bool is_copy = false;
  };
  struct Host {
    NodeId node;
    std::uint32_t flow;
    EdgeId edge;
    WindowSender sender;
    Cycle wakes = kNever;  // the earliest retry among the events
  };

  void build(std::span<std::uint64_t> cells);
  void schedule(Cycle when, Kind kind, std::uint32_t place, std::uint32_t packet = 0);
  std::uint32_t source_of(const AggregationPacket& packet) const;
  void send(const AggregationPacket& packet);
  void send_all();
  void land(std::uint32_t id);
  void receive(const AggregationPacket& packet);
  void send_from(Host& host);
  void wake(Host& host);
  void retry(Host& host);
  bool is_hopeless(const Host& host);
  bool has_result_in_flight(std::uint32_t flow, std::uint32_t number) const;
  void record(TraceEvent event, const AggregationPacket& packet);
  void record(TraceEvent event, const ReducingSwitch::Outcome& outcome, const ReducingSwitch& at);
  void check_conservation() const;

  AggregationLayout layout_;
  std::unique_ptr<PacketCarrier> carrier_;
  PacketFaults faults_;
  PacketPool packets_;           // in flight
  std::vector<Flight> flights_;  // by packet
  std::vector<ReducingSwitch> switches_;
  std::vector<std::uint32_t> switch_of_node_;
  std::vector<Host> hosts_;
  std::vector<std::uint32_t> host_of_edge_;  // kNoHost: the child is a switch
  std::vector<std::uint64_t> sent_up_;       // packets so far, of each edge
  std::vector<std::uint64_t> sent_down_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::vector<std::uint32_t> arrived_;
  std::vector<AggregationPacket> outgoing_;
  std::vector<std::uint32_t> numbers_;
  AggregationCounters counters_;
  std::optional<Stall> stall_;
  std::vector<AggregationRecord> trace_;
  bool is_traced_;
  std::size_t unfinished_ = 0;  // hosts of flows that lack results
  std::uint64_t sequence_ = 0;
  Cycle now_;
};

}  // namespace certree
