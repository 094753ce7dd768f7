#include "known_units.hpp"

#include <algorithm>

namespace certree {

std::vector<int32_t> known_units(const Units& units, size_t nodes) {
  std::vector<int32_t> known(units.source.size() * nodes, 0);
  std::vector<int64_t> latest(nodes, -1);  // by node its last unit so far
  for (size_t unit = 0; unit < units.source.size(); ++unit) {
    int32_t* row = known.data() + unit * nodes;
    const auto learn = [&](int64_t other) {
      const int32_t* from = known.data() + static_cast<size_t>(other) * nodes;
      for (size_t node = 0; node < nodes; ++node) row[node] = std::max(row[node], from[node]);
    };
    const auto source = static_cast<size_t>(units.source[unit]);
    if (latest[source] >= 0) learn(latest[source]);
    for (int64_t at = units.low[unit]; at < units.high[unit]; ++at) learn(units.arrivals[static_cast<size_t>(at)]);
    row[source] = static_cast<int32_t>(units.place[unit]) + 1;
    latest[source] = static_cast<int64_t>(unit);
  }
  return known;
}

}  // namespace certree
