// First in, first out, in one piece of memory.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

namespace certree {

// A ring that doubles when it is full. Memory O(longest it ever was).
template <class T>
class Queue {
 public:
  bool empty() const { return size_ == 0; }
  const T& front() const { return ring_[first_]; }

  void push_back(const T& value) {
    if (size_ == capacity_) grow();
    ring_[(first_ + size_) & (capacity_ - 1)] = value;
    ++size_;
  }
  void pop_front() {
    first_ = (first_ + 1) & (capacity_ - 1);
    --size_;
  }

 private:
  void grow() {
    const std::uint32_t doubled = capacity_ == 0 ? 4 : 2 * capacity_;
    auto wider = std::make_unique<T[]>(doubled);
    for (std::uint32_t i = 0; i < size_; ++i) wider[i] = ring_[(first_ + i) & (capacity_ - 1)];
    ring_ = std::move(wider);
    capacity_ = doubled;
    first_ = 0;
  }

  std::unique_ptr<T[]> ring_;
  std::uint32_t capacity_ = 0;
  std::uint32_t first_ = 0;
  std::uint32_t size_ = 0;
};

}  // namespace certree
