// The network interface of one node: fires the rows of its table and takes in what arrives.
#pragma once

#include <memory>
#include <optional>

#include "interface/endpoint.hpp"
#include "interface/ledger.hpp"
#include "interface/queued_unit.hpp"
#include "interface/sequencers/sequencer.hpp"
#include "interface/transport.hpp"

namespace certree {

// What a node that cannot go on waits for: a row's dependency, or (row empty) an arrival that never came.
struct Waiting {
  NodeId node;
  std::optional<Firing> firing;
  std::optional<ArrivalId> arrival;
};

class NetworkInterface {
 public:
  // `endpoint`: of the node, or null.
  NetworkInterface(const Program& program, Ledger& ledger, Transport& transport, NodeId node, std::unique_ptr<Sequencer> sequencer,
                   Endpoint* endpoint = nullptr);

  // First half of a cycle: counters, then the rows that may fire. Reads only what this node's counters showed at time `now`.
  void evaluate(Cycle now);

  // Second half: a message that is complete at time `complete`.
  void receive(MessageId message, Cycle complete);

  // A unit of this node changed state: look again at time `when`.
  void wake(Cycle when) {
    if (is_listening_) wake_ = std::min(wake_, when);
  }
  Cycle next_wake() const { return wake_; }

  // What the node waits for; empty when it is done.
  std::optional<Waiting> waiting() const;

 private:
  // What the units of this node have done: copies up to a time, sums up to another, in the order of time, and copies first.
  void settle(Cycle copies_until, Cycle sums_until);
  // What the endpoint has done up to a time: messages that go out, and that count.
  void drain(Cycle until);
  void fire_rows(Cycle now);
  // A message that is complete is written, or handed to the reduction unit.
  void land(MessageId message, Cycle complete);
  bool is_ready(const Firing& firing) const {
    return (endpoint_ == nullptr || endpoint_->lets_fire(firing)) && !missing(firing).has_value();
  }
  std::optional<ArrivalId> missing(const Firing& firing) const;
  void fire(const Firing& firing, Cycle now);
  UnitState units() const;

  const Program& program_;
  Ledger& ledger_;
  Transport& transport_;
  NodeId node_;
  std::unique_ptr<Sequencer> sequencer_;
  Endpoint* endpoint_;  // in place of the two units
  QueuedUnit reduction_unit_;
  QueuedUnit copy_unit_;      // messages of the node to itself
  Cycle wake_;                // nothing that others can see changes at this node before
  bool is_listening_ = true;  // otherwise arrivals can wait until then
};

}  // namespace certree
