// In which order lanes carried messages in one run, and a run that keeps to it.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <unordered_map>
#include <vector>

#include "common/program.hpp"

namespace certree {

// A use is a hop of a message: iteration · (hops of all messages) + the hop among them. Those of lane l, in order, are
// uses[begin[l]] up to uses[begin[l + 1]].
struct LaneOrder {
  std::vector<std::uint64_t> begin;
  std::vector<std::uint64_t> uses;
};

// Hands messages to their lanes in a stated order, however early others ask. Memory O(uses).
class OrderedLanes {
 public:
  // Throws std::invalid_argument unless every hop of every message has its one use.
  OrderedLanes(LaneOrder order, const Program& program) : order_(std::move(order)), next_(order_.begin) {
    const std::uint64_t uses = std::uint64_t{program.repeats} * program.message_hops.values.size();
    if (order_.begin.size() != std::size_t{program.bundle_begin.back()} + 1 || order_.begin.front() != 0 ||
        order_.begin.back() != uses || order_.uses.size() != uses) {
      throw std::invalid_argument("order of lanes: another number of lanes or uses");
    }
    lane_of_.assign(uses, UINT32_MAX);
    for (std::uint32_t lane = 0; lane + 1 < order_.begin.size(); ++lane) {
      if (order_.begin[lane] > order_.begin[lane + 1]) throw std::invalid_argument("order of lanes: bounds");
      for (std::uint64_t i = order_.begin[lane]; i < order_.begin[lane + 1]; ++i) {
        if (order_.uses[i] >= uses || lane_of_[order_.uses[i]] != UINT32_MAX) throw std::invalid_argument("order of lanes: uses");
        lane_of_[order_.uses[i]] = lane;
      }
    }
  }

  LaneId lane_of(std::uint64_t use) const { return {lane_of_[use]}; }
  void ask(std::uint64_t use, MessageId message) { asked_.emplace(use, message); }
  // The message whose turn it is on a lane, if it has asked.
  std::optional<MessageId> take(LaneId lane) {
    if (next_[lane.value] == order_.begin[lane.value + 1]) return std::nullopt;
    const auto found = asked_.find(order_.uses[next_[lane.value]]);
    if (found == asked_.end()) return std::nullopt;
    const MessageId message = found->second;
    asked_.erase(found);
    ++next_[lane.value];
    return message;
  }

 private:
  LaneOrder order_;
  std::vector<std::uint64_t> next_;  // of each lane
  std::vector<std::uint32_t> lane_of_;
  std::unordered_map<std::uint64_t, MessageId> asked_;
};

}  // namespace certree
