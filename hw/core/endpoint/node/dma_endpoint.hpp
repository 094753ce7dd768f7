// The endpoint of one node, as far as all systems have it: buses, the adder of the accelerator, and DMAs that use them.
#pragma once

#include <queue>
#include <vector>

#include "common/program.hpp"
#include "endpoint/node/iteration_queue.hpp"
#include "endpoint/node/place_order.hpp"
#include "endpoint/units/dma.hpp"
#include "endpoint/units/parameters.hpp"
#include "endpoint/units/shared_memory.hpp"
#include "interface/endpoint.hpp"

namespace certree::endpoint {

// What the endpoints of all nodes share, and what differs.
struct RunColumns {
  std::vector<std::uint32_t> message_bytes;             // payload of each message that rows send
  std::vector<std::uint64_t> load_bytes, result_bytes;  // of an iteration, at each node
  std::vector<std::uint64_t> rooms, sizes;              // of the partitions of an engine, and of an iteration there
  bool traced = false;                                  // whether engines note what iterations do
  std::uint32_t state_machines = 0;                     // of an engine: iterations at work at a time
  std::vector<Uses> needs;                              // of each message; empty where each may be taken as it comes
  std::vector<std::uint64_t> hand_over;                 // of `use`: what `handed_over` of another run says; empty without one
  bool records = false;                                 // whether `handed_over` is noted
  std::vector<std::uint32_t> ends;                      // of each message: whether it is the last piece of a transfer of the DMAs
  std::vector<Command> asked;                           // collectives of the run; empty where steps say when iterations begin
  bool lifo = false;                                    // the latest collective first
  std::vector<Begun> begin_order;                       // in which iterations begin, that of another run; empty without one
};

// What messages and iterations waited for, next to buses.
struct Delays {
  Tally network;     // of a message: from before its first lane until all of it is received
  Tally sum;         // from there until it is added
  Tally stall;       // from there until an engine takes it
  Tally iterations;  // of an iteration at an engine: for a place in the first partition, and for a state machine
};

// Requests for a bus are served in the order in which they are made; of one cycle, arrivals first. O(log(trips in progress)) for
// each stage of a trip.
class DmaEndpoint : public certree::Endpoint {
 public:
  // `collectives`: of the run, or null where the steps of the tables say when iterations begin.
  DmaEndpoint(const Parameters& parameters, const RunColumns& columns, const Program& program, std::uint32_t node,
              Collectives* collectives);
  DmaEndpoint(const DmaEndpoint&) = delete;
  DmaEndpoint& operator=(const DmaEndpoint&) = delete;

  Cycle next() const final { return events_.empty() ? kNever : events_.top().when; }
  Done advance() final;
  void note_fired(const Firing& firing, Cycle now) final;
  void fetch(MessageId id, const certree::Message& message, Cycle now) final;
  void copy(MessageId id, const certree::Message& message, Cycle now) final;
  void accept(MessageId id, const certree::Message& message, Cycle complete) final;

  SharedMemory& memory() { return memory_; }
  const Bus& to_interface() const { return to_interface_; }
  const Bus& to_accelerator() const { return to_accelerator_; }
  const Server& adder() const { return adder_; }
  const Delays& delays() const { return delays_; }
  Cycle last_complete() const { return last_complete_; }  // when the last message from another node was received
  // Uses whose payloads were at the interface, in that order, and the cycles.
  const std::vector<std::pair<std::uint64_t, Cycle>>& handed_over() const { return handed_over_; }
  std::uint64_t held() const { return order_.count(); }  // messages that waited for an earlier use of their cell

 protected:
  // What is done at the end of a trip.
  enum class Purpose : std::uint8_t { kFetch, kKeep, kLoad, kReturn, kAsk };
  // Something that goes by a route; `subject`: message, or place of an iteration in the order in which they begin.
  struct Trip {
    Purpose purpose;
    Route route;
    std::uint64_t bytes;
    std::uint32_t subject;
    std::size_t stage = 0;
    bool ends = true;             // a transfer, of which others may be pieces
    Cycle complete = kNever;      // of a message that came to be added: when all of it was received
    std::uint32_t iteration = 0;  // of a message
  };
  void start(const Trip& trip, Cycle now);
  // The same at a time that is known already.
  void finish(Purpose purpose, std::uint32_t subject, Cycle when, Cycle complete = kNever);
  virtual Done end(const Trip& trip, Cycle now) = 0;
  // What `note_fired`, `fetch`, `copy` and `accept` have: messages as soon as they may be taken.
  virtual void fired(const Firing& firing, Cycle now) = 0;
  virtual void bring(MessageId id, const certree::Message& message, Cycle now) = 0;
  virtual void move_within(MessageId id, const certree::Message& message, Cycle now) = 0;
  virtual void take_in(MessageId id, const certree::Message& message, Cycle now) = 0;

  std::uint64_t bytes_of(const certree::Message& message) const { return columns_.message_bytes[message.index]; }
  // Whether a message came from another node, and is added.
  static bool came_to_be_added(const certree::Message& message) {
    return message.fetched != kNever && message.op == RowOp::kReduce;
  }
  // A message, by a route.
  Trip trip_of(Purpose purpose, Route route, MessageId id, const certree::Message& message) const {
    const bool is_sum = purpose == Purpose::kKeep && came_to_be_added(message);
    const bool ends = columns_.ends[message.index] != 0;
    return {purpose, route, bytes_of(message), id.value, 0, ends, is_sum ? message.complete : kNever, message.iteration};
  }

  const RunColumns& columns_;
  const Program& program_;
  std::uint32_t node_;
  std::uint64_t rows_, arrivals_;  // of an iteration
  IterationQueue iterations_;
  Delays delays_;

 private:
  struct Place {
    std::uint64_t cell;
    std::uint32_t iteration;
  };
  struct Event {
    Cycle when;
    std::uint64_t number;  // events of one cycle happen in the order in which they were scheduled
    Trip trip;
    bool operator>(const Event& than) const { return when != than.when ? when > than.when : number > than.number; }
  };
  void pass_stage(Trip trip, Cycle now);
  // A message of an iteration, among those that rows send.
  std::uint64_t use_of(const certree::Message& message) const {
    return std::uint64_t{message.iteration} * columns_.message_bytes.size() + message.index;
  }
  void admit(MessageId id, const certree::Message& message, bool is_local, Cycle now);
  void release(std::uint64_t cell, std::uint32_t iteration, Cycle now);

  SharedMemory memory_;
  Bus to_interface_, to_accelerator_;
  Server adder_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::uint64_t scheduled_ = 0;
  Cycle last_complete_;
  std::vector<std::pair<std::uint64_t, Cycle>> handed_over_;
  std::unordered_map<std::uint32_t, std::uint64_t> bringing_;  // by message its use, in runs that are noted
  PlaceOrder order_;
  std::unordered_map<std::uint32_t, Place> keeping_;  // where messages that are being taken will be, in runs that keep an order
};

}  // namespace certree::endpoint
