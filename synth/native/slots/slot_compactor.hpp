// Shortening a slotted schedule: a tighter horizon is imposed, and transfers that miss it are moved or trade places.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "../random.hpp"
#include "modulo_scheduler.hpp"

namespace certree {

// Start slots within a horizon, repaired by alternating sweeps: backwards, every transfer that starts too late for its
// successors (or the horizon) moves to the latest slot that suits them; forwards, every transfer that starts too early for its
// predecessors moves to the earliest that suits them. A slot taken by another transfer of the same link is won by a swap, at best
// with one that has slack for the slot given in return; one that passes several links needs room on all others. Transfers that are
// in time stay where they are.
class SlotCompactor {
 public:
  // `start` is a valid schedule. Memory O(links · period + jobs · hops).
  SlotCompactor(const Jobs& jobs, const std::vector<int64_t>& capacity, int32_t reducers, const SlotRules& rules,
                std::vector<int32_t> start, uint64_t seed);

  // Lowers the horizon while sweeps can repair it, until about `limit` units of work are done.
  void run(int64_t limit);
  const std::vector<int32_t>& start() const { return best_; }
  // Transfers looked at and slots probed so far: a measure of effort that does not depend on the machine.
  int64_t work() const { return work_; }

 private:
  void measure();
  int32_t earliest(int32_t job) const;
  int32_t latest(int32_t job) const;
  size_t residue(int32_t slot) const { return static_cast<size_t>(slot) % width_; }
  int32_t* places(int32_t link, size_t residue) {
    return places_.data() + offset_[link] * width_ + residue * static_cast<size_t>(capacity_[link]);
  }
  bool has_place(int32_t link, size_t residue);
  bool room(int32_t job, size_t residue);
  void put(int32_t job, int32_t slot);
  void take(int32_t job);
  bool move_to(int32_t job, int32_t slot);
  int32_t contested_link(int32_t job, size_t residue);
  bool swap_into(int32_t job, int32_t slot, bool forced);
  int32_t partner_slot(int32_t partner, int32_t given, bool forced);
  void mark(std::vector<uint64_t>& doubtful, int32_t job);
  bool relocate(int32_t job, int32_t first, int32_t last, int32_t step);
  // Return the misfits met; they stop at more than `most`.
  int64_t sweep_backward(int64_t most);
  int64_t sweep_forward(int64_t most);
  bool repair(int32_t horizon, int64_t patience, int64_t limit);
  int32_t least_horizon() const;
  void restore();

  const Jobs& jobs_;
  std::vector<int64_t> capacity_;
  SlotRules rules_;
  size_t width_;
  int32_t horizon_;  // last slot allowed
  std::vector<int32_t> start_, best_;
  std::vector<int32_t> order_, position_;  // topological order, and where each job stands in it
  std::vector<int32_t> head_, tail_;       // longest chains to and from each job, in slots
  std::vector<uint64_t> late_, early_;     // bits by position: who may start too late, or too early
  std::vector<int32_t> predecessor_offset_, predecessor_;
  std::vector<size_t> offset_;
  std::vector<int32_t> places_;    // per link and residue: the jobs that use it, -1 where free
  std::vector<int32_t> arrivals_;  // per reducer and residue
  int64_t work_ = 0;
  Random random_;
};

}  // namespace certree
