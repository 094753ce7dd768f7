// One virtual channel at the receiving end of a channel: its buffer and what its first packet is doing.
#pragma once

#include <deque>

#include "packet.hpp"

namespace certree {

enum class VcState : std::uint8_t { kIdle, kRouting, kWaiting, kActive };

// Flits of a packet arrive in order, so the buffer is a count and the packets whose heads are in it.
struct InputVc {
  VcState state = VcState::kIdle;
  bool head_is_next = false;    // `front` has not started to leave
  std::uint32_t flits = 0;      // in the buffer
  PacketId front = kNoPacket;   // the packet whose flits leave next
  std::uint32_t left = 0;       // flits of `front` that have not left yet
  std::uint32_t output = 0;     // port, once routed
  std::uint32_t output_vc = 0;  // once allocated
  std::uint64_t wanted = 0;     // VCs of the output that the packet may take
  std::uint32_t needed = 1;     // credits that such a VC must have
  std::deque<PacketId> behind;  // packets behind `front` whose heads are here
};

}  // namespace certree
