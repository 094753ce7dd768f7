#include "fine_circles.hpp"

#include <algorithm>

#include "fine/fine_booking.hpp"

namespace certree {

std::vector<int32_t> strong_parts(int32_t nodes, const std::vector<int32_t>& tail, const std::vector<int32_t>& head) {
  const auto count = static_cast<size_t>(nodes);
  const Ragged out = grouped(count, tail, head);
  std::vector<int32_t> next(out.offset.begin(), out.offset.end() - 1);  // by node, the edge to follow

  std::vector<int32_t> found(count, -1), low(count, -1), part(count, -1), open, path;
  int32_t visited = 0, parts = 0;
  const auto visit = [&](int32_t node) {
    found[node] = low[node] = visited++;
    open.push_back(node);
    path.push_back(node);
  };
  for (int32_t start = 0; start < nodes; ++start) {
    if (found[start] < 0) visit(start);
    while (!path.empty()) {
      const int32_t node = path.back();
      if (next[node] < out.offset[node + 1]) {
        const int32_t other = out.value[next[node]++];
        if (found[other] < 0) {
          visit(other);
        } else if (part[other] < 0) {
          low[node] = std::min(low[node], found[other]);
        }
        continue;
      }
      path.pop_back();
      if (!path.empty()) low[path.back()] = std::min(low[path.back()], low[node]);
      if (low[node] < found[node]) continue;
      while (part[node] < 0) {
        part[open.back()] = parts;
        open.pop_back();
      }
      ++parts;
    }
  }
  return part;
}

}  // namespace certree
