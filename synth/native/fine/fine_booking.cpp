#include "fine_booking.hpp"

#include <algorithm>
#include <queue>
#include <utility>

#include "fine_lanes.hpp"
#include "fine_queues.hpp"

namespace certree {
namespace {

enum Kind : int32_t { add, land, copy, send };  // of events in one cycle, the order

struct Event {
  int64_t cycle;
  int64_t place;  // a node, or a priority
  int32_t kind, row;
  int32_t queue = -1;  // of which the transfer was the first

  bool operator>(const Event& other) const {
    if (cycle != other.cycle) return cycle > other.cycle;
    if (kind != other.kind) return kind > other.kind;
    return place != other.place ? place > other.place : row > other.row;
  }
};

constexpr int64_t ANY_PARALLEL = -1;  // in place of the offset of a queue: for any of parallel links

// One run of the list scheduler.
class Run {
 public:
  Run(const FineJobs& jobs, const FineCosts& costs, const FineTurns& turns, bool patient)
      : jobs_(jobs),
        costs_(costs),
        priority_(turns.priority),
        patient_(patient),
        lanes_(jobs, costs),
        needs_(jobs.needs),
        waits_(jobs.src.size(), 0),
        group_waits_(jobs.groups.offset.size() - 1),
        open_at_(jobs.needs.size(), 0),
        ready_(turns.release),
        latency_(jobs.src.size(), 0),
        copy_unit_(jobs.nodes, 0),
        unit_(jobs.nodes, 0),
        readers_(jobs.src.size()),
        queues_(patient ? jobs.lanes.size() : 0) {
    const size_t rows = jobs.src.size();
    times_.fire.assign(rows, -1);
    times_.landed.assign(rows, -1);
    times_.link.assign(rows, -1);
    times_.reads_original.assign(rows, 0);
    for (const int32_t row : jobs.opens.value) ++waits_[row];
    for (size_t row = 0; row < rows; ++row) {
      if (const int32_t original = jobs.original_of[row]; original >= 0) {
        ++waits_[row];
        readers_[original].push_back(static_cast<int32_t>(row));
      }
      if (jobs.way.size(row) == 0) continue;
      latency_[row] = costs.ends;
      for (const int32_t* link = jobs.way.begin(row); link != jobs.way.end(row); ++link) latency_[row] += costs.hop[*link];
      if (jobs.way.size(row) == 1) times_.link[row] = *jobs.way.begin(row);
    }
    for (size_t number = 0; number < group_waits_.size(); ++number) {
      group_waits_[number] = static_cast<int32_t>(jobs.groups.size(number));
    }
  }

  FineTimes run() {
    for (size_t row = 0; row < waits_.size(); ++row) {
      if (waits_[row] == 0) ask(static_cast<int32_t>(row));
    }
    while (!events_.empty() && times_.outcome == Booking::done) {
      const auto [now, place, kind, row, queue] = events_.top();
      events_.pop();
      switch (kind) {
        case add:
          add_up(now, place, row);
          break;
        case land:
          times_.landed[row] = now;
          open(jobs_.when_landed, row, now);
          break;
        case copy:
          make_copy(row, now);
          break;
        default:
          if (queue < 0) {
            leave(row, now);
          } else {
            serve(queue, row, now);
          }
      }
    }
    const bool left = std::find(times_.fire.begin(), times_.fire.end(), -1) != times_.fire.end();
    if (left && times_.outcome == Booking::done) times_.outcome = Booking::circle;
    return std::move(times_);
  }

 private:
  bool is_local(int32_t row) const { return jobs_.src[row] == jobs_.dst[row]; }

  // A transfer has all that it waited for; of a group the last one speaks for all.
  void ask(int32_t row) {
    int64_t ready = ready_[row];
    if (const int32_t number = jobs_.group[row]; number >= 0) {
      if (--group_waits_[number] > 0) return;
      for (const int32_t* one = jobs_.groups.begin(number); one != jobs_.groups.end(number); ++one) {
        ready = std::max(ready, ready_[*one]);
      }
      row = *jobs_.groups.begin(number);
    }
    events_.push({ready, priority_[row], is_local(row) ? copy : send, row});
  }

  void supply(int32_t row, int64_t now) {
    ready_[row] = std::max(ready_[row], now);
    if (--waits_[row] == 0) ask(row);
  }

  // Something happened that helps to open the gates of a transfer.
  void open(const Ragged& gates, int32_t row, int64_t now) {
    for (const int32_t* gate = gates.begin(row); gate != gates.end(row); ++gate) {
      open_at_[*gate] = std::max(open_at_[*gate], now);
      if (--needs_[*gate] > 0) continue;
      for (const int32_t* one = jobs_.opens.begin(*gate); one != jobs_.opens.end(*gate); ++one) supply(*one, open_at_[*gate]);
    }
  }

  // A reduction unit takes what arrived in one cycle: each counts as the last.
  void add_up(int64_t now, int64_t node, int32_t row) {
    std::vector<int32_t> together{row};
    while (!events_.empty() && events_.top().cycle == now && events_.top().kind == add && events_.top().place == node) {
      together.push_back(events_.top().row);
      events_.pop();
    }
    unit_[node] = std::max(unit_[node], now) + static_cast<int64_t>(together.size()) * costs_.red;
    for (const int32_t one : together) events_.push({unit_[node], 0, land, one});
  }

