#include "fine_forwarding.hpp"

#include <algorithm>
#include <numeric>
#include <queue>
#include <tuple>
#include <utility>

#include "fine_flow.hpp"
#include "fine_lanes.hpp"
#include "fine_queues.hpp"

namespace certree {
namespace {

using Own = std::priority_queue<Waiting, std::vector<Waiting>, std::greater<>>;  // of a node, for a link

// One run in which messages wait at routers.
class Forwarding : public FineFlow {
 public:
  Forwarding(const FineJobs& jobs, const FineCosts& costs)
      : FineFlow(jobs, costs),
        wait(jobs.route.value.size(), 0),
        hop_(jobs.src.size(), 0),
        own_(jobs.lanes.size()),
        is_called_(jobs.lanes.size(), 0),
        free_(jobs.lanes.size()) {
    for (size_t link = 0; link < free_.size(); ++link) {
      for (int32_t lane = 0; lane < jobs.lanes[link]; ++lane) free_[link].push(0);
    }
  }

  std::vector<int64_t> wait;  // by place in the routes

 private:
  void leave(int32_t row, int64_t now) override {
    const int32_t link = *jobs_.route.begin(row);
    own_[link].emplace(priority_[row], row);
    serving(link, row, now);
  }

  // A node's own messages leave when a lane is free: what comes from elsewhere in that cycle has taken it before.
  void serving(int32_t link, int32_t, int64_t now) override {
    auto& own = own_[link];
    if (is_called_[link] <= now) is_called_[link] = 0;
    while (!own.empty()) {
      const int32_t row = own.top().second;
      const int64_t fire = rounded(std::max(now, free_[link].top()), costs_.slot);
      if (fire > now) {
        call(link, fire);
        return;
      }
      own.pop();
      if (const int32_t original = jobs_.original_of[row]; original >= 0) {
        const int64_t made = times_.fire[original];
        times_.reads_original[row] = now <= made;
        if (now > made && now < made + costs_.ser) {
          event(rounded(made + costs_.ser, costs_.slot), send, priority_[row], row);
          continue;
        }
      }
      enter(row, now);
      sent(row, now);
    }
  }

  void call(int32_t link, int64_t cycle) {
    if (is_called_[link]) return;
    is_called_[link] = cycle;
    event(cycle, serve, link, -1, link);
  }

  void passing(int32_t row, int64_t now) override {
    const int32_t place = jobs_.route.offset[row] + hop_[row], link = jobs_.route.value[place];
    const int64_t entry = std::max(now, free_[link].top());
    wait[place] = entry - now;
    enter(row, entry);
  }

  void enter(int32_t row, int64_t entry) {
    const int32_t link = jobs_.route.begin(row)[hop_[row]];
    free_[link].pop();
    free_[link].push(entry + costs_.ser);
    const int64_t next = entry + costs_.hop[link];
    if (static_cast<size_t>(++hop_[row]) == jobs_.route.size(row)) {
      arrives(row, next + costs_.ends + costs_.ser);
    } else {
      event(next, pass, link, row);
    }
  }

  std::vector<int32_t> hop_;  // by transfer the place of its head in its route
  std::vector<Own> own_;      // by link those of its node that are ready
  std::vector<int64_t> is_called_;
  std::vector<std::priority_queue<int64_t, std::vector<int64_t>, std::greater<>>> free_;  // by link when each lane is
};

// A message behind a link: from `comes` to `goes`.
struct Stay {
  int64_t comes, goes;
  bool waits;
  int32_t row;
};

// Virtual channels for messages, so that one that waits is alone in a buffer.
class Buffers {
 public:
  Buffers(const FineJobs& jobs, const FineCosts& costs, const FineChannels& channels)
      : jobs_(jobs), costs_(costs), channels_(channels), behind_(jobs.lanes.size()), met_(jobs.src.size()) {}

