#include "endpoint/node/dma_endpoint.hpp"

namespace certree::endpoint {

DmaEndpoint::DmaEndpoint(const Parameters& parameters, const RunColumns& columns)
    : columns_(columns),
      memory_(parameters),
      to_interface_(parameters.interface),
      to_accelerator_(parameters.interface),
      adder_(parameters.adder) {}

certree::Endpoint::Done DmaEndpoint::advance() {
  const Event event = events_.top();
  events_.pop();
  if (event.trip.stage == event.trip.route.size()) return end(event.trip, event.when);
  pass_stage(event.trip, event.when);
  return {};
}

void DmaEndpoint::start(const Trip& trip, Cycle now) {
  if (trip.route.empty() || trip.bytes == 0) {
    finish(trip.purpose, trip.subject, now);
  } else {
    pass_stage(trip, now);
  }
}

void DmaEndpoint::finish(Purpose purpose, std::uint32_t subject, Cycle when) {
  events_.push({when, scheduled_++, {purpose, {}, 0, subject}});
}

void DmaEndpoint::pass_stage(Trip trip, Cycle now) {
  Cycle end = now;
  switch (trip.route[trip.stage++]) {
    case Stage::kMemory:
      end = memory_.transfer(now, trip.bytes);
      break;
    case Stage::kMemoryTwice:
      end = memory_.transfer(now, 2 * trip.bytes);
      break;
    case Stage::kToInterface:
      end = to_interface_.transfer(now, trip.bytes);
      break;
    case Stage::kToAccelerator:
      end = to_accelerator_.transfer(now, trip.bytes);
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
