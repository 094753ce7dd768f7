// List scheduling in a stated order: each transfer in the first slot in which all that it reads is there, and its places are free.
#pragma once

#include <cstdint>
#include <vector>

#include "fine_booking.hpp"

namespace certree {

// How resources are shared: a lane for each message, behind all others there or between them; or messages that meet fewer others
// than there are lanes.
enum class Sharing { behind, between, meetings };

// Transfers in a stated order. By transfer: the cells that it reads and writes, whether it copies (else it adds), the cycles from
// its firing until what it carries is there, and the first cycle in which it may leave.
struct StatedJobs {
  Ragged groups;  // transfers that leave together, in the order in which they are booked
  Places places;
  std::vector<int32_t> reads, writes;
  std::vector<uint8_t> copies;
  std::vector<int64_t> lands, release;
  std::vector<int32_t> lanes;  // by resource
  std::vector<Taken> taken;
  int64_t slot = 1, guard = 0;
  Sharing sharing = Sharing::between;
};

// By transfer the cycle in which it leaves. `met`: the group that found no common slot in MOST_TRIES, -1 where all did.
struct StatedTimes {
  std::vector<int64_t> fire;
  int64_t met = -1;
};

// What is read has landed, what is written has been read by all before, and no copy into it is under way; nor is anything, where it
// is a copy. Time O(places · (log places + bookings passed over)), memory O(places + resources).
StatedTimes book_in_order(const StatedJobs& jobs);

}  // namespace certree