  // Channels for all; the transfers for which there is none get a later release.
  int64_t share(FineForwarded& found, std::vector<int64_t>& release) {
    collect(found);
    int64_t crowded = 0;
    std::vector<int32_t> order(jobs_.src.size()), usual;
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) { return found.times.fire[a] < found.times.fire[b]; });
    usual.assign(jobs_.src.size(), -1);
    found.channel.assign(jobs_.src.size(), -1);
    for (const int32_t row : order) {
      if (jobs_.route.size(row) == 0) continue;
      int64_t later = too_long(found, row);
      if (later == 0 && !choose(found, row, usual)) later = least_delay(found, row);
      if (later == 0) continue;
      ++crowded;
      release[row] = found.times.fire[row] + later;
    }
    return crowded;
  }

 private:
  void collect(const FineForwarded& found) {
    for (auto& stays : behind_) stays.clear();
    for (auto& rows : met_) rows.clear();
    for (size_t row = 0; row < jobs_.src.size(); ++row) {
      int64_t cycle = found.times.fire[row];
      for (int32_t place = jobs_.route.offset[row]; place < jobs_.route.offset[row + 1]; ++place) {
        const int32_t link = jobs_.route.value[place];
        cycle += costs_.hop[link];
        const int64_t wait = place + 1 < jobs_.route.offset[row + 1] ? found.wait[place + 1] : 0;
        behind_[link].push_back({cycle, cycle + wait + costs_.ser, wait > 0, static_cast<int32_t>(row)});
        cycle += wait;
      }
    }
    for (auto& stays : behind_) {
      std::sort(stays.begin(), stays.end(),
                [](const Stay& a, const Stay& b) { return std::tie(a.comes, a.row) < std::tie(b.comes, b.row); });
      for (auto one = stays.begin(); one != stays.end(); ++one) {
        for (auto other = one + 1; other != stays.end() && other->comes < one->goes; ++other) {
          if (!one->waits && !other->waits) continue;
          met_[one->row].push_back(other->row);
          met_[other->row].push_back(one->row);
        }
      }
    }
  }

  // By how much a message has to leave later to wait no longer than its buffer can take it.
  int64_t too_long(const FineForwarded& found, int32_t row) const {
    if (costs_.ser <= channels_.room) return 0;
    for (int32_t place = jobs_.route.offset[row]; place < jobs_.route.offset[row + 1]; ++place) {
      if (found.wait[place] > channels_.room) return found.wait[place] - channels_.room;
    }
    return 0;
  }

  // A channel of its layer in which it meets nobody: the usual one of its route, or the first.
  bool choose(FineForwarded& found, int32_t row, std::vector<int32_t>& usual) {
    if (met_[row].empty() && jobs_.route.size(row) == 1) return true;
    const int32_t route = channels_.route[row], parts = channels_.parts;
    const bool any = jobs_.route.size(row) == 1;
    const int32_t low = any ? 0 : channels_.layer[row] * parts, high = any ? channels_.layers * parts : low + parts;
    std::vector<uint8_t> taken(high, 0);
    for (const int32_t other : met_[row]) {
      if (const int32_t channel = found.channel[other]; channel >= 0 && channel < high) taken[channel] = 1;
    }
    int32_t channel = usual[route] >= 0 && !taken[usual[route]] ? usual[route] : low;
    while (channel < high && taken[channel]) ++channel;
    if (channel == high) return false;
    usual[route] = found.channel[row] = channel;
    return true;
  }

  // The cycles that it waits at the first router at which it does; one if it does not.
  int64_t least_delay(const FineForwarded& found, int32_t row) const {
    for (int32_t place = jobs_.route.offset[row]; place < jobs_.route.offset[row + 1]; ++place) {
      if (found.wait[place] > 0) return found.wait[place];
    }
    return 1;
  }

  const FineJobs& jobs_;
  const FineCosts& costs_;
  const FineChannels& channels_;
  std::vector<std::vector<Stay>> behind_;
  std::vector<std::vector<int32_t>> met_;
};

}  // namespace

FineForwarded forward(const FineJobs& jobs, const FineCosts& costs, FineTurns turns, const FineChannels& channels, int64_t rounds) {
  Buffers buffers(jobs, costs, channels);
  for (int64_t round = 0;; ++round) {
    Forwarding run(jobs, costs);
    FineForwarded found;
    found.times = run.run(turns);
    found.wait = std::move(run.wait);
    if (found.times.outcome != Booking::done) return found;
    found.crowded = buffers.share(found, turns.release);
    if (found.crowded == 0 || round == rounds) return found;
  }
}

}  // namespace certree
