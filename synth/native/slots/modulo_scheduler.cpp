#include "modulo_scheduler.hpp"

#include <algorithm>

#include "../random.hpp"
#include "slot_compactor.hpp"
#include "slot_passes.hpp"

namespace certree {

namespace {

constexpr int32_t kRounds = 1;  // passes back and forth after each list schedule

class ListScheduler {
 public:
  ListScheduler(const Jobs& jobs, const std::vector<int64_t>& capacity, int32_t reducers, const SlotRules& rules, int32_t stagger)
      : jobs_(jobs), capacity_(capacity), rules_(rules), count_(jobs.count()), tail_(count_, 0) {
    indegree_.assign(count_, 0);
    for (const int32_t s : jobs.successor) ++indegree_[s];
    measure_tails();
    int32_t groups = 0;
    for (const int32_t g : jobs.group) groups = std::max(groups, g + 1);
    for (int32_t g = 0; g < groups; ++g) {
      favour_.push_back(static_cast<int32_t>(int64_t{stagger} * (groups - 1 - g) / std::max(1, groups - 1)));
    }
    waiting_.resize(capacity.size());
    independent_ = rules.reductions == 0 && jobs.link.size() == count_;
    if (rules.period > 0) {
      residues_ = rules.period;
      feasible_ = fits(reducers);
    } else {
      residues_ = 1;  // one row of counters, wiped every slot
    }
    link_used_.resize(capacity.size() * residues_);
    reducer_used_.resize(static_cast<size_t>(reducers) * residues_);
  }

  bool feasible() const { return feasible_; }

  // No schedule takes fewer slots: the longest chain of transfers.
  int32_t floor() const { return *std::max_element(tail_.begin(), tail_.end()) + 1; }

  // One greedy pass; start slots are in `start()`. False when it finds no end (a link's free slots never meet its transfers).
  bool run(const std::vector<int32_t>& noise) {
    std::fill(link_used_.begin(), link_used_.end(), 0);
    std::fill(reducer_used_.begin(), reducer_used_.end(), 0);
    for (auto& queue : waiting_) queue.clear();
    missing_ = indegree_;
    ready_at_.assign(count_, 0);
    start_.assign(count_, -1);
    buckets_.assign(1, {});
    noise_ = &noise;
    for (size_t j = 0; j < count_; ++j) {
      if (missing_[j] == 0) buckets_[0].push_back(static_cast<int32_t>(j));
    }
    size_t left = count_;
    for (int32_t slot = 0, idle = 0; left > 0; ++slot) {
      const size_t placed = fill_slot(slot);
      left -= placed;
      idle = placed > 0 ? 0 : idle + 1;
      if (idle > rules_.period + rules_.delay) return false;
    }
    return true;
  }

  const std::vector<int32_t>& start() const { return start_; }

  // Every job in its turn, as early as what it waits for allows; false when there are no turns, or units take few reductions.
  bool run_in_turns() {
    if (jobs_.turn.empty() || rules_.period == 0 || rules_.reductions > 0) return false;
    start_.assign(count_, 0);
    for (const int32_t job : order_) {
      const int32_t wait = (jobs_.turn[job] - start_[job]) % rules_.period;
      start_[job] += wait < 0 ? wait + rules_.period : wait;
      for_successors(job, [&](int32_t s) { start_[s] = std::max(start_[s], start_[job] + rules_.delay); });
    }
    return true;
  }

  // After a pass: chunks that ended last weigh more in the next one (squeaky wheel).
  void favour_latest() {
    const int32_t last = *std::max_element(start_.begin(), start_.end());
    for (size_t j = 0; j < count_; ++j) {
      if (start_[j] >= last) ++favour_[jobs_.group[j]];
    }
  }

 private:
  void measure_tails() {
    std::vector<int32_t> missing = indegree_;
    order_.reserve(count_);
    for (size_t j = 0; j < count_; ++j) {
      if (missing[j] == 0) order_.push_back(static_cast<int32_t>(j));
    }
    for (size_t head = 0; head < order_.size(); ++head) {
      for_successors(order_[head], [&](int32_t s) {
        if (--missing[s] == 0) order_.push_back(s);
      });
    }
    for (auto it = order_.rbegin(); it != order_.rend(); ++it) {
      for_successors(*it, [&](int32_t s) { tail_[*it] = std::max(tail_[*it], tail_[s] + rules_.delay); });
    }
  }

  template <typename Visit>
  void for_successors(int32_t job, Visit visit) const {
    for (int32_t i = jobs_.successor_offset[job]; i < jobs_.successor_offset[job + 1]; ++i) visit(jobs_.successor[i]);
  }

  // Whether a period can hold all uses of every link and every reduction unit.
  bool fits(int32_t reducers) const {
    std::vector<int64_t> uses(capacity_.size(), 0), reductions(reducers, 0);
    for (size_t j = 0; j < count_; ++j) {
      for (const int32_t link : jobs_.links(static_cast<int32_t>(j))) ++uses[link];
      if (jobs_.reducer[j] >= 0) ++reductions[jobs_.reducer[j]];
    }
    for (size_t l = 0; l < uses.size(); ++l) {
      if (uses[l] > capacity_[l] * rules_.period) return false;
    }
    return rules_.reductions == 0 || std::all_of(reductions.begin(), reductions.end(),
                                                 [this](int64_t r) { return r <= int64_t{rules_.reductions} * rules_.period; });
  }

  int32_t priority(int32_t job) const { return tail_[job] + favour_[jobs_.group[job]] + (*noise_)[job]; }

  // The order in which transfers that wait for a link get it.
  bool goes_after(int32_t a, int32_t b) const {
    const int32_t pa = priority(a), pb = priority(b);
    return pa != pb ? pa < pb : a > b;
  }