  // A local transfer takes the copy unit; what would read the copy may read the original until then.
  void make_copy(int32_t row, int64_t now) {
    int64_t& unit = copy_unit_[jobs_.src[row]];
    const int64_t fire = rounded(std::max(now, unit), costs_.slot);
    unit = fire + costs_.ser;
    sent(row, fire);
    for (const int32_t reader : readers_[row]) supply(reader, now);
  }

  void leave(int32_t row, int64_t now) {
    if (const int32_t number = jobs_.group[row]; number >= 0) {
      leave_together(number, now);
      return;
    }
    int32_t last = -1;
    int64_t fire = first(row, now, &last);
    if (const int32_t original = jobs_.original_of[row]; original >= 0) {
      const int64_t made = times_.fire[original];
      times_.reads_original[row] = fire <= made;
      if (fire > made && fire < made + costs_.ser) {
        last = -1;
        fire = first(row, made + costs_.ser, &last);
      }
    }
    if (patient_ && fire > now) {
      if (last < 0) {
        events_.push({fire, priority_[row], send, row});
      } else {
        join(row, last, fire);
      }
      return;
    }
    if (jobs_.way.size(row) == 1) {
      lanes_.take(&times_.link[row], &times_.link[row] + 1, fire);
    } else {
      lanes_.take(jobs_.way.begin(row), jobs_.way.end(row), fire);
    }
    sent(row, fire);
  }

  // The first cycle in which a transfer can leave; of ways of one link it takes any that is parallel to it.
  int64_t first(int32_t row, int64_t now, int32_t* last) {
    if (jobs_.way.size(row) != 1) return lanes_.first(jobs_.way.begin(row), jobs_.way.end(row), now, last);
    const int32_t way = *jobs_.way.begin(row);
    int64_t best = -1;
    for (const int32_t* link = jobs_.parallel.begin(way); link != jobs_.parallel.end(way); ++link) {
      const int64_t fire = lanes_.first(link, link + 1, now, last);
      if (best < 0 || fire < best) {
        best = fire;
        times_.link[row] = *link;
      }
    }
    return best;
  }

  // A transfer waits, until a cycle at least, for the link at a place of its way; of ways of one link for any that is parallel to
  // it.
  void join(int32_t row, int32_t place, int64_t fire) {
    const int32_t* way = jobs_.way.begin(row);
    const bool is_single = jobs_.way.size(row) == 1 && jobs_.parallel.size(*way) > 1;
    int64_t offset = is_single ? ANY_PARALLEL : 0;
    for (int32_t before = 0; before < place; ++before) offset += costs_.hop[way[before]];
    const int32_t number = queues_.number_of(is_single ? *jobs_.parallel.begin(*way) : way[place], offset, fire);
    const Waiting one{priority_[row], row};
    queues_[number].add(one);
    if (queues_[number].first() == one) call(number);
  }

  // The first of a queue comes when it may leave, before the others: they are looked at only if it does not take the link.
  void call(int32_t number) {
    const auto& [priority, row] = queues_[number].first();
    events_.push({queues_[number].cycle, priority, send, row, number});
  }

  // The first of a queue leaves, or goes to another queue; the next one comes when the link is free. One that is no longer the
  // first is called again later.
  void serve(int32_t number, int32_t row, int64_t now) {
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
    if (queue.offset != ANY_PARALLEL) return lanes_.wait(queue.link, queue.cycle + queue.offset);
    int64_t least = -1;
    for (const int32_t* link = jobs_.parallel.begin(queue.link); link != jobs_.parallel.end(queue.link); ++link) {
      const int64_t late = lanes_.wait(*link, queue.cycle);
      if (least < 0 || late < least) least = late;
    }
    return least;
  }

  void leave_together(int32_t number, int64_t now) {
    const int32_t *begin = jobs_.groups.begin(number), *end = jobs_.groups.end(number);
    int64_t fire = now;
    for (int64_t later = fire;; fire = later) {
      for (const int32_t* row = begin; row != end; ++row) {
        later = std::max(later, lanes_.first(jobs_.way.begin(*row), jobs_.way.end(*row), fire));
      }
      if (later == fire) break;
    }
    for (const int32_t* row = begin; row != end; ++row) {
      if (!lanes_.take(jobs_.way.begin(*row), jobs_.way.end(*row), fire)) {
        times_.outcome = Booking::meeting;
        return;
      }
    }
    for (const int32_t* row = begin; row != end; ++row) sent(*row, fire);
  }

  void sent(int32_t row, int64_t fire) {
    times_.fire[row] = fire;
    const int64_t arrived = fire + latency_[row] + costs_.ser;
    if (jobs_.adds[row]) {
      events_.push({arrived + costs_.start, jobs_.dst[row], add, row});
    } else {
      events_.push({arrived, 0, land, row});
    }
    open(jobs_.when_sent, row, fire);
  }

  const FineJobs& jobs_;
  const FineCosts& costs_;
  const std::vector<int64_t>& priority_;
  const bool patient_;
  Lanes lanes_;
  std::vector<int32_t> needs_, waits_, group_waits_;
  std::vector<int64_t> open_at_, ready_, latency_, copy_unit_, unit_;
  std::vector<std::vector<int32_t>> readers_;
  Queues queues_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  FineTimes times_;
};

}  // namespace

FineTimes book(const FineJobs& jobs, const FineCosts& costs, const FineTurns& turns, bool patient) {
  return Run(jobs, costs, turns, patient).run();
}

}  // namespace certree
