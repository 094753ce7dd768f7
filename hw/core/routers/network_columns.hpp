// A network of routers from numpy columns.
#pragma once

#include "common/columns.hpp"
#include "routers/network_layout.hpp"

namespace certree {

inline NetworkLayout read_layout(const nanobind::mapping& scalars, const nanobind::mapping& columns) {
  const auto number = [&](const char* name) { return scalar<std::uint32_t>(scalars, name); };
  NetworkLayout layout;
  layout.route_cycles = number("route_cycles");
  layout.vc_cycles = number("vc_cycles");
  layout.switch_cycles = number("switch_cycles");
  layout.traversal_cycles = number("traversal_cycles");
  layout.credit_cycles = number("credit_cycles");
  layout.vcs = number("vcs");
  layout.buffer_flits = number("buffer_flits");
  layout.allocator_iterations = number("allocator_iterations");
  layout.allocator = numbered<AllocatorKind>("allocator", number("allocator"), {"islip", "separable"});
  layout.rotate_vcs = flag(scalars, "rotate_vcs");
  layout.reuse_when_empty = flag(scalars, "reuse_when_empty");
  layout.pace = {scalar<std::uint64_t>(scalars, "pace_top"), scalar<std::uint64_t>(scalars, "pace_bottom")};
  layout.routers = number("routers");
  layout.channel_source = column<std::uint32_t>(columns, "channel_source");
  layout.channel_destination = column<std::uint32_t>(columns, "channel_destination");
  layout.channel_latency = column<std::uint32_t>(columns, "channel_latency");
  layout.input_order = column<std::uint32_t>(columns, "input_order");
  layout.channel_ejection = column<std::uint32_t>(columns, "channel_ejection");
  layout.channel_ring = column<std::uint32_t>(columns, "channel_ring");
  layout.vc_sets = number("vc_sets");
  layout.vc_mask = column<std::uint64_t>(columns, "vc_mask");
  layout.unit_flits = column<std::uint32_t>(columns, "unit_flits");
  layout.sub_message_flits = column<std::uint32_t>(columns, "sub_message_flits");
  layout.table = column<std::uint16_t>(columns, "table");
  layout.routes = {column<std::uint32_t>(columns, "route_begin"), column<std::uint32_t>(columns, "route_hops")};
  return layout;
}

}  // namespace certree
