// What every node holds: one integer for each chunk of each iteration.
#pragma once

#include <cstdint>
#include <span>

#include "common/types.hpp"

namespace certree {

// A view of a row-major array, shape (nodes, chunks of all iterations), that belongs to the caller. Sums are modulo 2^64.
class Memory {
 public:
  Memory(std::span<std::uint64_t> cells, std::uint64_t chunks) : cells_(cells), chunks_(chunks) {}
  std::uint64_t& at(NodeId node, std::uint64_t chunk) { return cells_[node.value * chunks_ + chunk]; }

 private:
  std::span<std::uint64_t> cells_;
  std::uint64_t chunks_;
};

}  // namespace certree
