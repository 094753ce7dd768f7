#include "fine_booking.hpp"

#include <algorithm>
#include <queue>
#include <tuple>

namespace certree {
namespace {

enum Kind : int32_t { add, land, copy, send };  // of events in one cycle, the order

using Event = std::tuple<int64_t, int32_t, int64_t, int32_t>;  // cycle, kind, node or priority, transfer

int64_t rounded(int64_t cycle, int64_t slot) { return (cycle + slot - 1) / slot * slot; }

// The bookings of each lane of each link: cycles of entry, ascending.
class Lanes {
 public:
  Lanes(const FineJobs& jobs, const FineCosts& costs) : costs_(costs), taken_(jobs.lanes.size()) {
    for (size_t link = 0; link < taken_.size(); ++link) taken_[link].resize(jobs.lanes[link]);
  }

  // The first slot from `fire` on in which a message can leave along a way.
  int64_t first(const int32_t* begin, const int32_t* end, int64_t fire) const {
    const auto length = end - begin;
    fire = rounded(fire, costs_.slot);
    int64_t entry = fire;
    for (int64_t clear = 0, place = 0; clear < length;) {  // links in a row that are free, round and round
      const int64_t wait = rounded(late(begin[place], entry), costs_.slot);
      if (wait > 0) {
        fire += wait;
        entry += wait;
        clear = 0;
        continue;
      }
      entry += costs_.hop[begin[place]];
      ++clear;
      if (++place == length) {
        place = 0;
        entry = fire;
      }
    }
    return fire;
  }

  // Takes the links of a way for a message that leaves then; false, and nothing taken, where one of them is not free.
  bool take(const int32_t* begin, const int32_t* end, int64_t fire) {
    std::vector<std::pair<std::vector<int64_t>*, int64_t>> found;
    int64_t entry = fire;
    for (const int32_t* link = begin; link != end; ++link) {
      std::vector<int64_t>* lane = free_lane(*link, entry);
      if (lane == nullptr) {
        for (const auto& [one, cycle] : found) one->erase(std::lower_bound(one->begin(), one->end(), cycle));
        return false;
      }
      lane->insert(std::upper_bound(lane->begin(), lane->end(), entry), entry);
      found.emplace_back(lane, entry);
      entry += costs_.hop[*link];
    }
    return true;
  }

 private:
  // Cycles until the booking ends that a message entering then would meet on a lane; 0 where it meets none.
  int64_t late(const std::vector<int64_t>& lane, int64_t entry) const {
    const auto at = std::upper_bound(lane.begin(), lane.end(), entry - costs_.ser);
    return at != lane.end() && *at < entry + costs_.ser ? *at + costs_.ser - entry : 0;
  }

  // The fewest of all lanes of a link.
  int64_t late(int32_t link, int64_t entry) const {
    int64_t least = -1;
    for (const auto& lane : taken_[link]) {
      const int64_t wait = late(lane, entry);
      if (wait == 0) return 0;
      if (least < 0 || wait < least) least = wait;
    }
    return least;
  }

  std::vector<int64_t>* free_lane(int32_t link, int64_t entry) {
    for (auto& lane : taken_[link]) {
      if (late(lane, entry) == 0) return &lane;
    }
    return nullptr;
  }

  const FineCosts& costs_;
  std::vector<std::vector<std::vector<int64_t>>> taken_;
};

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
        readers_(jobs.src.size()) {
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
      const auto [now, kind, place, row] = events_.top();
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
          leave(row, now);
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
    events_.emplace(ready, is_local(row) ? copy : send, priority_[row], row);
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
    while (!events_.empty() && std::get<0>(events_.top()) == now && std::get<1>(events_.top()) == add &&
           std::get<2>(events_.top()) == node) {
      together.push_back(std::get<3>(events_.top()));
      events_.pop();
    }
    unit_[node] = std::max(unit_[node], now) + static_cast<int64_t>(together.size()) * costs_.red;
    for (const int32_t one : together) events_.emplace(unit_[node], land, 0, one);
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
    int64_t fire = first(row, now);
    if (const int32_t original = jobs_.original_of[row]; original >= 0) {
      const int64_t made = times_.fire[original];
      times_.reads_original[row] = fire <= made;
      if (fire > made && fire < made + costs_.ser) fire = first(row, made + costs_.ser);
    }
    if (patient_ && fire > now) {
      events_.emplace(fire, send, priority_[row], row);
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
  int64_t first(int32_t row, int64_t now) {
    if (jobs_.way.size(row) != 1) return lanes_.first(jobs_.way.begin(row), jobs_.way.end(row), now);
    const int32_t way = *jobs_.way.begin(row);
    int64_t best = -1;
    for (const int32_t* link = jobs_.parallel.begin(way); link != jobs_.parallel.end(way); ++link) {
      const int64_t fire = lanes_.first(link, link + 1, now);
      if (best < 0 || fire < best) {
        best = fire;
        times_.link[row] = *link;
      }
    }
    return best;
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
      events_.emplace(arrived + costs_.start, add, jobs_.dst[row], row);
    } else {
      events_.emplace(arrived, land, 0, row);
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
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  FineTimes times_;
};

}  // namespace

FineTimes book(const FineJobs& jobs, const FineCosts& costs, const FineTurns& turns, bool patient) {
  return Run(jobs, costs, turns, patient).run();
}

}  // namespace certree
