// Rounds of the transfers of one step, first fit.
#pragma once

#include <cstdint>
#include <vector>

#include "fine_booking.hpp"

namespace certree {

// By transfer the resources that it takes, each as often as it is listed, and its `key`; by resource how much fits in a round.
// `members`: transfers in groups, that share a round where they can; `later`: by group those that must not come before it.
struct StepJobs {
  Ragged claims;
  std::vector<int32_t> capacity;
  Ragged members, later;
  std::vector<int64_t> key;
};

// By transfer its round. Groups go in the order of the keys of their first members, of equal ones the first transfer first, when
// those before them have a round; each takes the first round that has room for all its members, not before those of the groups
// before it; one that never fits takes a round for each member. O((claims + transfers log transfers) + claims · rounds / 64) time,
// and O(claims) memory with a bit for each resource and round.
std::vector<int32_t> first_fit(const StepJobs& jobs);

}  // namespace certree
