// What waits for each other in a circle.
#pragma once

#include <cstdint>
#include <vector>

namespace certree {

// By node of a graph the number of its strongly connected component (Tarjan's algorithm); edges lead from `tail` to `head`.
// O(nodes + edges).
std::vector<int32_t> strong_parts(int32_t nodes, const std::vector<int32_t>& tail, const std::vector<int32_t>& head);

}  // namespace certree
