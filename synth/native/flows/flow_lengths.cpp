#include "flow_lengths.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <utility>

#include "shortest_paths.hpp"

namespace certree {
namespace {

constexpr int64_t kStart = 1 << 24;      // length of every arc at first
constexpr int64_t kLongest = 1LL << 36;  // lengths are halved beyond it: sums over paths and products with amounts fit
constexpr int32_t kLooks = 4;            // passes from one evaluation to the next

struct Bound {
  __int128 need = 0, volume = 1;
  bool operator>(const Bound& other) const { return need * other.volume > other.need * volume; }
};

class Lengths {
 public:
  Lengths(const LengthNetwork& network, const LengthDemand& demand)
      : network_(network),
        demand_(demand),
        length_(network.start),
        load_(network.capacity.size()),
        paths_(network.offset.size() - 1) {
    if (length_.empty()) length_.assign(network.capacity.size(), kStart);
    for (size_t i = 0; i < demand.source.size(); ++i) {
      if (i == 0 || demand.source[i] != demand.source[i - 1]) first_.push_back(i);
    }
    first_.push_back(demand.source.size());
  }

  size_t sources() const { return first_.size() - 1; }
  const std::vector<int64_t>& length() const { return length_; }

  // Whether all targets of a source can be reached; the amounts are added to `load_` along shortest paths where `routed`, and
  // their distances to `need`.
  bool send(size_t number, bool routed, __int128& need) {
    const size_t nodes = network_.offset.size() - 1;
    reached_.clear();
    const auto of_arc = [&](int32_t, int32_t arc) { return length_[network_.kind[arc]]; };
    paths_.search(network_, demand_.source[first_[number]], of_arc, [&](int32_t node) {
      reached_.push_back(node);
      return false;
    });
    amount_.assign(nodes, 0);
    for (size_t i = first_[number]; i < first_[number + 1]; ++i) {
      const int32_t target = demand_.target[i];
      if (paths_.distance(target) < 0) return false;
      amount_[target] += demand_.amount[i];
      need += static_cast<__int128>(demand_.amount[i]) * paths_.distance(target);
    }
    if (!routed) return true;
    std::fill(load_.begin(), load_.end(), 0);
    for (size_t i = reached_.size(); i-- > 1;) {
      const int32_t node = reached_[i];
      load_[network_.kind[paths_.via(node)]] += amount_[node];
      amount_[paths_.from(node)] += amount_[node];
    }
    return true;
  }

  // Rounds that the fullest arc takes for what one source sent.
  int64_t most() const {
    int64_t rounds = 1;
    for (size_t a = 0; a < load_.size(); ++a) rounds = std::max(rounds, load_[a] / network_.capacity[a]);
    return rounds;
  }

  // Arcs grow by what they carried; one that took `rounds` for it by one part in `parts`, or a little more for the fullest.
  void grow(int64_t rounds, int64_t parts) {
    int64_t longest = 0;
    for (size_t a = 0; a < load_.size(); ++a) {
      if (load_[a] == 0) continue;
      const __int128 more = static_cast<__int128>(length_[a]) * load_[a] / (static_cast<__int128>(network_.capacity[a]) * rounds);
      length_[a] += static_cast<int64_t>(std::min<__int128>(more / parts, length_[a]));
      longest = std::max(longest, length_[a]);
    }
    if (longest > kLongest) {
      for (auto& length : length_) length = std::max<int64_t>(1, length / 2);
    }
  }

  Bound bound() {
    Bound result;
    result.volume = 0;
    for (size_t number = 0; number < sources(); ++number) send(number, false, result.need);
    for (size_t a = 0; a < length_.size(); ++a) result.volume += static_cast<__int128>(length_[a]) * network_.capacity[a];
    // Both within 62 bits, so that products of two bounds fit.
    while (result.need > (static_cast<__int128>(1) << 62) || result.volume > (static_cast<__int128>(1) << 62)) {
      result.need /= 2;
      result.volume /= 2;
    }
    return result;
  }

 private:
  const LengthNetwork& network_;
  const LengthDemand& demand_;
  std::vector<size_t> first_;  // of each source, in `demand_`
  std::vector<int64_t> length_, load_, amount_;
  std::vector<int32_t> reached_;
  ShortestPaths paths_;
};

}  // namespace

std::vector<int64_t> flow_lengths(const LengthNetwork& network, const LengthDemand& demand, int32_t passes, int32_t first_parts,
                                  const std::function<void()>& each_pass) {
  Lengths lengths(network, demand);
  __int128 distances = 0;
  int64_t rounds = 1;
  for (size_t number = 0; number < lengths.sources(); ++number) {
    if (!lengths.send(number, true, distances)) return {};
    rounds = std::max(rounds, lengths.most());
  }
  auto best = lengths.length();
  auto most = lengths.bound();
  for (int32_t pass = 1; pass <= passes; ++pass) {
    each_pass();
    const auto parts = static_cast<int64_t>(first_parts * std::sqrt(static_cast<double>(pass)));
    for (size_t number = 0; number < lengths.sources(); ++number) {
      lengths.send(number, true, distances);
      lengths.grow(rounds, parts);
    }
    if (pass % kLooks != 0 && pass < passes) continue;
    const auto reached = lengths.bound();
    if (reached > most) {
      most = reached;
      best = lengths.length();
    }
  }
  return best;
}

}  // namespace certree
