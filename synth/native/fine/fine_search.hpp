// A local search for the turns in which the list scheduler takes transfers.
#pragma once

#include "fine/fine_booking.hpp"

namespace certree {

// By transfer: the family, those that do the same for different chunks or at different nodes, and the part of the message.
struct FineGroups {
  std::vector<int32_t> family, part;
};

// `end`: the cycle in which everything has landed with these turns; INT64_MAX where they cannot be booked.
struct FineFound {
  int64_t end = 0;
  FineTurns turns;
};

// The best turns that `tries` changes find from some on; it stops at an end of `bound`. A change gives one transfer, a family or a
// part another priority, has it wait, or no longer wait; one that leaves all as it was does not count. Late acceptance (Burke and
// Bykov): a change stays where it is no worse than the present turns or than those LATE tries before, by the sum of the end of all
// and the mean end of the parts.
FineFound search(const FineJobs& jobs, const FineCosts& costs, FineTurns turns, const FineGroups& groups, int64_t tries,
                 int64_t bound, uint64_t seed);

}  // namespace certree
