// The packets of a network that cannot move, as rows for Python.
#pragma once

#include <tuple>
#include <vector>

#include "routers/network/flit_network.hpp"

namespace certree {

using BlockedRow = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>;

// (packet, router, channel, VC, wanted channel, VC held of it) of everything that cannot go on.
inline std::vector<BlockedRow> blocked_packets(const FlitNetwork& network) {
  std::vector<BlockedRow> rows;
  for (const BlockedPacket& entry : network.blocked()) {
    rows.emplace_back(entry.packet.value, entry.router, entry.channel, entry.vc, entry.output_channel, entry.output_vc);
  }
  return rows;
}

}  // namespace certree
