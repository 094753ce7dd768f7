// Paced runs: messages leave as soon as they can, and wait at routers for links that are taken, first come, first served.
#pragma once

#include "fine_booking.hpp"

namespace certree {

// By transfer the layer of its route, and a number for the route, the same for equal routes; -1 where it passes no router. Each
// layer has `parts` virtual channels, there are `layers` of them, and a buffer holds `room` flits.
struct FineChannels {
  std::vector<int32_t> layer, route;
  int32_t layers = 1, parts = 1;
  int64_t room = 0;
};

// `wait`: of each transfer by link of its route the cycles that it waits before that; `channel`: by transfer its virtual channel,
// -1 where it may take any. `crowded`: how many transfers have no buffer to wait in.
struct FineForwarded {
  FineTimes times;
  std::vector<int64_t> wait;
  std::vector<int32_t> channel;
  int64_t crowded = 0;
};

// Lanes serve messages in the order in which they come, those of a node itself last, and of these the lowest priority first.
// A message that waits is alone in the buffer of its virtual channel, which holds what comes of it until it goes on. Where there is
// none for it, it leaves later, for up to `rounds` times. Transfers that leave together and parallel links are not allowed.
// O(hops · log transfers + messages that meet in buffers) for each round.
FineForwarded forward(const FineJobs& jobs, const FineCosts& costs, FineTurns turns, const FineChannels& channels, int64_t rounds);

}  // namespace certree
