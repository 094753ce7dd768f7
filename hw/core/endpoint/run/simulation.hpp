// Endpoints and links at work: an event for whatever happens to a message or a chunk, none for cycles in which nothing does.
#pragma once

#include <algorithm>
#include <deque>
#include <queue>
#include <span>
#include <vector>

#include "endpoint/run/endpoint.hpp"
#include "endpoint/run/message.hpp"
#include "endpoint/run/program.hpp"
#include "endpoint/units/dma.hpp"
#include "endpoint/units/load_order.hpp"
#include "endpoint/units/port.hpp"
#include "endpoint/units/wire.hpp"

namespace certree::endpoint {

// What an engine did with a chunk, as the steps of AceEngine.tla.
enum class Move : std::uint8_t { kLoad, kSend, kPassOn, kTake, kGoOn, kWriteBack };

struct MoveRecord {
  Cycle when;
  NodeId node;
  ChunkId chunk;
  Move move;
  std::uint32_t taken, sent;  // row of the message that was taken, and of the one that was sent; kNoRow: none
};

// Why something at a node does not go on.
enum class Reason : std::uint8_t {
  kArrival,        // the chunk at work waits for a message
  kPortFull,       // a message has no room at the port it goes to
  kNotAtWork,      // a message at a port is for a chunk that is not at work
  kPartitionFull,  // a chunk has no room in the next partition
  kTurn,           // chunks that were loaded before it have not entered that partition
};

struct Waiting {
  NodeId node;
  Reason reason;
  ChunkId chunk;
  std::uint32_t phase;
  std::uint32_t row;  // message, or kNoRow
};

inline constexpr std::uint32_t kNoRow = UINT32_MAX;

struct Delays {
  Tally chunk_wait;  // of a chunk at a node: in memory and in queues, for chunks ahead of it
  Tally network;     // of a message: from before its first link to the end of its last
  Tally sum;         // from a message's arrival until it is added
  Tally stall;       // of a message at a port until it is taken
};

// Time O(events · log(events in flight)), a handful for each message and link; memory O(chunks · (rows + nodes)).
class Simulation {
 public:
  // `data`: cells of every chunk, changed in place. Throws std::invalid_argument when the program is inconsistent.
  Simulation(Program program, const Parameters& parameters, std::span<std::uint64_t> data, bool traced);
  Simulation(const Simulation&) = delete;
  Simulation& operator=(const Simulation&) = delete;

  // Runs until the end or for about `budget` events; returns whether it has ended.
  bool run(std::uint64_t budget);

  Cycle now() const { return now_; }
  Cycle end() const { return *std::max_element(ends_.begin(), ends_.end()); }
  const std::vector<Cycle>& ends() const { return ends_; }  // of every command: its last chunk is back at the last node
  bool is_stalled() const { return is_stalled_; }
  // Whether nothing is left anywhere: no message, no room or place taken, no chunk queued.
  bool is_empty() const;
  std::vector<Waiting> waiting() const;
  const std::vector<MoveRecord>& moves() const { return moves_; }
  const Delays& delays() const { return delays_; }
  const std::vector<Endpoint>& endpoints() const { return endpoints_; }
  const std::vector<Wire>& wires() const { return wires_; }
  const std::vector<Port>& ports() const { return ports_; }
  const Program& program() const { return program_; }
  std::uint64_t messages() const { return messages_.created(); }

 private:
  enum class Kind : std::uint8_t { kCommand, kStage, kLink, kArrive, kTaken };
  struct Event {
    Cycle when;
    std::uint64_t number;  // events of one cycle happen in the order in which they were scheduled
    Kind kind;
    std::uint32_t id;
    std::uint32_t other;
    bool operator>(const Event& than) const { return when != than.when ? when > than.when : number > than.number; }
  };
  // Something that a DMA brings over the buses.
  struct Trip {
    enum class Purpose : std::uint8_t { kLoad, kWriteBack, kSend, kReceive };
    NodeId node;
    Purpose purpose;
    Route route;
    std::size_t stage;
    std::uint64_t bytes;
    std::uint32_t subject;  // chunk or message
  };

