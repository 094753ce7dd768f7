#include "fine_booking.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "fine_flow.hpp"
#include "fine_lanes.hpp"
#include "fine_queues.hpp"

namespace certree {

Ragged grouped(size_t groups, const std::vector<int32_t>& group, const std::vector<int32_t>& values) {
  Ragged found;
  found.offset.assign(groups + 1, 0);
  for (const int32_t one : group) ++found.offset[one + 1];
  std::partial_sum(found.offset.begin(), found.offset.end(), found.offset.begin());
  found.value.resize(values.size());
  std::vector<int32_t> next(found.offset.begin(), found.offset.end() - 1);
  for (size_t i = 0; i < values.size(); ++i) found.value[next[group[i]]++] = values[i];
  return found;
}

namespace {

constexpr int64_t ANY_PARALLEL = -1;  // in place of the offset of a queue: for any of parallel links

// By node the cycles in which something comes to its reduction unit, ascending.
class Arrivals {
 public:
  explicit Arrivals(size_t nodes) : cycles_(nodes) {}

  void clear() {
    for (auto& cycles : cycles_) cycles.clear();
  }

  bool contains(int32_t node, int64_t cycle) const { return std::binary_search(cycles_[node].begin(), cycles_[node].end(), cycle); }

  void add(int32_t node, int64_t cycle) {
    cycles_[node].insert(std::lower_bound(cycles_[node].begin(), cycles_[node].end(), cycle), cycle);
  }

 private:
  std::vector<std::vector<int64_t>> cycles_;
};

// Cycles of the shortest message on a lane.
int64_t shortest_message(const FineJobs& jobs, const FineCosts& costs) {
  return jobs.length.empty() ? costs.ser : *std::min_element(jobs.length.begin(), jobs.length.end());
}

// Cycles for which any resource is taken at least.
int64_t shortest(const FineJobs& jobs, const FineCosts& costs) {
  int64_t least = shortest_message(jobs, costs);
  for (const Place& place : jobs.holds.place) least = std::min(least, place.length);
  return least;
}

}  // namespace

class FineScheduler::Run : public FineFlow {
 public:
  Run(const FineJobs& jobs, const FineCosts& costs)
      : FineFlow(jobs, costs),
        holds_any_(!jobs.holds.place.empty()),
        shortest_(shortest_message(jobs, costs)),
        lanes_(jobs.lanes, jobs.taken, shortest(jobs, costs)),
        arrivals_(jobs.nodes),
        queues_(jobs.lanes.size()) {}

  FineTimes book(const FineTurns& turns) {
    patient_ = turns.patient;
    apart_ = turns.apart;
    lanes_.clear();
    arrivals_.clear();
    queues_.clear();
    return run(turns);
  }

 private:
  void leave(int32_t row, int64_t now) override {
    if (const int32_t number = jobs_.group[row]; number >= 0) {
      leave_together(number, now);
      return;
    }
    int32_t last = -1;
    int64_t fire = first(row, now, &last);
    if (const int32_t original = jobs_.original_of[row]; original >= 0) {
      const int64_t made = times_.fire[original];
      times_.reads_original[row] = fire <= made;
      if (fire > made && fire < made + length(original)) {
        last = -1;
        fire = first(row, made + length(original), &last);
      }
    }
    if (patient_ && fire > now) {
      if (last < 0) {
        event(fire, send, priority_[row], row);
      } else {
        join(row, last, fire);
      }
      return;
    }
    const bool is_single = jobs_.route.size(row) == 1;
    take_all(row, is_single ? links(row, &times_.link[row], &times_.link[row] + 1) : links(row), fire);
    leaves(row, fire);
  }

  LinkRoute links(int32_t row, const int32_t* begin, const int32_t* end) const {
    return {begin, end, costs_.hop.data(), length(row)};
  }
  LinkRoute links(int32_t row) const { return links(row, jobs_.route.begin(row), jobs_.route.end(row)); }
  PlaceRoute holds(int32_t row) const { return {jobs_.holds.begin(row), jobs_.holds.end(row)}; }

  // The first slot from a cycle on in which the links of a route are free, and what the transfer holds besides.
  int64_t free_from(int32_t row, const LinkRoute& route, int64_t fire, int32_t* last = nullptr) const {
    fire = first_slot(lanes_, route, fire, costs_.slot, last);
    if (!holds_any_) return fire;
    for (int64_t before = -1; before < fire;) {
      int32_t hold = -1;
      before = fire;
      fire = first_slot(lanes_, holds(row), fire, costs_.slot, &hold);
      if (hold >= 0 && last != nullptr) *last = static_cast<int32_t>(route.size()) + hold;
      fire = first_slot(lanes_, route, fire, costs_.slot, last);
    }
    return fire;
  }

  void take_all(int32_t row, const LinkRoute& route, int64_t fire) {
    take(lanes_, route, fire);
    if (holds_any_) take(lanes_, holds(row), fire);
  }

