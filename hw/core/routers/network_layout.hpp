// A network of routers as plain columns: what is wired to what, how long it takes, how packets are routed.
#pragma once

#include <cstdint>
#include <vector>

#include "common/program.hpp"
#include "routers/pace.hpp"

namespace certree {

inline constexpr std::uint32_t kInterface = UINT32_MAX;  // the end of a channel that is a network interface
// Numbers of the sets of VCs of a class: 0 for all of them, then the halves below and above a dateline, then its layers.
inline constexpr std::uint32_t kLowerHalf = 1;
inline constexpr std::uint32_t kUpperHalf = 2;
inline constexpr std::uint32_t kMaxVcs = 64;
inline constexpr std::size_t kMostHops = UINT16_MAX;  // of a packet
inline constexpr std::uint64_t kMaxPace = 1U << 24U;  // cycles of a flit

// One step of a route: an output port and the set of VCs that the packet may use there. At its end a packet leaves by the port that
// belongs to the channel it came by, or by the one to interface `port - kEjectAt` of the router.
struct Hop {
  static constexpr std::uint32_t kEjectAt = 0x2000;
  static constexpr std::uint32_t kEjectPort = 0x3FFF;
  std::uint32_t code = kEjectPort;
  std::uint32_t port() const { return code & 0x3FFFU; }
  std::uint32_t vc_set() const { return code >> 14U; }
  bool is_ejection() const { return port() >= kEjectAt; }
};

enum class AllocatorKind : std::uint8_t { kIslip, kSeparable };

struct NetworkLayout {
  // Pipeline of a router, in cycles; the switch stage takes one at least.
  std::uint32_t route_cycles = 0;
  std::uint32_t vc_cycles = 0;
  std::uint32_t switch_cycles = 1;
  std::uint32_t traversal_cycles = 0;
  std::uint32_t credit_cycles = 0;  // from a credit's arrival at a router to its use
  std::uint32_t vcs = 1;            // per channel
  std::uint32_t buffer_flits = 1;   // per VC
  std::uint32_t allocator_iterations = 1;
  AllocatorKind allocator = AllocatorKind::kIslip;
  bool rotate_vcs = false;        // packets bid for the VC behind the one that their output gave away last, not for any
  bool reuse_when_empty = false;  // a VC is free again when its last credit is back, instead of when the tail leaves
  Pace pace;                      // of all channels
  std::uint32_t routers = 0;
  // Channels. Those that leave a router are its output ports in the order of their numbers; those that enter one are its input
  // ports in the order of `input_order`, which names every channel once.
  std::vector<std::uint32_t> channel_source;       // router, or kInterface
  std::vector<std::uint32_t> channel_destination;  // router, or kInterface
  std::vector<std::uint32_t> channel_latency;
  std::vector<std::uint32_t> input_order;
  std::vector<std::uint32_t> channel_ejection;  // where it ends: the output port that its packets leave the network by
  // The ring around which it leads, in one direction, where packets that go on around it by a table keep their half of the VCs;
  // kInterface elsewhere.
  std::vector<std::uint32_t> channel_ring;
  // Traffic classes.
  std::uint32_t vc_sets = 3;                     // sets of VCs of each class, at least up to the upper half
  std::vector<std::uint64_t> vc_mask;            // class · vc_sets + set -> VCs it may use
  std::vector<std::uint32_t> unit_flits;         // class -> so much of a packet must fit behind a VC that it takes (1: wormhole)
  std::vector<std::uint32_t> sub_message_flits;  // class -> flits of a sub-message; 0: its packets are ordinary ones
  // Routes.
  std::vector<std::uint16_t> table;  // router · routers + destination -> Hop; may be empty when all packets bring their route
  Lists routes;                      // source routes: Hop codes, the last one an ejection

  // Throws std::invalid_argument naming the first column that is inconsistent. O(size).
  void validate() const;
};

}  // namespace certree