  bool is_engine() const { return parameters_.system == System::kEngine; }
  std::uint32_t part_of(ChunkId chunk) const { return chunk.value % program_.parts; }
  std::uint32_t last_row(NodeId node, ChunkId chunk, std::uint32_t phase) const;
  std::uint32_t& pending(ChunkId chunk, std::uint32_t row) {
    return pending_[pending_begin_[chunk.value] + row - first_row_of_part(part_of(chunk))];
  }
  std::uint32_t pending(ChunkId chunk, std::uint32_t row) const {
    return pending_[pending_begin_[chunk.value] + row - first_row_of_part(part_of(chunk))];
  }
  std::uint32_t first_row_of_part(std::uint32_t part) const { return program_.row_begin[program_.place(part, 0, 0)]; }
  // Messages of a phase that a chunk has got at a node; of later phases some may come early, where memory takes them.
  std::uint32_t& received(NodeId node, ChunkId chunk, std::uint32_t phase) {
    return received_[(std::size_t{node.value} * program_.chunks + chunk.value) * program_.phases + phase];
  }
  std::uint32_t received(NodeId node, ChunkId chunk, std::uint32_t phase) const {
    return received_[(std::size_t{node.value} * program_.chunks + chunk.value) * program_.phases + phase];
  }
  std::uint32_t wire_of(const Message& message, std::uint32_t hop) const;
  std::uint32_t port_of(ChunkId chunk, std::uint32_t row) const;
  Cycle asked_for(ChunkId chunk) const;

  void make_ports();
  // The chunk is back in memory: the accelerator is told.
  void finish(NodeId node, ChunkId chunk);

  // Transport (machine.cpp).
  void schedule(Cycle when, Kind kind, std::uint32_t id, std::uint32_t other = 0);
  void handle(const Event& event);
  void start(const Trip& trip);
  void pass_stage(std::uint32_t trip);
  void end_trip(const Trip& trip);
  void enter_link(MessageId id);
  void arrive(MessageId id);
  // The message counts: its values are where they belong, and rows that waited for it may go.
  void deliver(MessageId id);
  MessageId create_message(ChunkId chunk, std::uint32_t row);
  void fill(MessageId id);

  // Control (control.cpp): what a node can do now.
  void wake(NodeId node);
  void settle();
  bool advance(NodeId node);
  bool begin_chunk(NodeId node);
  bool send_rows(NodeId node, ChunkId chunk);
  bool take(NodeId node, std::uint32_t port);
  bool go_on(NodeId node, std::uint32_t machine);
  void put_to_work(NodeId node, ChunkId chunk);
  bool is_through(NodeId node, ChunkId chunk) const;
  bool may_enter(NodeId node, ChunkId chunk, std::uint32_t partition) const;
  bool has_room(NodeId node, std::uint32_t port);
  void record(NodeId node, ChunkId chunk, Move move, std::uint32_t taken = kNoRow, std::uint32_t sent = kNoRow);

  Program program_;
  Parameters parameters_;
  std::span<std::uint64_t> data_;
  bool traced_;
  LoadOrder order_;
  std::vector<std::uint64_t> position_;  // of every chunk in that order, once known
  std::vector<std::uint32_t> command_of_;
  std::vector<Endpoint> endpoints_;
  std::vector<std::uint32_t> wire_begin_;  // of every link, and the end
  std::vector<Wire> wires_;
  std::vector<Port> ports_;               // of every wire, or of every flow, lane and state machine
  std::vector<std::uint32_t> flow_port_;  // the first of every flow
  MessagePool messages_;
  std::vector<Trip> trips_;
  std::vector<std::uint32_t> free_trips_;
  std::vector<std::uint32_t> pending_;
  std::vector<std::uint64_t> pending_begin_;
  std::vector<std::uint32_t> received_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::uint64_t scheduled_ = 0;
  std::deque<NodeId> awake_;
  std::vector<char> is_awake_;
  std::uint64_t left_;  // chunks that are not back, over all nodes
  Cycle now_;
  std::vector<Cycle> ends_;
  bool is_stalled_ = false;
  Delays delays_;
  std::vector<MoveRecord> moves_;
};

}  // namespace certree::endpoint
