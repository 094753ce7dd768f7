#include "fine_routes.hpp"

#include <algorithm>
#include <utility>

namespace certree {
namespace {

using Route = std::vector<int32_t>;

class Rerouting {
 public:
  explicit Rerouting(const FineNetwork& network)
      : network_(network),
        out_(network.forwards.size()),
        into_(network.forwards.size()),
        left_(network.forwards.size()),
        load_(network.src.size(), 0),
        cost_(network.forwards.size(), 0),
        last_(network.forwards.size(), -1),
        is_reached_(network.forwards.size(), 0) {
    for (size_t link = 0; link < network.src.size(); ++link) {
      out_[network.src[link]].push_back(static_cast<int32_t>(link));
      into_[network.dst[link]].push_back(network.src[link]);
    }
  }

  bool joins(int32_t here, int32_t there) { return hops(there)[here] >= 0; }

  // The shortest route where there is one only; false where there are several.
  bool only(int32_t here, int32_t there, Route& route) {
    const auto& left = hops(there);
    route.clear();
    for (int32_t node = here; node != there;) {
      int32_t found = -1;
      for (const int32_t link : out_[node]) {
        if (!leads(link, there, left[node] - 1)) continue;
        if (found >= 0) return false;
        found = link;
      }
      route.push_back(found);
      node = network_.dst[found];
    }
    return true;
  }

  // The shortest route whose links have the least sum of squares of their loads; of equal ones the first.
  Route least(int32_t here, int32_t there) {
    const int32_t length = hops(there)[here];
    std::vector<int32_t> level{here}, next;
    cost_[here] = 0;
    for (int32_t rest = length - 1; rest >= 0; --rest) {
      for (const int32_t node : level) {
        for (const int32_t link : out_[node]) {
          if (leads(link, there, rest)) reach(link, cost_[node], next);
        }
      }
      for (const int32_t node : next) is_reached_[node] = 0;
      level.clear();
      std::swap(level, next);
    }
    Route route(length);
    for (int32_t node = there, place = length; place > 0; node = network_.src[route[place]]) route[--place] = last_[node];
    return route;
  }

  void add(const Route& route, int64_t messages) {
    for (const int32_t link : route) load_[link] += messages;
  }

 private:
  bool leads(int32_t link, int32_t there, int32_t rest) const {
    const int32_t to = network_.dst[link];
    return rest >= 0 && left_[there][to] == rest && (to == there || network_.forwards[to]);
  }

  void reach(int32_t link, int64_t before, std::vector<int32_t>& next) {
    const int32_t to = network_.dst[link];
    const int64_t cost = before + ((2 * load_[link] + 1) << 16) / network_.capacity[link];
    if (!is_reached_[to]) {
      is_reached_[to] = 1;
      next.push_back(to);
    } else if (cost >= cost_[to]) {
      return;
    }
    cost_[to] = cost;
    last_[to] = link;
  }

  // By node the hops to another one, through nodes that forward; -1 where there is no way.
  const std::vector<int32_t>& hops(int32_t there) {
    auto& left = left_[there];
    if (!left.empty()) return left;
    left.assign(network_.forwards.size(), -1);
    left[there] = 0;
    std::vector<int32_t> level{there};
    while (!level.empty()) {
      std::vector<int32_t> found;
      for (const int32_t node : level) {
        for (const int32_t tail : into_[node]) {
          if (left[tail] >= 0) continue;
          left[tail] = left[node] + 1;
          if (network_.forwards[tail]) found.push_back(tail);
        }
      }
      level = std::move(found);
    }
    return left;
  }

  const FineNetwork& network_;
  std::vector<Route> out_;                  // by node its links
  std::vector<std::vector<int32_t>> into_;  // by node those from which links come
  std::vector<std::vector<int32_t>> left_;  // by node that has been asked for
  std::vector<int64_t> load_, cost_;        // by link; by node
  std::vector<int32_t> last_;               // by node the last link to it
  std::vector<uint8_t> is_reached_;
};

}  // namespace

FineRoutes even_routes(const FineNetwork& network, const std::vector<int32_t>& src, const std::vector<int32_t>& dst,
                       int32_t sweeps) {
  Rerouting rerouting(network);
  std::vector<Route> routes(src.size());
  std::vector<size_t> open;  // pairs with a choice
  for (size_t pair = 0; pair < src.size(); ++pair) {
    if (!rerouting.joins(src[pair], dst[pair])) return {{}, static_cast<int64_t>(pair)};
    if (!rerouting.only(src[pair], dst[pair], routes[pair])) {
      routes[pair] = rerouting.least(src[pair], dst[pair]);
      open.push_back(pair);
    }
    rerouting.add(routes[pair], 1);
  }
  for (int32_t sweep = 1; sweep < sweeps; ++sweep) {
    for (const size_t pair : open) {
      rerouting.add(routes[pair], -1);
      routes[pair] = rerouting.least(src[pair], dst[pair]);
      rerouting.add(routes[pair], 1);
    }
  }
  FineRoutes found;
  found.routes.offset.push_back(0);
  for (const Route& route : routes) {
    found.routes.value.insert(found.routes.value.end(), route.begin(), route.end());
    found.routes.offset.push_back(static_cast<int32_t>(found.routes.value.size()));
  }
  return found;
}

}  // namespace certree
