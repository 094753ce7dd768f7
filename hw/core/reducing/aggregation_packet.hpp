// What hosts and reducing switches send each other: contributions up a tree, results down.
#pragma once

#include <cstdint>

#include "common/types.hpp"

namespace certree {

using EdgeId = Id<struct EdgeTag>;  // a child and its parent in the tree of one flow

struct AggregationPacket {
  EdgeId edge;
  bool is_up = false;        // from child to parent
  std::uint32_t number = 0;  // of its flow, never used again
  std::uint64_t value = 0;   // the integer that it moves
};

}  // namespace certree
