#include "endpoint/node/dma_endpoint.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>

namespace certree::endpoint {

DmaEndpoint::DmaEndpoint(const Parameters& parameters, const RunColumns& columns, const Program& program, std::uint32_t node,
                         Collectives* collectives)
    : columns_(columns),
      program_(program),
      node_(node),
      rows_(program.row_begin[node + 1] - program.row_begin[node]),
      arrivals_(std::accumulate(program.arrival_count.begin() + program.arrival_begin[node],
                                program.arrival_count.begin() + program.arrival_begin[node + 1], std::uint64_t{0})),
      iterations_(collectives, program.repeats),
      memory_(parameters),
      to_interface_(parameters.interface),
      to_accelerator_(parameters.interface),
      adder_(parameters.adder),
      order_(columns.needs) {
  if (collectives == nullptr) return;
  for (const Command& command : collectives->commands()) finish(Purpose::kAsk, 0, command.start);
}

certree::Endpoint::Done DmaEndpoint::advance() {
  const Event event = events_.top();
  events_.pop();
  if (event.trip.stage < event.trip.route.size()) {
    pass_stage(event.trip, event.when);
    return {};
  }
  const Done done = end(event.trip, event.when);
  if (columns_.records && done.step == Step::kFetched) {
    const auto use = bringing_.extract(done.message.value);
    handed_over_.emplace_back(use.mapped(), event.when);
  }
  if (event.trip.complete != kNever) delays_.sum.add(event.when - event.trip.complete);
  if (const auto found = keeping_.find(done.message.value); done.step == Step::kUsable && found != keeping_.end()) {
    const Place place = found->second;
    keeping_.erase(found);
    order_.note_written(place.cell, place.iteration);
    release(place.cell, place.iteration, event.when);
  }
  return done;
}

void DmaEndpoint::note_fired(const Firing& firing, Cycle now) {
  fired(firing, now);
  const std::uint64_t cell = program_.cell_of(program_.row_cell[firing.row.value], firing.iteration);
  order_.note_read(cell, firing.iteration);
  release(cell, firing.iteration, now);
}

// In a run that hands messages over when another one did, those of one cycle go in the order of that run.
void DmaEndpoint::fetch(MessageId id, const certree::Message& message, Cycle now) {
  if (columns_.records) bringing_[id.value] = use_of(message);
  if (columns_.hand_over.empty()) {
    bring(id, message, now);
    return;
  }
  const std::uint64_t place = 2 * use_of(message);
  const Cycle when{columns_.hand_over[place]};
  if (when < now) throw std::logic_error("a message is asked for later than in the run whose times it has");
  events_.push({when, columns_.hand_over[place + 1], {Purpose::kFetch, {}, 0, id.value}});
}

void DmaEndpoint::copy(MessageId id, const certree::Message& message, Cycle now) {
  order_.admits(message) ? admit(id, message, true, now) : order_.hold(message, {id, true});
}

void DmaEndpoint::accept(MessageId id, const certree::Message& message, Cycle complete) {
  last_complete_ = std::max(last_complete_, complete);
  delays_.network.add(complete - message.fetched);
  order_.admits(message) ? admit(id, message, false, complete) : order_.hold(message, {id, false});
}

void DmaEndpoint::admit(MessageId id, const certree::Message& message, bool is_local, Cycle now) {
  if (!columns_.needs.empty()) keeping_[id.value] = {message.cell, message.iteration};
  is_local ? move_within(id, message, now) : take_in(id, message, now);
}

void DmaEndpoint::release(std::uint64_t cell, std::uint32_t iteration, Cycle now) {
  for (const auto& [message, held] : order_.released(cell, iteration)) admit(held.id, message, held.is_local, now);
}

void DmaEndpoint::start(const Trip& trip, Cycle now) {
  if (trip.route.empty() || trip.bytes == 0) {
    events_.push({now, scheduled_++, {trip.purpose, {}, 0, trip.subject, 0, true, kNever, trip.iteration}});
  } else {
    pass_stage(trip, now);
  }
}

void DmaEndpoint::finish(Purpose purpose, std::uint32_t subject, Cycle when, Cycle complete) {
  events_.push({when, scheduled_++, {purpose, {}, 0, subject, 0, true, complete}});
}

void DmaEndpoint::pass_stage(Trip trip, Cycle now) {
  Cycle end = now;
  switch (trip.route[trip.stage++]) {
    case Stage::kMemory:
      end = memory_.transfer(now, trip.bytes, trip.ends);
      break;
    case Stage::kMemoryTwice:
      end = memory_.transfer(now, 2 * trip.bytes, trip.ends);
      break;
    case Stage::kToInterface:
      end = to_interface_.transfer(now, trip.bytes, trip.ends);
      break;
    case Stage::kToAccelerator:
      end = to_accelerator_.transfer(now, trip.bytes, trip.ends);
      break;
    case Stage::kAdder:
      end = adder_.reserve(now, trip.bytes).last;
      break;
    case Stage::kOneCycle:
      end = now + 1;
      break;
  }
  events_.push({end, scheduled_++, trip});
}

}  // namespace certree::endpoint
