#include "routers/network_layout.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace certree {
namespace {

void require(bool holds, const char* what) {
  if (!holds) throw std::invalid_argument(std::string("router network: ") + what);
}

}  // namespace

void NetworkLayout::validate() const {
  require(routers > 0 && vcs > 0 && vcs <= kMaxVcs && buffer_flits > 0, "routers, vcs or buffer_flits out of range");
  require(switch_cycles > 0 && allocator_iterations > 0, "switch_cycles or allocator_iterations is zero");
  require(pace.end(1) > 0 && pace.end(1) <= kMaxPace, "pace");
  const std::size_t channels = channel_source.size();
  require(channel_destination.size() == channels && channel_latency.size() == channels && channel_ejection.size() == channels &&
              channel_ring.size() == channels && input_order.size() == channels,
          "channel columns of different lengths");
  std::vector<bool> is_ordered(channels);
  for (const std::uint32_t channel : input_order) {
    require(channel < channels && !is_ordered[channel], "input_order");
    is_ordered[channel] = true;
  }
  std::vector<std::uint32_t> outputs(routers);
  for (std::size_t channel = 0; channel < channels; ++channel) {
    const std::uint32_t source = channel_source[channel], destination = channel_destination[channel];
    require(source < routers || source == kInterface, "channel_source");
    require(destination < routers || destination == kInterface, "channel_destination");
    require(source != kInterface || destination != kInterface, "a channel between two interfaces");
    if (source != kInterface) ++outputs[source];
  }
  for (std::size_t channel = 0; channel < channels; ++channel) {
    const std::uint32_t router = channel_destination[channel];
    if (router == kInterface || channel_ejection[channel] == kInterface) continue;  // kInterface: nothing is ejected from there
    require(channel_ejection[channel] < outputs[router], "channel_ejection");
  }
  require(!vc_mask.empty() && vc_sets > kUpperHalf && vc_mask.size() == unit_flits.size() * vc_sets, "vc_mask");
  const std::uint64_t all = vcs == kMaxVcs ? ~std::uint64_t{0} : (std::uint64_t{1} << vcs) - 1;
  for (const std::uint64_t mask : vc_mask) require(mask != 0 && (mask & ~all) == 0, "vc_mask");
  for (const std::uint32_t unit : unit_flits) require(unit > 0, "unit_flits");
  require(sub_message_flits.size() == unit_flits.size(), "sub_message_flits");
  require(table.empty() || (routers < kMostHops && table.size() == std::size_t{routers} * routers), "table");
  for (std::size_t entry = 0; entry < table.size(); ++entry) {
    const Hop hop{table[entry]};
    require(hop.vc_set() < vc_sets, "table");
    require(hop.is_ejection() || hop.port() < outputs[entry / routers], "table");
  }
  require(!routes.begin.empty() && routes.begin.front() == 0 && routes.begin.back() == routes.values.size(), "routes");
  for (std::size_t route = 0; route + 1 < routes.begin.size(); ++route) {
    require(routes.begin[route] < routes.begin[route + 1], "routes");
    require(routes.begin[route + 1] - routes.begin[route] <= kMostHops, "routes");
    for (std::uint32_t at = routes.begin[route]; at < routes.begin[route + 1]; ++at) {
      const Hop hop{routes.values[at]};
      require(hop.vc_set() < vc_sets && hop.is_ejection() == (at + 1 == routes.begin[route + 1]), "routes");
    }
  }
}

}  // namespace certree
