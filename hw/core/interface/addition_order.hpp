// Whether operands are added in the stated order.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "common/program.hpp"
#include "interface/message.hpp"

namespace certree {

// A message whose operand was added after one of its cell and iteration that has a later turn.
struct OrderFault {
  std::uint32_t message;
  std::uint32_t iteration;
  std::uint32_t later_turn;
};

// Compares the turn of each operand with the latest one of its cell. Memory: 8 bytes for each cell, none without a stated order.
class AdditionOrder {
 public:
  explicit AdditionOrder(const Program& program)
      : program_(program), latest_(program.message_turn.empty() ? 0 : program.nodes * program.cells) {}

  void note(const Message& message) {
    if (latest_.empty()) return;
    std::uint64_t& latest = latest_[message.destination.value * program_.cells + message.cell];
    const std::uint32_t turn = program_.message_turn[message.index];
    const std::uint64_t now = std::uint64_t{message.iteration} << 32 | turn;  // iterations never use a cell at the same time
    if (now < latest) {
      if (++count_ <= kKept) faults_.push_back({message.index, message.iteration, static_cast<std::uint32_t>(latest)});
    }
    latest = std::max(latest, now);
  }

  std::uint64_t count() const { return count_; }
  const std::vector<OrderFault>& faults() const { return faults_; }  // the first ones

 private:
  static constexpr std::uint64_t kKept = 8;
  const Program& program_;
  std::vector<std::uint64_t> latest_;
  std::uint64_t count_ = 0;
  std::vector<OrderFault> faults_;
};

}  // namespace certree
