#include "routers/network/injector.hpp"

#include <algorithm>
#include <bit>

namespace certree {

Injector::Injector(const NetworkLayout& layout, std::uint32_t channel, RoutingUnit& routing, Wires& wires)
    : channel_(channel),
      routing_(routing),
      wires_(wires),
      vcs_(layout.vcs, layout.buffer_flits, layout.reuse_when_empty),
      classes_(layout.unit_flits.size()) {}

void Injector::enqueue(PacketId packet, std::uint32_t traffic_class) {
  Class& entry = classes_[traffic_class];
  const std::uint32_t flits = routing_.flits(packet);
  if (entry.packets.empty()) entry.length = entry.left = flits;
  entry.packets.push_back(packet);
  backlog_ += flits;
  entry.backlog += flits;
  entry.cycles += routing_.cycles(packet);
}

PacketId Injector::front(std::uint32_t traffic_class) const {
  const Class& entry = classes_[traffic_class];
  return entry.packets.empty() ? kNoPacket : entry.packets.front();
}

std::uint32_t Injector::choose_vc(const Class& entry) const {
  const PacketId packet = entry.packets.front();
  const std::uint64_t wanted = routing_.vcs(packet, 0);
  const std::uint64_t found = vcs_.with_credits(vcs_.free() & wanted, std::min(routing_.unit_flits(packet), entry.left));
  if (found == 0) return kNoVc;
  const std::uint64_t ahead = entry.last_vc == kNoVc || entry.last_vc + 1 == kMaxVcs ? 0 : ~std::uint64_t{0} << (entry.last_vc + 1);
  return static_cast<std::uint32_t>(std::countr_zero((found & ahead) != 0 ? found & ahead : found));
}

bool Injector::evaluate(Cycle now) {
  started_.reset();
  if (now < free_at_) return false;
  const auto classes = static_cast<std::uint32_t>(classes_.size());
  std::uint32_t traffic_class = last_class_;
  for (std::uint32_t turn = 0; turn < classes; ++turn) {
    traffic_class = traffic_class + 1 == classes ? 0 : traffic_class + 1;
    Class& entry = classes_[traffic_class];
    if (entry.packets.empty()) continue;
    if (entry.vc == kNoVc) {
      entry.vc = choose_vc(entry);
      if (entry.vc == kNoVc) continue;
      vcs_.take(entry.vc, traffic_class);
      wires_.note_taken(now, channel_, entry.vc, entry.packets.front());
    }
    if (!vcs_.has_credit(entry.vc)) continue;
    last_class_ = traffic_class;
    send(entry, now);
    return backlog_ > 0 && free_at_ == now + 1;
  }
  return false;
}

void Injector::send(Class& entry, Cycle now) {
  const PacketId packet = entry.packets.front();
  const std::uint32_t index = entry.length - entry.left--;
  --backlog_;
  --entry.backlog;
  ++entry.sent;
  ++flits_sent_;
  vcs_.send(entry.vc, entry.left == 0);
  const std::uint64_t held = routing_.hold(packet, index);
  entry.cycles -= held;
  free_at_ = now + held;
  wires_.send_flit(now, channel_, entry.vc, packet, index, entry.length, routing_.sub_message_flits(packet), held);
  if (index == 0) started_ = packet;
  if (entry.left > 0) return;
  entry.packets.pop_front();
  entry.last_vc = entry.vc;
  entry.vc = kNoVc;
  if (!entry.packets.empty()) entry.length = entry.left = routing_.flits(entry.packets.front());
}

}  // namespace certree