  size_t fill_slot(int32_t slot) {
    if (rules_.period == 0) {
      std::fill(link_used_.begin(), link_used_.end(), 0);
      std::fill(reducer_used_.begin(), reducer_used_.end(), 0);
    }
    const auto after = [this](int32_t a, int32_t b) { return goes_after(a, b); };
    if (static_cast<size_t>(slot) < buckets_.size()) {
      for (const int32_t job : buckets_[slot]) {
        auto& queue = waiting_[jobs_.links(job)[0]];
        queue.push_back(job);
        if (independent_) std::push_heap(queue.begin(), queue.end(), after);
      }
      buckets_[slot].clear();
    }
    const size_t residue = rules_.period == 0 ? 0 : slot % rules_.period;
    return independent_ ? fill_links(slot, residue, after) : fill_together(slot, residue, after);
  }

  // Each link serves its own queue, a heap.
  template <typename After>
  size_t fill_links(int32_t slot, size_t residue, After after) {
    size_t placed = 0;
    for (size_t l = 0; l < waiting_.size(); ++l) {
      auto& queue = waiting_[l];
      for (; !queue.empty() && link_used_[l * residues_ + residue] < capacity_[l]; ++placed) {
        std::pop_heap(queue.begin(), queue.end(), after);
        const int32_t job = queue.back();
        queue.pop_back();
        ++link_used_[l * residues_ + residue];
        start(job, slot);
      }
    }
    return placed;
  }

  // What several links or a reduction unit must be free for is looked at in one order over all links.
  template <typename After>
  size_t fill_together(int32_t slot, size_t residue, After after) {
    candidates_.clear();
    for (size_t l = 0; l < waiting_.size(); ++l) {
      if (!waiting_[l].empty() && link_used_[l * residues_ + residue] < capacity_[l]) {
        candidates_.insert(candidates_.end(), waiting_[l].begin(), waiting_[l].end());
      }
    }
    std::sort(candidates_.begin(), candidates_.end(), [&](int32_t a, int32_t b) { return after(b, a); });
    size_t placed = 0;
    for (const int32_t job : candidates_) placed += place(job, slot, residue);
    return placed;
  }

  size_t place(int32_t job, int32_t slot, size_t residue) {
    const auto links = jobs_.links(job);
    const int32_t reducer = jobs_.reducer[job];
    for (const int32_t link : links) {
      if (link_used_[link * residues_ + residue] >= capacity_[link]) return 0;
    }
    if (reducer >= 0 && rules_.reductions > 0) {
      int32_t& arrivals = reducer_used_[reducer * residues_ + residue];
      if (arrivals >= rules_.reductions) return 0;
      ++arrivals;
    }
    for (const int32_t link : links) ++link_used_[link * residues_ + residue];
    auto& queue = waiting_[links[0]];
    queue.erase(std::find(queue.begin(), queue.end(), job));
    start(job, slot);
    return 1;
  }

  void start(int32_t job, int32_t slot) {
    start_[job] = slot;
    for_successors(job, [&](int32_t s) {
      ready_at_[s] = std::max(ready_at_[s], slot + rules_.delay);
      if (--missing_[s] == 0) {
        if (buckets_.size() <= static_cast<size_t>(ready_at_[s])) buckets_.resize(ready_at_[s] + 1);
        buckets_[ready_at_[s]].push_back(s);
      }
    });
  }

  const Jobs& jobs_;
  const std::vector<int64_t>& capacity_;
  SlotRules rules_;
  size_t count_;
  std::vector<int32_t> order_;  // each job after all that it waits for
  std::vector<int32_t> tail_, indegree_, missing_, ready_at_, start_, favour_, candidates_;
  std::vector<std::vector<int32_t>> waiting_;  // jobs that may start, at the first of their links
  std::vector<std::vector<int32_t>> buckets_;
  std::vector<int64_t> link_used_;
  std::vector<int32_t> reducer_used_;
  size_t residues_ = 1;
  bool feasible_ = true;
  bool independent_ = false;  // every transfer needs one link and nothing else
  const std::vector<int32_t>* noise_ = nullptr;
};

}  // namespace

SlotResult schedule_jobs(const Jobs& jobs, const std::vector<int64_t>& capacity, int32_t reducers, const SlotRules& rules,
                         const Effort& effort, uint64_t seed) {
  ListScheduler scheduler(jobs, capacity, reducers, rules, effort.stagger);
  const auto count = static_cast<int64_t>(jobs.count());
  SlotResult result{{}, count};
  if (!scheduler.feasible() || count == 0) return result;
  SlotPasses passes(jobs, capacity, reducers, rules);
  std::vector<int32_t> noise(jobs.count(), 0);
  Random random(seed);
  int32_t limit = INT32_MAX;
  for (int32_t attempt = 0; attempt < effort.tries && limit + 1 > scheduler.floor(); ++attempt) {
    if (attempt > 0 || seed > 0) {
      for (auto& n : noise) n = random.below(rules.delay * (1 + (attempt + static_cast<int32_t>(seed % 4)) % 4) + 1);
    }
    result.work += 8 * count;
    if (!scheduler.run(noise) && !scheduler.run_in_turns()) continue;
    const int64_t before = passes.work();
    SlotCompactor compactor(jobs, capacity, reducers, rules, passes.run(scheduler.start(), kRounds), random.next());
    compactor.run(effort.work);
    result.work += passes.work() - before + compactor.work();
    scheduler.favour_latest();
    const int32_t last = *std::max_element(compactor.start().begin(), compactor.start().end());
    if (last < limit) {
      limit = last;
      result.start = compactor.start();
    }
  }
  return result;
}

}  // namespace certree
