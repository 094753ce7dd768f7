// List scheduling of transfers into slots, each link's slot used once modulo the period (Rau's modulo scheduling, for links).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace certree {

// Jobs 0..n-1: each occupies one unit of all its links for one slot and, when `reducer` >= 0, one of that node's `reductions`
// places in the slot; it starts `delay` slots after all its predecessors at the earliest.
struct Jobs {
  std::vector<int32_t> link_offset;  // CSR: links of job j at [offset[j], offset[j+1]), one at least, each once
  std::vector<int32_t> link;
  std::vector<int32_t> reducer;
  std::vector<int32_t> group;             // jobs of one chunk: the one that ends last is favoured in the next try
  std::vector<int32_t> successor_offset;  // CSR: successors of job j at [offset[j], offset[j+1])
  std::vector<int32_t> successor;
  std::vector<int32_t> turn;  // empty, or slots modulo the period in which all jobs together meet no link twice too often

  size_t count() const { return reducer.size(); }
  std::span<const int32_t> links(int32_t job) const {
    return {link.data() + link_offset[job], static_cast<size_t>(link_offset[job + 1] - link_offset[job])};
  }
};

struct SlotRules {
  int32_t delay;
  int32_t period;      // 0: nothing repeats, every slot is its own
  int32_t reductions;  // REDUCE arrivals a node takes in one slot; 0: any number
};

// How to search: list schedules to try, the work that compaction may spend on each, and by how many slots the first chunk goes
// before the last one (the chunks between them in even steps): staggered chunks gather while later ones still reduce, which keeps
// links busy.
struct Effort {
  int32_t tries;
  int64_t work;
  int32_t stagger;
};

struct SlotResult {
  std::vector<int32_t> start;  // empty when the period is too short for some link or reducer
  int64_t work;                // transfers looked at and slots probed
};

// The best schedule found (fewest slots): list schedules, each compacted; with seed 0 the first goes by the longest remaining
// chain alone, all others perturb that priority. Deterministic in `seed`.
// Time O(tries · (slots · links + work)), memory O(links · period + jobs · hops).
SlotResult schedule_jobs(const Jobs& jobs, const std::vector<int64_t>& capacity, int32_t reducers, const SlotRules& rules,
                         const Effort& effort, uint64_t seed);

}  // namespace certree
