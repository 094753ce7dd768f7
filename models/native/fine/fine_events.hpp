// Events in the order of their times.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace certree {

// `key`: kind, place (a node, a link, or a priority) and transfer, or -1, by which events of a cycle are in order.
struct FineEvent {
  static constexpr int ROW_BITS = 25, PLACE_BITS = 36;

  int64_t cycle;
  uint64_t key;
  int32_t queue;  // in which the transfer waits, or -1

  static uint64_t key_of(int32_t kind, int64_t place, int32_t row) {
    return static_cast<uint64_t>(kind) << (ROW_BITS + PLACE_BITS) | static_cast<uint64_t>(place) << ROW_BITS |
           static_cast<uint64_t>(row + 1);
  }

  int32_t kind() const { return static_cast<int32_t>(key >> (ROW_BITS + PLACE_BITS)); }
  int64_t place() const { return static_cast<int64_t>(key >> ROW_BITS & ((uint64_t{1} << PLACE_BITS) - 1)); }
  int32_t row() const { return static_cast<int32_t>(key & ((uint64_t{1} << ROW_BITS) - 1)) - 1; }

  bool operator>(const FineEvent& other) const { return cycle != other.cycle ? cycle > other.cycle : key > other.key; }
};

// A priority queue, the least first. Time is divided into spans of 2^`shift` cycles, from cycle 0 on. Only events of the present
// span are in order: those of the next NEAR spans are in a list for each of them, those further away in a heap. Most are near, so
// that it takes O(1) for them and O(log) of those of one span.
class FineEvents {
 public:
  explicit FineEvents(int shift) : shift_(shift) { clear(); }

  void clear() {
    present_.clear();
    late_.clear();
    far_.clear();
    nodes_.clear();
    first_.fill(NONE);
    is_used_.fill(0);
    now_ = 0;
    count_ = 0;
    unused_ = NONE;
  }

  bool empty() const { return count_ == 0; }

  void push(const FineEvent& event) {
    ++count_;
    const int64_t span = event.cycle >> shift_;
    if (span <= now_) {
      add(late_, event);
    } else if (span - now_ < NEAR) {
      keep(event);
    } else {
      add(far_, event);
    }
  }

  // The least one is taken away; the queue is not empty.
  FineEvent pop() {
    if (present_.empty() && late_.empty()) go_on();
    --count_;
    if (is_late()) return take(late_);
    const FineEvent event = present_.back();
    present_.pop_back();
    return event;
  }

  // The least one, if it is of a span that has begun; else none.
  const FineEvent* present() const {
    if (is_late()) return &late_.front();
    return present_.empty() ? nullptr : &present_.back();
  }

 private:
  static constexpr int64_t NEAR = 4096;
  static constexpr int32_t NONE = -1;
  using Heap = std::vector<FineEvent>;

  struct Node {
    FineEvent event;
    int32_t next;
  };

  bool is_late() const { return !late_.empty() && (present_.empty() || present_.back() > late_.front()); }

  static void add(Heap& heap, const FineEvent& event) {
    heap.push_back(event);
    std::push_heap(heap.begin(), heap.end(), std::greater<>());
  }

  static FineEvent take(Heap& heap) {
    std::pop_heap(heap.begin(), heap.end(), std::greater<>());
    const FineEvent event = heap.back();
    heap.pop_back();
    return event;
  }

  void keep(const FineEvent& event) {
    const auto slot = static_cast<size_t>((event.cycle >> shift_) % NEAR);
    auto number = static_cast<int32_t>(nodes_.size());
    if (unused_ == NONE) {
      nodes_.push_back({event, first_[slot]});
    } else {
      number = unused_;
      unused_ = nodes_[number].next;
      nodes_[number] = {event, first_[slot]};
    }
    first_[slot] = number;
    is_used_[slot / 64] |= uint64_t{1} << slot % 64;
  }

  // The next span with events begins.
  void go_on() {
    const int64_t near = next_near(), far = far_.empty() ? -1 : far_.front().cycle >> shift_;
    now_ = near < 0 || (far >= 0 && far < near) ? far : near;
    while (!far_.empty() && far_.front().cycle >> shift_ == now_) present_.push_back(take(far_));
    if (now_ == near) {
      const auto slot = static_cast<size_t>(now_ % NEAR);
      int32_t number = first_[slot];
      while (number != NONE) {
        present_.push_back(nodes_[number].event);
        const int32_t next = nodes_[number].next;
        nodes_[number].next = unused_;
        unused_ = number;
        number = next;
      }
      first_[slot] = NONE;
      is_used_[slot / 64] &= ~(uint64_t{1} << slot % 64);
    }
    std::sort(present_.begin(), present_.end(), std::greater<>());
  }

  // The first span after the present one that has a list; -1 where none has.
  int64_t next_near() const {
    const auto slot = static_cast<size_t>(now_ % NEAR);
    uint64_t mask = ~uint64_t{0} << slot % 64;
    for (size_t passed = 0, word = slot / 64; passed <= is_used_.size(); ++passed, word = (word + 1) % is_used_.size()) {
      if (const uint64_t found = is_used_[word] & mask) {
        const auto at = static_cast<int64_t>(word * 64 + static_cast<size_t>(std::countr_zero(found)));
        return now_ + (at - now_ % NEAR + NEAR) % NEAR;
      }
      mask = ~uint64_t{0};
    }
    return -1;
  }

  std::vector<FineEvent> present_;  // the least one last
  Heap late_, far_;                 // late: of the present span, added in it
  std::vector<Node> nodes_;
  std::array<int32_t, NEAR> first_;          // by span the first node of its list
  std::array<uint64_t, NEAR / 64> is_used_;  // a bit for each list
  int shift_;
  int64_t now_;  // the present span
  size_t count_;
  int32_t unused_;  // nodes
};

}  // namespace certree
