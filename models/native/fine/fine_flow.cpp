#include "fine_flow.hpp"

#include <algorithm>
#include <bit>
#include <stdexcept>
#include <utility>

#include "fine_lanes.hpp"

namespace certree {

namespace {

constexpr int SPAN_BITS = 9;

// The same order in numbers that events can hold.
std::vector<int64_t> from_zero(std::vector<int64_t> priority) {
  if (priority.empty()) return priority;
  const auto [least, most] = std::minmax_element(priority.begin(), priority.end());
  const auto low = static_cast<uint64_t>(*least);
  if (static_cast<uint64_t>(*most) - low < uint64_t{1} << FineEvent::PLACE_BITS) {
    for (int64_t& one : priority) one = static_cast<int64_t>(static_cast<uint64_t>(one) - low);
    return priority;
  }
  std::vector<int64_t> known = priority;
  std::sort(known.begin(), known.end());
  known.erase(std::unique(known.begin(), known.end()), known.end());
  for (int64_t& one : priority) one = std::lower_bound(known.begin(), known.end(), one) - known.begin();
  return priority;
}

// Some hundreds of spans in which events are looked for in the cycles of a message.
int shift_for(const FineCosts& costs) {
  const int bits = std::bit_width(static_cast<uint64_t>(std::max<int64_t>(costs.ser, 1)));
  return std::max(0, bits - SPAN_BITS);
}

}  // namespace

FineFlow::FineFlow(const FineJobs& jobs, const FineCosts& costs)
    : jobs_(jobs), costs_(costs), latency_(jobs.src.size(), 0), all_waits_(jobs.src.size(), 0), events_(shift_for(costs)) {
  const size_t rows = jobs.src.size();
  if (rows + 1 >= size_t{1} << FineEvent::ROW_BITS) throw std::invalid_argument("too many transfers");
  std::vector<int32_t> original, reader, before, follower;
  for (const int32_t row : jobs.opens.value) ++all_waits_[row];
  for (size_t row = 0; row < rows; ++row) {
    if (jobs.original_of[row] >= 0) {
      ++all_waits_[row];
      original.push_back(jobs.original_of[row]);
      reader.push_back(static_cast<int32_t>(row));
    }
    if (jobs.follows[row] >= 0) {
      ++all_waits_[row];
      before.push_back(jobs.follows[row]);
      follower.push_back(static_cast<int32_t>(row));
    }
    if (jobs.route.size(row) == 0) continue;
    latency_[row] = costs.ends;
    for (const int32_t* link = jobs.route.begin(row); link != jobs.route.end(row); ++link) latency_[row] += costs.hop[*link];
  }
  readers_ = grouped(rows, original, reader);
  if (!before.empty()) followers_ = grouped(rows, before, follower);
}

void FineFlow::begin(const FineTurns& turns) {
  const size_t rows = jobs_.src.size();
  priority_ = from_zero(turns.priority);
  ready_ = turns.release;
  needs_ = jobs_.needs;
  waits_ = all_waits_;
  open_at_.assign(jobs_.needs.size(), 0);
  copy_unit_.assign(jobs_.nodes, 0);
  unit_.assign(jobs_.nodes, 0);
  group_waits_.resize(jobs_.groups.offset.size() - 1);
  for (size_t number = 0; number < group_waits_.size(); ++number) {
    group_waits_[number] = static_cast<int32_t>(jobs_.groups.size(number));
  }
  times_.outcome = Booking::done;
  times_.fire.assign(rows, -1);
  times_.landed.assign(rows, -1);
  times_.link.assign(rows, -1);
  times_.reads_original.assign(rows, 0);
  for (size_t row = 0; row < rows; ++row) {
    if (jobs_.route.size(row) == 1) times_.link[row] = *jobs_.route.begin(row);
  }
  events_.clear();
}

FineTimes FineFlow::run(const FineTurns& turns) {
  begin(turns);
  for (size_t row = 0; row < waits_.size(); ++row) {
    if (waits_[row] == 0) ask(static_cast<int32_t>(row));
  }
  while (!events_.empty() && times_.outcome == Booking::done) {
    const FineEvent event = events_.pop();
    const int64_t now = now_ = event.cycle;
    const int32_t row = event.row();
    switch (event.kind()) {
      case add:
        add_up(now, event.place(), row);
        break;
      case land:
        times_.landed[row] = now;
        open(jobs_.when_landed, row, now);
        break;
      case pass:
        passing(row, now);
        break;
      case copy:
        make_copy(row, now);
        break;
      case send:
      case serve:
        if (event.queue < 0) {
          leave(row, now);
        } else {
          serving(event.queue, row, now);
        }
    }
  }
  const bool left = std::find(times_.landed.begin(), times_.landed.end(), -1) != times_.landed.end();
  if (left && times_.outcome == Booking::done) times_.outcome = Booking::circle;
  return std::move(times_);
}

// A transfer has all that it waited for; of a group the last one speaks for all.
void FineFlow::ask(int32_t row) {
  int64_t ready = ready_[row];
  if (const int32_t number = jobs_.group[row]; number >= 0) {
    if (--group_waits_[number] > 0) return;
    for (const int32_t* one = jobs_.groups.begin(number); one != jobs_.groups.end(number); ++one) {
      ready = std::max(ready, ready_[*one]);
    }
    row = *jobs_.groups.begin(number);
  }
  event(ready, jobs_.src[row] == jobs_.dst[row] ? copy : send, priority_[row], row);
}

void FineFlow::supply(int32_t row, int64_t now) {
  ready_[row] = std::max(ready_[row], now);
  if (--waits_[row] == 0) ask(row);
}

// Something happened that helps to open the gates of a transfer.
void FineFlow::open(const Ragged& gates, int32_t row, int64_t now) {
  for (const int32_t* gate = gates.begin(row); gate != gates.end(row); ++gate) {
    open_at_[*gate] = std::max(open_at_[*gate], now);
    if (--needs_[*gate] > 0) continue;
    for (const int32_t* one = jobs_.opens.begin(*gate); one != jobs_.opens.end(*gate); ++one) supply(*one, open_at_[*gate]);
  }
}

// A reduction unit takes what arrived in one cycle: each counts as the last.
void FineFlow::add_up(int64_t now, int64_t node, int32_t row) {
  together_.assign(1, row);
  for (const FineEvent* next = events_.present();
       next != nullptr && next->cycle == now && next->kind() == add && next->place() == node; next = events_.present()) {
    together_.push_back(events_.pop().row());
  }
  unit_[node] = std::max(unit_[node], now) + static_cast<int64_t>(together_.size()) * costs_.red;
  for (const int32_t one : together_) event(unit_[node], land, 0, one);
}

// A local transfer takes the copy unit; what would read the copy may read the original until then.
void FineFlow::make_copy(int32_t row, int64_t now) {
  int64_t& unit = copy_unit_[jobs_.src[row]];
  const int64_t fire = rounded(std::max(now, unit), costs_.slot);
  unit = fire + length(row);
  sent(row, fire);
  arrives(row, unit);
  for (const int32_t* reader = readers_.begin(row); reader != readers_.end(row); ++reader) supply(*reader, now);
}

void FineFlow::sent(int32_t row, int64_t fire) {
  times_.fire[row] = fire;
  open(jobs_.when_sent, row, fire);
}

void FineFlow::arrives(int32_t row, int64_t arrived) {
  if (jobs_.adds[row]) {
    event(arrived + costs_.start, add, jobs_.dst[row], row);
  } else {
    event(arrived, land, 0, row);
  }
  if (followers_.value.empty()) return;
  for (const int32_t* one = followers_.begin(row); one != followers_.end(row); ++one) {
    supply(*one, std::max(now_, arrived - length(*one) - latency_[*one] + 1));
  }
}

}  // namespace certree
