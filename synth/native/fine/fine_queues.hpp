// Transfers that wait until a link is free.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace certree {

// Priority and number of a transfer.
using Waiting = std::pair<int64_t, int32_t>;

// Transfers that wait for a link to be free for what enters it `offset` cycles after it left: none of them can leave before
// `cycle`.
struct Queue {
  int32_t link;
  int64_t offset, cycle;
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

// At most one queue for each link, offset and cycle, by number.
class Queues {
 public:
  explicit Queues(size_t links) : at_(links) {}

  void clear() {
    queues_.clear();
    unused_.clear();
    for (auto& numbers : at_) numbers.clear();
  }

  Queue& operator[](int32_t number) { return queues_[number]; }

  // The number of the queue of that link, offset and cycle, a new one where there is none.
  int32_t number_of(int32_t link, int64_t offset, int64_t cycle) {
    for (const int32_t one : at_[link]) {
      if (queues_[one].offset == offset && queues_[one].cycle == cycle) return one;
    }
    auto number = static_cast<int32_t>(queues_.size());
    if (unused_.empty()) {
      queues_.emplace_back();
    } else {
      number = unused_.back();
      unused_.pop_back();
    }
    queues_[number].link = link;
    queues_[number].offset = offset;
    queues_[number].cycle = cycle;
    at_[link].push_back(number);
    return number;
  }

  // All who wait in a queue wait until a later cycle, with those who do already. Returns the number of their queue.
  int32_t postpone(int32_t number, int64_t cycle) {
    Queue moved = drop(number);
    const int32_t other = number_of(moved.link, moved.offset, cycle);
    auto& there = queues_[other].waiting;
    if (there.size() < moved.waiting.size()) std::swap(there, moved.waiting);
    for (const Waiting& one : moved.waiting) queues_[other].add(one);
    return other;
  }

  // Takes a queue away.
  Queue drop(int32_t number) {
    Queue dropped = std::move(queues_[number]);
    queues_[number].waiting.clear();
    auto& there = at_[dropped.link];
    there.erase(std::find(there.begin(), there.end(), number));
    unused_.push_back(number);
    return dropped;
  }

 private:
  std::vector<Queue> queues_;
  std::vector<int32_t> unused_;           // numbers
  std::vector<std::vector<int32_t>> at_;  // by link
};

}  // namespace certree
