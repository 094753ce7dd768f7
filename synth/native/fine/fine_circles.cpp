#include "fine_circles.hpp"

#include <algorithm>
#include <numeric>

namespace certree {

std::vector<int32_t> strong_parts(int32_t nodes, const std::vector<int32_t>& tail, const std::vector<int32_t>& head) {
  const auto count = static_cast<size_t>(nodes);
  std::vector<size_t> first(count + 1, 0);  // by node, of `out`
  for (const int32_t node : tail) ++first[node + 1];
  std::partial_sum(first.begin(), first.end(), first.begin());
  std::vector<size_t> next(first.begin(), first.end() - 1);
  std::vector<int32_t> out(head.size());
  for (size_t edge = 0; edge < head.size(); ++edge) out[next[tail[edge]]++] = head[edge];
  next.assign(first.begin(), first.end() - 1);  // by node, the edge to follow

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
      if (next[node] < first[node + 1]) {
        const int32_t other = out[next[node]++];
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
