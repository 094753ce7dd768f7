// Faults of the network: packets that it loses, duplicates or delays.
#pragma once

#include "common/splitmix.hpp"
#include "reducing/aggregation_packet.hpp"

namespace certree {

struct Fate {
  bool is_lost = false;
  bool is_copied = false;       // the network makes a copy of it, which arrives whatever becomes of the packet itself
  std::uint64_t late = 0;       // cycles
  std::uint64_t copy_late = 0;  // cycles, of the copy
};

// The fate of a packet depends on the seed, its edge and direction, and on how many went there before it, and on nothing else:
// engines that send the same packets lose the same.
class PacketFaults {
 public:
  // A packet is lost when a draw of 64 bits is below `loss`, copied likewise, and up to `latest` cycles late, each equally likely.
  PacketFaults(std::uint64_t seed, std::uint64_t loss, std::uint64_t copies, std::uint64_t latest)
      : seed_(seed), loss_(loss), copies_(copies), latest_(latest) {}

  Fate fate(EdgeId edge, bool is_up, std::uint64_t before) const {
    if (loss_ == 0 && copies_ == 0 && latest_ == 0) return {};
    const std::uint64_t packet =
        splitmix64(splitmix64(splitmix64(seed_) + 2 * std::uint64_t{edge.value} + (is_up ? 1 : 0)) + before);
    Fate fate;
    fate.is_lost = draw(packet, 1) < loss_;
    fate.is_copied = draw(packet, 2) < copies_;
    if (latest_ > 0) {
      fate.late = draw(packet, 3) % (latest_ + 1);
      fate.copy_late = draw(packet, 4) % (latest_ + 1);
    }
    return fate;
  }

 private:
  static std::uint64_t draw(std::uint64_t packet, std::uint64_t which) { return splitmix64(packet + which); }

  std::uint64_t seed_;
  std::uint64_t loss_;
  std::uint64_t copies_;
  std::uint64_t latest_;
};

}  // namespace certree
