// List scheduling in cycles: each transfer leaves as soon as what it carries is there and every link of its route is free for it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace certree {

// Rows of numbers of any lengths: row i is value[offset[i]] .. value[offset[i + 1]].
struct Ragged {
  std::vector<int32_t> offset, value;

  const int32_t* begin(size_t row) const { return value.data() + offset[row]; }
  const int32_t* end(size_t row) const { return value.data() + offset[row + 1]; }
  size_t size(size_t row) const { return static_cast<size_t>(offset[row + 1] - offset[row]); }
};

// By group, from 0 on, the `values` that have its number, in their order. O(groups + values).
Ragged grouped(size_t groups, const std::vector<int32_t>& group, const std::vector<int32_t>& values);

// A resource, with a number, that a transfer takes for `length` cycles, from some cycles after it has left on. `source`: its node.
struct Place {
  int32_t resource, source;
  int64_t after, length;
};

// By transfer its places: place i is the first of transfer offset[i], and so on.
struct Places {
  std::vector<int32_t> offset;
  std::vector<Place> place;

  const Place* begin(size_t row) const { return place.data() + offset[row]; }
  const Place* end(size_t row) const { return place.data() + offset[row + 1]; }
};

// What is taken before the first transfer is booked.
struct Taken {
  int32_t resource;
  int64_t entry, length;
};

// Transfers, what they wait for, and the network; as in certree/models/fine/list_scheduler.py. -1 stands for none.
struct FineJobs {
  std::vector<int32_t> src, dst;
  std::vector<uint8_t> adds;         // by transfer: whether a reduction unit adds what it carries
  Ragged route;                      // links of each transfer; of local ones none
  std::vector<int32_t> needs;        // by gate: how many events open it
  Ragged when_sent, when_landed;     // by transfer: gates that it helps to open
  Ragged opens;                      // by gate: transfers that wait for it
  std::vector<int32_t> original_of;  // by transfer: the local copy instead of which it may read the original
  Ragged groups;                     // transfers that leave together
  std::vector<int32_t> group;        // by transfer: its group
  std::vector<int32_t> lanes;        // by link, then by other resource
  Ragged parallel;                   // by link: links between the same nodes
  int32_t nodes = 0;
  std::vector<int32_t> follows;  // by transfer: the one after which it comes to its reduction unit
  Places holds;                  // by transfer what it takes besides its links
  std::vector<Taken> taken;
  std::vector<int64_t> length;  // by transfer: cycles of its message on a lane; empty where all take FineCosts::ser
};

// In cycles: of a message on a lane (with lengths of their own the longest), of a reduction unit for a chunk, by link from the
// entry into it to the entry into the next one, at the ends of a route, before a reduction; `slot`: cycles of a slot.
struct FineCosts {
  int64_t ser, red, ends, start, slot;
  std::vector<int64_t> hop;
};

// By transfer: of those that can leave in one cycle the lowest `priority` goes first, and none leaves before its cycle `release`.
// `patient`: a transfer whose links are taken comes again when they are free, behind others that are more urgent and may not have
// been ready before; otherwise it books them for later at once. `apart`: no two transfers come to a reduction unit in one cycle,
// where each would count as the last; one of them leaves later, except of those that have to leave together.
struct FineTurns {
  std::vector<int64_t> priority, release;
  bool patient = false, apart = false;
};

enum class Booking { done, circle, meeting };

// By transfer: when it leaves and lands, the link of a route of one link, and whether it reads the original instead of a copy.
// `outcome`: circle where transfers wait for each other, meeting where some that leave together want the same link.
struct FineTimes {
  Booking outcome = Booking::done;
  std::vector<int64_t> fire, landed;
  std::vector<int32_t> link;
  std::vector<uint8_t> reads_original;
};

// Books the same transfers again and again. Events are handled in the order of their times; of transfers that can leave in the same
// cycle that of the lowest priority first. Gaps between earlier bookings are used. Time O(transfers · hops · (log transfers +
// bookings passed over)).
class FineScheduler {
 public:
  FineScheduler(const FineJobs& jobs, const FineCosts& costs);
  ~FineScheduler();

  FineTimes book(const FineTurns& turns);

 private:
  class Run;
  const std::unique_ptr<Run> run_;
};

}  // namespace certree
