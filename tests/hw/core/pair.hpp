// The smallest network there is.
#pragma once

#include <cstdint>

#include "routers/network_layout.hpp"

namespace certree {

// Router 0, its interface, a link to router 1 and its interface; every stage and wire a cycle long.
inline NetworkLayout pair_layout(std::uint32_t vcs, std::uint32_t buffer_flits) {
  NetworkLayout layout;
  layout.route_cycles = layout.vc_cycles = layout.traversal_cycles = 1;
  layout.vcs = vcs;
  layout.buffer_flits = buffer_flits;
  layout.routers = 2;
  layout.channel_source = {0, kInterface, kInterface, 0, 1};
  layout.channel_destination = {1, 0, 1, kInterface, kInterface};
  layout.channel_latency = {1, 1, 1, 1, 1};
  layout.input_order = {0, 1, 2, 3, 4};
  layout.channel_ejection = {0, 1, 0, kInterface, kInterface};
  layout.channel_ring.assign(5, kInterface);
  const std::uint64_t every = (std::uint64_t{1} << vcs) - 1;
  layout.vc_mask = {every, every, every};
  layout.unit_flits = {1};
  layout.sub_message_flits = {0};
  layout.table = {Hop::kEjectPort, 0, Hop::kEjectPort, Hop::kEjectPort};
  layout.routes = {{0}, {}};
  return layout;
}

}  // namespace certree
