// Several collectives in one run of tables: which iterations are whose, and in which order nodes begin them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "endpoint/units/load_order.hpp"

namespace certree::endpoint {

// Iterations of all collectives execute the same tables. The order is that of LoadOrder, the same at every node, or a stated one,
// that of another run.
class Collectives {
 public:
  Collectives(std::vector<Command> commands, bool lifo, std::vector<std::uint32_t> stated)
      : order_(std::move(commands), lifo), stated_(std::move(stated)), ends_(order_.commands().size()) {}

  // Whether there is a `place`-th iteration to begin by now, and which one.
  bool knows(std::uint64_t place, Cycle now) {
    if (stated_.empty()) return order_.knows(place, now);
    return place < stated_.size() && asked_for(stated_[place]) <= now;
  }
  std::uint32_t operator[](std::uint64_t place) const { return stated_.empty() ? order_[place].value : stated_[place]; }
  const std::vector<Command>& commands() const { return order_.commands(); }
  const std::vector<std::uint32_t>& stated() const { return stated_; }

  Cycle asked_for(std::uint32_t iteration) const { return commands()[collective_of(iteration)].start; }
  // An iteration is over at a node.
  void note_end(std::uint32_t iteration, Cycle now) {
    Cycle& end = ends_[collective_of(iteration)];
    end = std::max(end, now);
  }
  const std::vector<Cycle>& ends() const { return ends_; }  // of each collective, at the last node so far

 private:
  std::size_t collective_of(std::uint32_t iteration) const {
    const auto found = std::upper_bound(commands().begin(), commands().end(), iteration,
                                        [](std::uint32_t number, const Command& command) { return number < command.last; });
    return static_cast<std::size_t>(found - commands().begin());
  }

  LoadOrder order_;
  std::vector<std::uint32_t> stated_;
  std::vector<Cycle> ends_;
};

}  // namespace certree::endpoint
