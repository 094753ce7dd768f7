// In which order the chunks of several collectives are begun: the same at every node.
#pragma once

#include <vector>

#include "endpoint/units/state_machine.hpp"

namespace certree::endpoint {

// Commands of the accelerators: chunks `first` to `last` - 1 are asked for in cycle `start`, at all nodes.
struct Command {
  std::uint32_t first = 0;
  std::uint32_t last = 0;
  Cycle start;
};

// The node that is the first to be ready for another chunk chooses, of what is asked for by then: the oldest command, or the latest
// (LIFO). The others follow. Were each to choose for itself, their partitions could fill with different chunks, and they would wait
// for each other for ever (AceEngine.tla, `opposite`).
class LoadOrder {
 public:
  LoadOrder(std::vector<Command> commands, bool lifo) : commands_(std::move(commands)), lifo_(lifo) {
    for (const Command& command : commands_) next_.push_back(command.first);
  }

  // Whether there is a `place`-th chunk by now.
  bool knows(std::uint64_t place, Cycle now) {
    if (place < order_.size()) return true;
    std::size_t chosen = commands_.size();
    for (std::size_t i = 0; i < commands_.size(); ++i) {
      if (next_[i] == commands_[i].last || commands_[i].start > now) continue;
      const bool better = chosen == commands_.size() ||
                          (lifo_ ? commands_[i].start >= commands_[chosen].start : commands_[i].start < commands_[chosen].start);
      if (better) chosen = i;
    }
    if (chosen == commands_.size()) return false;
    order_.push_back({next_[chosen]++});
    return true;
  }

  // Whether there would be another one by now.
  bool has_more(Cycle now) const {
    for (std::size_t i = 0; i < commands_.size(); ++i) {
      if (next_[i] < commands_[i].last && commands_[i].start <= now) return true;
    }
    return false;
  }

  ChunkId operator[](std::uint64_t place) const { return order_[place]; }
  const std::vector<Command>& commands() const { return commands_; }

 private:
  std::vector<Command> commands_;
  std::vector<std::uint32_t> next_;  // of each command: the first chunk that is not in the order yet
  std::vector<ChunkId> order_;
  bool lifo_;
};

}  // namespace certree::endpoint