  // The first cycle in which a transfer can leave, and comes to its reduction unit alone if that is asked for; `last`: the place of
  // the link for which it waits last, -1 where it waits for none.
  int64_t first(int32_t row, int64_t now, int32_t* last) {
    int64_t fire = free_from(row, now, last);
    if (!apart_ || !jobs_.adds[row]) return fire;
    while (arrivals_.contains(jobs_.dst[row], fire + latency_[row])) {
      *last = -1;
      fire = free_from(row, fire + costs_.slot, last);
    }
    return fire;
  }

  // The first cycle in which the links of a transfer are free; of routes of one link it takes any that is parallel to it.
  int64_t free_from(int32_t row, int64_t now, int32_t* last) {
    if (jobs_.route.size(row) != 1) return free_from(row, links(row), now, last);
    const int32_t route = *jobs_.route.begin(row);
    int64_t best = -1;
    for (const int32_t* link = jobs_.parallel.begin(route); link != jobs_.parallel.end(route); ++link) {
      const int64_t fire = free_from(row, links(row, link, link + 1), now, last);
      if (best < 0 || fire < best) {
        best = fire;
        times_.link[row] = *link;
      }
    }
    return best;
  }

  // A transfer waits, until a cycle at least, for the link at a place of its route; of routes of one link for any that is parallel
  // to it.
  void join(int32_t row, int32_t place, int64_t fire) {
    const LinkRoute route = links(row);
    Place at;
    if (place < route.size()) {
      auto here = route.first();
      while (route.number(here) < place) route.step(here);
      at = route.at(here);
      at.length = shortest_;  // messages of all lengths wait together, until one of them could enter
    } else {
      at = holds(row).begin[place - route.size()];
    }
    if (route.size() == 1 && place == 0 && jobs_.parallel.size(at.resource) > 1) {
      at.resource = *jobs_.parallel.begin(at.resource);
      at.after = ANY_PARALLEL;
    }
    const int32_t number = queues_.number_of(at, fire);
    const Waiting one{priority_[row], row};
    queues_[number].add(one);
    if (queues_[number].first() == one) call(number);
  }

  // The first of a queue comes when it may leave, before the others: they are looked at only if it does not take the link.
  void call(int32_t number) {
    const auto& [priority, row] = queues_[number].first();
    event(queues_[number].cycle, send, priority, row, number);
  }

  // The first of a queue leaves, or goes to another queue; the next one comes when the link is free. One that is no longer the
  // first is called again later.
  void serving(int32_t number, int32_t row, int64_t now) override {
    const Queue& queue = queues_[number];
    if (queue.cycle != now || queue.waiting.empty() || queue.first().second != row) return;
    queues_[number].drop_first();
    leave(row, now);
    if (queues_[number].waiting.empty()) {
      queues_.drop(number);
      return;
    }
    const int64_t late = rounded(wait_of(queues_[number]), costs_.slot);
    call(late > 0 ? queues_.postpone(number, now + late) : number);
  }

  int64_t wait_of(const Queue& queue) const {
    Place at = queue.at;
    if (at.after != ANY_PARALLEL) return lanes_.wait(at, queue.cycle + at.after);
    int64_t least = -1;
    for (const int32_t* link = jobs_.parallel.begin(queue.at.resource); link != jobs_.parallel.end(queue.at.resource); ++link) {
      at.resource = *link;
      const int64_t late = lanes_.wait(at, queue.cycle);
      if (least < 0 || late < least) least = late;
    }
    return least;
  }

  void leave_together(int32_t number, int64_t now) {
    const int32_t *begin = jobs_.groups.begin(number), *end = jobs_.groups.end(number);
    int64_t fire = now;
    for (int64_t later = fire;; fire = later) {
      for (const int32_t* row = begin; row != end; ++row) {
        later = std::max(later, free_from(*row, links(*row), fire));
      }
      if (later == fire) break;
    }
    for (const int32_t* row = begin; row != end; ++row) {
      if (free_from(*row, links(*row), fire) > fire) {
        times_.outcome = Booking::meeting;
        return;
      }
      take_all(*row, links(*row), fire);
    }
    for (const int32_t* row = begin; row != end; ++row) leaves(*row, fire);
  }

  void leaves(int32_t row, int64_t fire) {
    if (apart_ && jobs_.adds[row]) arrivals_.add(jobs_.dst[row], fire + latency_[row]);
    arrives(row, fire + latency_[row] + length(row));
    sent(row, fire);
  }

  const bool holds_any_;
  const int64_t shortest_;
  bool patient_ = false, apart_ = false;
  Lanes<true> lanes_;
  Arrivals arrivals_;
  Queues queues_;
};

FineScheduler::FineScheduler(const FineJobs& jobs, const FineCosts& costs) : run_(std::make_unique<Run>(jobs, costs)) {}

FineScheduler::~FineScheduler() = default;

FineTimes FineScheduler::book(const FineTurns& turns) { return run_->book(turns); }

}  // namespace certree
