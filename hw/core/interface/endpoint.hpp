// What a node has between its memory and its network interface, in runs that have it: buses, DMAs, an engine for collectives.
#pragma once

#include <optional>

#include "common/program.hpp"
#include "interface/message.hpp"
#include "interface/sequencers/iteration_order.hpp"
#include "interface/sequencers/sequencer.hpp"

namespace certree {

// The interface of the node asks, and learns what is done. Without an endpoint a payload is at the interface when its row fires,
// and a message that is complete goes to memory or to the reduction unit of the interface. Calls come in the order of time, and at
// one point in time `accept` comes before `advance`.
class Endpoint {
 public:
  enum class Step : std::uint8_t {
    kNothing,   // that the interface would see
    kFetched,   // the payload of a message is at the interface
    kUsable,    // a message has been written or added
    kReturned,  // results are back in memory
  };
  struct Done {
    Step step = Step::kNothing;
    MessageId message;
  };
  virtual ~Endpoint() = default;

  // Whether the iteration of a row is at work here: otherwise the row waits.
  virtual bool lets_fire(const Firing& firing) const = 0;
  // All messages of a row have been asked for.
  virtual void note_fired(const Firing& firing, Cycle now) = 0;
  // Bring the payload of a message to the interface; within the node, to its other cell; and take in a message that came whole.
  virtual void fetch(MessageId id, const Message& message, Cycle now) = 0;
  virtual void copy(MessageId id, const Message& message, Cycle now) = 0;
  virtual void accept(MessageId id, const Message& message, Cycle complete) = 0;

  // When something here changes next, kNever without anything; and that change.
  virtual Cycle next() const = 0;
  virtual Done advance() = 0;
  // How often results will be brought back to memory in the whole run.
  virtual std::uint64_t returns() const = 0;
};

// The endpoints of all nodes; they outlive the run.
class Endpoints {
 public:
  virtual ~Endpoints() = default;
  // Those of a program, one for each node. Throws std::invalid_argument where they do not fit it, or have run.
  virtual std::vector<Endpoint*> start(const Program& program) = 0;
  // The order in which they begin iterations; null where the steps of the tables say it.
  virtual IterationOrder* iteration_order() = 0;
};

}  // namespace certree
