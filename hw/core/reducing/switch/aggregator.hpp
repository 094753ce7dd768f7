// The aggregators of one flow at one switch: bitmap, packet buffer and value of each as separate arrays (NetReduce, Appendix C).
#pragma once

#include "reducing/switch/aggregation_values.hpp"
#include "reducing/switch/combinator.hpp"
#include "reducing/switch/occupancy.hpp"

namespace certree {

// Memory O(places · children). A place is in use from its first contribution until its result is known.
class Aggregator {
 public:
  Aggregator(std::uint32_t places, std::vector<EdgeId> below, std::optional<EdgeId> above);

  // A contribution has gone through the adder; appends what is to be sent. O(1 + packets sent), O(children) when a place begins
  // again.
  Ruling add(const AggregationPacket& packet, std::uint32_t child, Cycle now, Occupancy& used, std::vector<AggregationPacket>& out);
  // A result has come from above.
  Ruling pass(const AggregationPacket& packet, Cycle now, Occupancy& used, std::vector<AggregationPacket>& out);

  const StateManager& state() const { return state_; }
  const std::vector<EdgeId>& below() const { return below_; }
  const std::optional<EdgeId>& above() const { return above_; }

 private:
  std::vector<EdgeId> below_;
  std::optional<EdgeId> above_;
  StateManager state_;
  HeaderBuffer headers_;
  AggregationValues values_;
  Combinator combinator_;
};

}  // namespace certree
