// The `flit` engine: tables run on a network of routers, flit by flit.
#pragma once

#include <optional>
#include <queue>
#include <utility>

#include "interface/interfaces.hpp"
#include "routers/network/flit_network.hpp"
#include "routers/run/packet_run.hpp"

namespace certree {

// How the messages of a program travel.
struct MessagePlan {
  Lists routes;  // message -> source routes, of which it takes the one whose port has the least to send
  std::vector<std::uint32_t> route_injector;  // source route -> where it begins; others than messages may have further routes
  std::vector<std::uint32_t> message_flits;   // message -> its length in flits; a program has their cycles on a lane
  std::uint32_t packet_flits = 0;             // of a packet of a message, at most; 0: a message is one packet
};

inline constexpr std::uint32_t kCollectiveClass = 0;
inline constexpr std::uint32_t kOtherClass = 1;  // traffic next to the collective

// The packets of messages are made when their row fires and forgotten when they are received.
class RouterTransport : public Transport {
 public:
  RouterTransport(const Program& program, const MessagePlan& plan, Ledger& ledger, FlitNetwork& network, RunMode mode);
  void send(MessageId message, std::uint32_t index) override;
  bool is_settled(NodeId node) const override;

  // A packet was received; returns whether its message is complete.
  bool receive(PacketId packet);
  // A flit leaves a port from time `now` on, or has it still: notes when the rest will fit the injection buffer, if that is before
  // the flit's end. Only in paced runs.
  void note_settling(std::uint32_t injector, Cycle now);
  Cycle next_settled() const { return settling_.empty() ? kNever : settling_.top().first; }
  // The router of a port whose flits fit its buffer by now; none when there is no other.
  std::optional<NodeId> take_settled(Cycle now);
  const std::vector<std::uint32_t>& message_indices() const { return indices_; }

 private:
  const Program& program_;
  const MessagePlan& plan_;
  Ledger& ledger_;
  FlitNetwork& network_;
  std::vector<NodeId> nodes_;                          // of injectors
  std::vector<std::vector<std::uint32_t>> injectors_;  // of nodes
  using Settling = std::pair<Cycle, NodeId>;
  std::priority_queue<Settling, std::vector<Settling>, std::greater<>> settling_;
  bool is_paced_;
  std::vector<std::uint32_t> indices_;
};

// A cycle: what was in flight arrives, interfaces take whole messages in and fire rows, flits move. The run ends with the last
// chunk; other traffic that is still in flight then is left there. A program may have several times as many nodes as there are
// routers: those that are this many apart are interfaces at one router, and share its ports. Time and memory as FlitNetwork and
// O(rows + messages in flight).
class FlitEngine {
 public:
  // `cells`: see Memory. `others`: packets of class kOtherClass; `endpoints`: of the nodes, or null. Throws std::invalid_argument
  // for columns that are inconsistent.
  FlitEngine(Program program, RunMode mode, NetworkLayout layout, MessagePlan plan, const PacketList& others,
             std::span<std::uint64_t> cells, bool traced, Endpoints* endpoints = nullptr);
  FlitEngine(const FlitEngine&) = delete;
  FlitEngine& operator=(const FlitEngine&) = delete;

  // Runs until the end, or until nothing can move any more or a packet is lost, or for about `budget` cycles; returns whether it
  // has ended.
  bool run(std::uint64_t budget);

  bool is_deadlocked() const { return is_deadlocked_; }
  FlitNetwork& network() { return network_; }
  // Of a run whose flits are traced: by number of a message its `Message::index`.
  const std::vector<std::uint32_t>& message_indices() const { return transport_.message_indices(); }
  const Statistics& statistics() const { return ledger_.statistics; }
  const AdditionOrder& order() const { return ledger_.order; }
  const std::vector<TraceRecord>& trace() const { return ledger_.trace; }
  const std::vector<FetchRecord>& fetches() const { return ledger_.fetches; }
  std::vector<Waiting> waiting() const;
  std::uint64_t other_latency() const { return other_latency_; }  // of all other packets that arrived, from release to tail
  std::uint64_t longest_other_latency() const { return longest_other_latency_; }
  std::uint64_t other_packets() const { return other_packets_; }

 private:
  void receive_packets(Cycle now);
  void evaluate_interfaces(Cycle now);
  void note_senders(Cycle now);
  void wake(NodeId node, Cycle when);

  Program program_;
  MessagePlan plan_;
  Ledger ledger_;
  FlitNetwork network_;
  RouterTransport transport_;
  std::vector<NetworkInterface> interfaces_;
  std::vector<Packet> others_;
  std::vector<PacketId> arrived_;
  std::size_t released_ = 0;
  Cycle earliest_wake_;
  std::uint64_t other_packets_ = 0;
  std::uint64_t other_latency_ = 0;
  std::uint64_t longest_other_latency_ = 0;
  bool is_deadlocked_ = false;
};

}  // namespace certree
