// Moving a slotted schedule back and forth in time (forward-backward justification; Valls, Ballestín and Quintanilla, 2005).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "modulo_scheduler.hpp"

namespace certree {

// Places all transfers anew, in the order that a schedule has them in: backwards, each as late as its successors, links and
// reduction units leave it; forwards, each as early. Without a period no pass makes a schedule longer; with one it may.
class SlotPasses {
 public:
  // Memory O(links · period + jobs), without a period O(links · slots).
  SlotPasses(const Jobs& jobs, const std::vector<int64_t>& capacity, int32_t reducers, const SlotRules& rules);

  // The shortest of `start`, a valid schedule, and what `rounds` times a pass backwards and one forwards make of it. What a pass
  // backwards leaves is not among them: its transfers crowd at the end, where a shorter horizon would push out most of them.
  // O(rounds · jobs · (log jobs + slots probed)).
  std::vector<int32_t> run(std::vector<int32_t> start, int32_t rounds);
  // Transfers looked at and slots probed so far.
  int64_t work() const { return work_; }

 private:
  bool pass(std::vector<int32_t>& start, bool backwards);
  bool room(int32_t job, size_t residue) const;
  void put(int32_t job, size_t residue);

  const Jobs& jobs_;
  const std::vector<int64_t>& capacity_;
  int32_t reducers_;
  SlotRules rules_;
  size_t width_ = 0;
  std::vector<int32_t> predecessor_offset_, predecessor_;
  std::vector<int32_t> used_;      // per link and residue
  std::vector<int32_t> arrivals_;  // per reducer and residue
  int64_t work_ = 0;
};

}  // namespace certree
