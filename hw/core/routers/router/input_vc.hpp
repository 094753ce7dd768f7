// One virtual channel at the receiving end of a channel: its buffer and what its first packet is doing.
#pragma once

#include "common/queue.hpp"
#include "routers/packet.hpp"

namespace certree {

enum class VcState : std::uint8_t { kIdle, kRouting, kWaiting, kActive };

// Flits of a packet arrive in order, so the buffer is a count and the packets whose heads are in it.
struct InputVc {
  std::uint16_t port = 0;
  std::uint8_t vc = 0;
  VcState state = VcState::kIdle;
  std::uint32_t flits = 0;     // in the buffer
  PacketId front = kNoPacket;  // the packet whose flits leave next
  std::uint32_t length = 0;    // flits of `front`
  std::uint32_t left = 0;      // those of them that have not left yet
  std::uint32_t sub_message_flits = 0;
  std::uint32_t priority = 0;
  std::uint16_t output = 0;    // port, once routed
  std::uint8_t output_vc = 0;  // once allocated
  std::uint32_t needed = 1;    // credits that a VC of the output must have
  std::uint64_t wanted = 0;    // VCs of the output that the packet may take
  Queue<PacketId> behind;      // packets behind `front` whose heads are here
  std::uint64_t sent = 0;      // flits that have left, of all packets
};

}  // namespace certree
