// A programmable state machine of the control unit: one phase, and the chunks that wait for it.
#pragma once

#include <deque>

#include "common/types.hpp"

namespace certree::endpoint {

using ChunkId = Id<struct ChunkTag>;

// The first of the queue is at work; it sends its rows of the phase in order.
class StateMachine {
 public:
  bool is_idle() const { return queue_.empty(); }
  ChunkId at_work() const { return queue_.front(); }
  bool works_on(ChunkId chunk) const { return !queue_.empty() && queue_.front() == chunk; }
  void enqueue(ChunkId chunk) { queue_.push_back(chunk); }
  void dequeue() { queue_.pop_front(); }

 private:
  std::deque<ChunkId> queue_;
};

}  // namespace certree::endpoint
