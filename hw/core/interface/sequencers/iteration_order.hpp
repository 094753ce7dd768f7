// In which order, and from which steps on, the nodes of a run begin iterations, where that is not known from the start.
#pragma once

#include <algorithm>

#include "common/types.hpp"

namespace certree {

struct Begun {
  std::uint32_t iteration;
  std::uint64_t first_step;  // of its rows, on the timestep counters of all nodes
  bool is_fresh;             // nothing was left to begin before it was asked for
};

// One for all nodes.
class IterationOrder {
 public:
  virtual ~IterationOrder() = default;
  // The `place`-th iteration; null where it is not known by now. One that no node has chosen is chosen where the counter of the
  // asking node, at `step`, has come to it, or where the node is idle: all rows that it knows of have fired.
  virtual const Begun* at(std::uint64_t place, Cycle now, std::uint64_t step, bool is_idle) = 0;
  virtual bool is_asked_for(std::uint32_t iteration, Cycle now) const = 0;
  // A timestep counter has come to a step.
  void note_step(std::uint64_t step) { furthest_ = std::max(furthest_, step); }

 protected:
  std::uint64_t furthest_ = 0;
};

}  // namespace certree
