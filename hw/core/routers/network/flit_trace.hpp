// What every flit and credit did, step by step, for checks against the specification of routers.
#pragma once

#include <vector>

#include "routers/packet.hpp"

namespace certree {

enum class FlitStep : std::uint8_t { kTake, kSend, kEject, kCredit };

// A packet takes a VC of a channel, one of its flits goes into it or is taken by the interface at its end, or a credit of it is
// back.
struct FlitEvent {
  Cycle cycle;
  std::uint32_t channel;
  std::uint32_t packet;  // in the order in which packets came to their interfaces; of a credit 0
  std::uint32_t flit;    // from 0; of a taken VC and of a credit 0
  std::uint8_t vc;
  FlitStep step;
};

// O(1) a step, memory O(steps).
class FlitTrace {
 public:
  // A packet at its interface; its number may have been that of another packet before.
  void open(PacketId id, const Packet& packet) {
    if (id.value >= number_.size()) number_.resize(id.value + std::size_t{1});
    number_[id.value] = static_cast<std::uint32_t>(packets_.size());
    packets_.push_back(packet);
  }
  void take(Cycle now, std::uint32_t channel, std::uint32_t vc, PacketId packet) {
    note(now, channel, vc, number_[packet.value], 0, FlitStep::kTake);
  }
  void send(Cycle now, std::uint32_t channel, std::uint32_t vc, PacketId packet, std::uint32_t flit) {
    note(now, channel, vc, number_[packet.value], flit, FlitStep::kSend);
  }
  void eject(Cycle now, std::uint32_t channel, std::uint32_t vc, PacketId packet, std::uint32_t flit) {
    note(now, channel, vc, number_[packet.value], flit, FlitStep::kEject);
  }
  void credit(Cycle now, std::uint32_t channel, std::uint32_t vc) { note(now, channel, vc, 0, 0, FlitStep::kCredit); }

  const std::vector<Packet>& packets() const { return packets_; }
  const std::vector<FlitEvent>& events() const { return events_; }

 private:
  void note(Cycle now, std::uint32_t channel, std::uint32_t vc, std::uint32_t packet, std::uint32_t flit, FlitStep step) {
    events_.push_back({now, channel, packet, flit, static_cast<std::uint8_t>(vc), step});
  }

  std::vector<std::uint32_t> number_;  // of packets
  std::vector<Packet> packets_;
  std::vector<FlitEvent> events_;
};

}  // namespace certree
