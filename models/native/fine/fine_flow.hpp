// What list scheduling and forwarding share: what transfers wait for, copy units and reduction units, event by event.
#pragma once

#include <vector>

#include "fine_booking.hpp"
#include "fine_events.hpp"

namespace certree {

// Transfers ask to leave when all that they wait for has happened; `leave` says when they do.
class FineFlow {
 public:
  FineFlow(const FineJobs& jobs, const FineCosts& costs);
  virtual ~FineFlow() = default;

  FineTimes run(const FineTurns& turns);

 protected:
  enum Kind : int32_t { add, land, pass, copy, send, serve };  // of events in one cycle, the order

  virtual void leave(int32_t row, int64_t now) = 0;   // a transfer, or the first of a group, can be sent
  virtual void passing(int32_t, int64_t) {}           // (transfer, cycle): a message stands before its next link
  virtual void serving(int32_t, int32_t, int64_t) {}  // (queue, its first transfer, cycle): who waits there can try again

  void event(int64_t cycle, Kind kind, int64_t place, int32_t row, int32_t queue = -1) {
    events_.push({cycle, FineEvent::key_of(kind, place, row), queue});
  }

  int64_t length(int32_t row) const { return jobs_.length.empty() ? costs_.ser : jobs_.length[row]; }  // of a message on a lane

  void sent(int32_t row, int64_t fire);        // leaves then; what waits for that is told
  void arrives(int32_t row, int64_t arrived);  // its last flit is at the destination

  const FineJobs& jobs_;
  const FineCosts& costs_;
  std::vector<int64_t> priority_;  // from 0 on, in the order of those that were given
  std::vector<int64_t> latency_;
  FineTimes times_;

 private:
  void begin(const FineTurns& turns);
  void ask(int32_t row);
  void supply(int32_t row, int64_t now);
  void open(const Ragged& gates, int32_t row, int64_t now);
  void add_up(int64_t now, int64_t node, int32_t row);
  void make_copy(int32_t row, int64_t now);

  std::vector<int32_t> all_waits_;  // by transfer, before the first event
  Ragged readers_;                  // by local copy those that may read the original in its place
  Ragged followers_;                // by transfer those that come to the same reduction unit after it
  int64_t now_ = 0;
  std::vector<int32_t> needs_, waits_, group_waits_;
  std::vector<int64_t> open_at_, ready_, copy_unit_, unit_;
  std::vector<int32_t> together_;  // what a reduction unit takes in one cycle
  FineEvents events_;
};

}  // namespace certree
