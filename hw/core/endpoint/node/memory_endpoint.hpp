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
        left_(collectives == nullptr ? 0 : program.repeats, rows_ + arrivals_) {
    begin({});
  }

  bool lets_fire(const Firing&) const override { return true; }
  std::uint64_t returns() const override { return 0; }
  std::optional<std::uint32_t> take_begun() override { return iterations_.take_begun(over_ + columns_.state_machines); }

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
    if (trip.purpose == Purpose::kAsk) {
      begin(now);
      return {};
    }
    if (trip.purpose == Purpose::kFetch) return {Step::kFetched, {trip.subject}};
    note_one(trip.iteration, now);
    return {Step::kUsable, {trip.subject}};
  }
  // Iterations begin in order, as many at a time as there are state machines.
  void begin(Cycle now) {
    while (!left_.empty() && iterations_.begun() < over_ + columns_.state_machines && iterations_.knows_next(now)) {
      iterations_.begin_next();
      delays_.iterations.add(now - iterations_.asked_for(iterations_.at(iterations_.begun() - 1)));
    }
  }
  // A row has fired, or a message is usable.
  void note_one(std::uint32_t iteration, Cycle now) {
    if (left_.empty() || --left_[iteration] > 0) return;
    iterations_.note_end(iterations_.place_of(iteration), now);
    while (over_ < iterations_.begun() && left_[iterations_.at(over_)] == 0) ++over_;
    begin(now);
  }

  bool is_ideal_;
  std::vector<std::uint64_t> left_;  // of each iteration: rows and arrivals to come; empty where steps say when iterations begin
  std::uint64_t over_ = 0;           // how many iterations are over, in the order in which they begin
};

}  // namespace certree::endpoint
