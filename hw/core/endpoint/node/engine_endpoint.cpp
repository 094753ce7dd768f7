#include "endpoint/node/engine_endpoint.hpp"

#include <algorithm>

namespace certree::endpoint {
namespace {

constexpr std::uint32_t kWork = 0, kResults = 1;  // partitions

}  // namespace

EngineEndpoint::EngineEndpoint(const Parameters& parameters, const RunColumns& columns, const Program& program, std::uint32_t node,
                               Collectives* collectives)
    : DmaEndpoint(parameters, columns, program, node, collectives),
      machines_(columns.state_machines),
      crossbar_(parameters.crossbar),
      sram_(columns.rooms, columns.sizes) {
  load({});
}

void EngineEndpoint::load(Cycle now) {
  while (sram_.fits(kWork) && iterations_.knows_next(now)) {
    const auto place = static_cast<std::uint32_t>(iterations_.begun());
    iterations_.begin_next();
    sram_.enter(now, kWork);
    work_.push_back({rows_, arrivals_, false, {}});
    delays_.iterations.add(now - iterations_.asked_for(iterations_.at(place)));
    note(now, place, IterationStep::kLoad);
    start({Purpose::kLoad, routes::kLoad, columns_.load_bytes[node_], place}, now);
  }
}

void EngineEndpoint::fired(const Firing& firing, Cycle now) {
  --work_on(firing.iteration).rows_left;
  go_on(now);
}

// What an ALU has just added, or a port brought, is passed on as it comes: a message of the row that waited for it needs no bank.
void EngineEndpoint::bring(MessageId id, const certree::Message& message, Cycle now) {
  const std::uint64_t cell = program_.cell_of(program_.row_cell[message.row.value], message.iteration);
  const auto found = std::find(usable_cells_.begin(), usable_cells_.end(), cell);
  if (usable_at_ == now && found != usable_cells_.end()) {
    usable_cells_.erase(found);
    ++forwarded_;
    finish(Purpose::kFetch, id.value, now);
    return;
  }
  const Span out = crossbar_.read(now, bytes_of(message));
  // The first packet may leave while others are read, if the lane does not overtake them.
  const std::uint64_t least = out.last.value > message.flits ? out.last.value - message.flits : 0;
  finish(Purpose::kFetch, id.value, {std::max(out.first.value, least)});
}

void EngineEndpoint::move_within(MessageId id, const certree::Message& message, Cycle now) {
  const Span out = crossbar_.read(now, bytes_of(message));
  take({id, out.first, out.last, bytes_of(message), message.cell, message.iteration, message.op == RowOp::kReduce, true}, out.last);
}

void EngineEndpoint::take_in(MessageId id, const certree::Message& message, Cycle now) {
  const Arrival arrival{
      id, message.head, message.complete, bytes_of(message), message.cell, message.iteration, message.op == RowOp::kReduce};
  if (is_at_work(message.iteration)) {
    take(arrival, now);
    return;
  }
  waiting_[message.iteration].push_back(arrival);
  ++waited_;
  waiting_peak_ = std::max(waiting_peak_, ++waiting_now_);
}

void EngineEndpoint::take(const Arrival& arrival, Cycle now) {
  const auto same = [&](const auto& other) {
    return other.second.cell == arrival.cell && other.second.iteration == arrival.iteration;
  };
  const bool is_alone = std::none_of(taken_.begin(), taken_.end(), same);
  taken_[arrival.id.value] = {arrival.cell, arrival.iteration, is_alone};
  if (!arrival.is_local) delays_.stall.add(now - arrival.tail);
  const Cycle last = crossbar_.take(now, arrival.head, arrival.tail, arrival.bytes, arrival.adds).last;
  finish(Purpose::kKeep, arrival.id.value, last, arrival.adds && !arrival.is_local ? arrival.tail : kNever);
}

void EngineEndpoint::take_waiting(std::uint64_t place, Cycle now) {
  if (waiting_.empty() || !place_is_at_work(place)) return;
  const auto found = waiting_.find(iterations_.at(place));
  if (found == waiting_.end()) return;
  for (const Arrival& arrival : found->second) take(arrival, now);
  waiting_now_ -= static_cast<std::uint32_t>(found->second.size());
  waiting_.erase(found);
}

// Iterations that are through move to the results, as long as there is room; others may begin, or be at work.
void EngineEndpoint::go_on(Cycle now) {
  while (!work_.empty() && place_is_at_work(gone_on_) && work_.front().rows_left == 0 && work_.front().arrivals_left == 0 &&
         sram_.fits(kResults)) {
    sram_.leave(now, kWork);
    sram_.enter(now, kResults);
    work_.pop_front();
    note(now, gone_on_, IterationStep::kGoneOn);
    start({Purpose::kReturn, routes::kWriteBack, columns_.result_bytes[node_], static_cast<std::uint32_t>(gone_on_++)}, now);
    load(now);
    const std::uint64_t next = machines_ - 1;  // the one that has a state machine now, if it is loaded
    if (next < work_.size() && work_[next].is_loaded) delays_.iterations.sum += now - work_[next].loaded;
    take_waiting(gone_on_ + next, now);
  }
}

certree::Endpoint::Done EngineEndpoint::end(const Trip& trip, Cycle now) {
  switch (trip.purpose) {
    case Purpose::kFetch:
      return {Step::kFetched, {trip.subject}};
    case Purpose::kLoad:
      work_[trip.subject - gone_on_].is_loaded = true;
      work_[trip.subject - gone_on_].loaded = now;
      note(now, trip.subject, IterationStep::kLoaded);
      take_waiting(trip.subject, now);
      go_on(now);
      return {};
    case Purpose::kReturn:
      sram_.leave(now, kResults);
      iterations_.note_end(iterations_.at(trip.subject), now);
      note(now, trip.subject, IterationStep::kReturned);
      go_on(now);
      return {Step::kReturned, {}};
    case Purpose::kAsk:
      load(now);
      return {};
    case Purpose::kKeep:
      break;
  }
  const Taken taken = taken_.at(trip.subject);
  taken_.erase(trip.subject);
  if (usable_at_ != now) usable_cells_.clear();
  usable_at_ = now;
  if (taken.is_alone) usable_cells_.push_back(taken.cell);
  --work_on(taken.iteration).arrivals_left;
  go_on(now);
  return {Step::kUsable, {trip.subject}};
}

}  // namespace certree::endpoint
