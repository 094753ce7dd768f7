// Transfers that wait until a link is free.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "fine_booking.hpp"

namespace certree {

// Priority and number of a transfer.
using Waiting = std::pair<int64_t, int32_t>;

// Transfers that wait for a place of their routes to be free: none of them can leave before `cycle`.
struct Queue {
  Place at;
  int64_t cycle;
  std::vector<Waiting> waiting;  // a heap

  const Waiting& first() const { return waiting.front(); }

  void add(const Waiting& one) {
    waiting.push_back(one);
    std::push_heap(waiting.begin(), waiting.end(), std::greater<>());
  }

  void drop_first() {
    std::pop_heap(waiting.begin(), waiting.end(), std::greater<>());
    waiting.pop_back();
  }
};

// At most one queue for each place and cycle, by number. Those that are empty keep their memory.
class Queues {
 public:
  explicit Queues(size_t resources) : at_(resources) {}

  void clear() {
    unused_.clear();
    for (size_t number = queues_.size(); number > 0;) {
      queues_[--number].waiting.clear();
      unused_.push_back(static_cast<int32_t>(number));
    }
    for (auto& numbers : at_) numbers.clear();
  }

  Queue& operator[](int32_t number) { return queues_[number]; }

  // The number of the queue of that place and cycle, a new one where there is none; whose place it is does not count.
  int32_t number_of(const Place& at, int64_t cycle) {
    if (const int32_t known = find(at, cycle); known >= 0) return known;
    auto number = static_cast<int32_t>(queues_.size());
    if (unused_.empty()) {
      queues_.emplace_back();
    } else {
      number = unused_.back();
      unused_.pop_back();
    }
    queues_[number].at = at;
    queues_[number].cycle = cycle;
    at_[at.resource].push_back(number);
    return number;
  }

  // All who wait in a queue wait until a later cycle, with those who do already. Returns the number of their queue.
  int32_t postpone(int32_t number, int64_t cycle) {
    Queue& moved = queues_[number];
    const int32_t other = find(moved.at, cycle);
    if (other < 0) {
      moved.cycle = cycle;
      return number;
    }
    auto& there = queues_[other].waiting;
    if (there.size() < moved.waiting.size()) std::swap(there, moved.waiting);
    for (const Waiting& one : moved.waiting) queues_[other].add(one);
    drop(number);
    return other;
  }

  // Takes a queue away.
  void drop(int32_t number) {
    queues_[number].waiting.clear();
    auto& there = at_[queues_[number].at.resource];
    there.erase(std::find(there.begin(), there.end(), number));
    unused_.push_back(number);
  }

 private:
  int32_t find(const Place& at, int64_t cycle) const {
    for (const int32_t one : at_[at.resource]) {
      const Queue& queue = queues_[one];
      if (queue.cycle == cycle && queue.at.after == at.after && queue.at.length == at.length) return one;
    }
    return -1;
  }

  std::vector<Queue> queues_;
  std::vector<int32_t> unused_;           // numbers
  std::vector<std::vector<int32_t>> at_;  // by resource
};

}  // namespace certree
