// What every node holds: one integer for each chunk that it has room for.
#pragma once

#include <cstdint>
#include <span>

#include "common/types.hpp"

namespace certree {

// A view of a row-major array, shape (nodes, cells of a node), that belongs to the caller. Sums are modulo 2^64.
class Memory {
 public:
  Memory(std::span<std::uint64_t> cells, std::uint64_t cells_of_node) : cells_(cells), cells_of_node_(cells_of_node) {}
  std::uint64_t& at(NodeId node, std::uint64_t cell) { return cells_[node.value * cells_of_node_ + cell]; }

 private:
  std::span<std::uint64_t> cells_;
  std::uint64_t cells_of_node_;
};

}  // namespace certree
