// An endpoint whose messages go through memory: an accelerator that sends and adds, or one at which nothing takes time.
#pragma once

#include "endpoint/node/dma_endpoint.hpp"

namespace certree::endpoint {

// Everything is in memory from the start and in the end: rows fire as without an endpoint.
class MemoryEndpoint final : public DmaEndpoint {
 public:
  MemoryEndpoint(const Parameters& parameters, const RunColumns& columns, const Program& program, std::uint32_t node,
                 Collectives* collectives)
      : DmaEndpoint(parameters, columns, program, node, collectives),
        is_ideal_(parameters.system == System::kIdeal),
        left_(collectives == nullptr ? 0 : program.repeats, rows_ + arrivals_) {}

  bool lets_fire(const Firing&) const override { return true; }
  std::uint64_t returns() const override { return 0; }

 private:
  void fired(const Firing& firing, Cycle now) override { note_one(firing.iteration, now); }
  void bring(MessageId id, const certree::Message& message, Cycle now) override {
    start(trip_of(Purpose::kFetch, is_ideal_ ? Route{} : Route{routes::kSend}, id, message), now);
  }
  void move_within(MessageId id, const certree::Message& message, Cycle now) override {
    const bool adds = message.op == RowOp::kReduce;
    keep(id, message, adds ? Route{routes::kAdd} : Route{routes::kCopy}, now);
  }
  void take_in(MessageId id, const certree::Message& message, Cycle now) override {
    const bool adds = message.op == RowOp::kReduce;
    keep(id, message, adds ? Route{routes::kReceiveAndAdd} : Route{routes::kReceive}, now);
  }
  void keep(MessageId id, const certree::Message& message, Route route, Cycle now) {
    start(trip_of(Purpose::kKeep, is_ideal_ ? Route{routes::kIdealReceive} : route, id, message), now);
  }
  Done end(const Trip& trip, Cycle now) override {
    if (trip.purpose == Purpose::kAsk) return {};
    if (trip.purpose == Purpose::kFetch) return {Step::kFetched, {trip.subject}};
    note_one(trip.iteration, now);
    return {Step::kUsable, {trip.subject}};
  }
  // A row has fired, or a message is usable.
  void note_one(std::uint32_t iteration, Cycle now) {
    if (!left_.empty() && --left_[iteration] == 0) iterations_.note_end(iteration, now);
  }

  bool is_ideal_;
  std::vector<std::uint64_t> left_;  // of each iteration: rows and arrivals to come; empty without collectives
};

}  // namespace certree::endpoint
