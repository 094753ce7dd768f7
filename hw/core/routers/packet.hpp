// Packets, and the kinds of flits they consist of.
#pragma once

#include <cstdint>
#include <vector>

#include "common/types.hpp"

namespace certree {

using PacketId = Id<struct PacketTag>;
inline constexpr PacketId kNoPacket{UINT32_MAX};

// Type codes in a flit's header (MultiTree paper, Table II). A packet is head, bodies, tail; a message ends each sub-message but
// the last with a sub-tail and has no tail of its own before the very end.
enum class FlitCode : std::uint8_t {
  kMessageHead = 0b000,
  kMessageBody = 0b001,
  kSubTail = 0b010,
  kMessageTail = 0b011,
  kHead = 0b100,
  kBody = 0b101,
  kTail = 0b110,
  kHeadTail = 0b111,
};

// The code of flit `index` of `flits`; `sub_message_flits` zero: an ordinary packet, as is a message of one flit.
constexpr FlitCode flit_code(std::uint32_t index, std::uint32_t flits, std::uint32_t sub_message_flits) {
  const bool is_first = index == 0, is_last = index + 1 == flits;
  if (sub_message_flits == 0 || flits == 1) {
    if (is_first) return is_last ? FlitCode::kHeadTail : FlitCode::kHead;
    return is_last ? FlitCode::kTail : FlitCode::kBody;
  }
  if (is_first) return FlitCode::kMessageHead;
  if (is_last) return FlitCode::kMessageTail;
  return (index + 1) % sub_message_flits == 0 ? FlitCode::kSubTail : FlitCode::kMessageBody;
}

inline constexpr std::size_t kFlitCodes = 8;

constexpr bool opens_route(FlitCode code) {
  return code == FlitCode::kMessageHead || code == FlitCode::kHead || code == FlitCode::kHeadTail;
}
constexpr bool closes_route(FlitCode code) {
  return code == FlitCode::kMessageTail || code == FlitCode::kTail || code == FlitCode::kHeadTail;
}

inline constexpr std::uint32_t kTableRouted = UINT32_MAX;

// A packet or a message: one head flit that opens a route, and whatever follows it.
struct alignas(64) Packet {
  std::uint32_t injector = 0;
  std::uint32_t destination = 0;  // router of the receiving node
  std::uint32_t flits = 0;
  std::uint32_t route = kTableRouted;  // first hop in the list of source routes
  std::uint32_t before = 0;            // flits of the packets of its message before it
  std::uint32_t owner = 0;             // the caller's, for instance the message that it carries a part of
  std::uint16_t traffic_class = 0;
  std::uint16_t hop = 0;       // hops that are used up
  std::uint32_t priority = 0;  // of packets behind one input port that want one output, the highest goes first
  std::uint64_t number = 0;    // the caller's, by which a trace names it
  Cycle release;               // from when on it may be sent
  Cycle head = kNever;         // when its first flit was received
  Cycle tail = kNever;         // when its last flit was received
};

using PacketTable = std::vector<Packet>;

}  // namespace certree
