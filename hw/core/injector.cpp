#include "injector.hpp"

#include <algorithm>
#include <bit>

namespace certree {

Injector::Injector(const NetworkLayout& layout, std::uint32_t channel, RoutingUnit& routing, Wires& wires)
    : channel_(channel),
      routing_(routing),
      wires_(wires),
      vcs_(layout.vcs, layout.buffer_flits, layout.reuse_when_empty),
      queues_(layout.unit_flits.size()) {}

void Injector::enqueue(PacketId packet, std::uint32_t traffic_class) {
  Queue& queue = queues_[traffic_class];
  if (queue.packets.empty()) queue.left = routing_.flits(packet);
  queue.packets.push_back(packet);
  backlog_ += routing_.flits(packet);
  queue.backlog += routing_.flits(packet);
}

PacketId Injector::front(std::uint32_t traffic_class) const {
  const Queue& queue = queues_[traffic_class];
  return queue.packets.empty() ? kNoPacket : queue.packets.front();
}

std::uint32_t Injector::choose_vc(const Queue& queue) const {
  const std::uint64_t wanted = routing_.vcs(queue.packets.front(), 0);
  const std::uint64_t found = vcs_.with_credits(vcs_.free() & wanted, std::min(routing_.unit_flits(queue.packets.front()), queue.left));
  if (found == 0) return kNoVc;
  const std::uint64_t ahead = queue.last_vc == kNoVc || queue.last_vc + 1 == kMaxVcs ? 0 : ~std::uint64_t{0} << (queue.last_vc + 1);
  return static_cast<std::uint32_t>(std::countr_zero((found & ahead) != 0 ? found & ahead : found));
}

bool Injector::evaluate(Cycle now) {
  started_.reset();
  const auto classes = static_cast<std::uint32_t>(queues_.size());
  for (std::uint32_t turn = 1; turn <= classes; ++turn) {
    const std::uint32_t traffic_class = (last_class_ + turn) % classes;
    Queue& queue = queues_[traffic_class];
    if (queue.packets.empty()) continue;
    if (queue.vc == kNoVc) {
      queue.vc = choose_vc(queue);
      if (queue.vc == kNoVc) continue;
      vcs_.take(queue.vc, traffic_class);
    }
    if (vcs_.credits(queue.vc) == 0) continue;
    last_class_ = traffic_class;
    send(queue, now);
    return backlog_ > 0;
  }
  return false;
}

void Injector::send(Queue& queue, Cycle now) {
  const PacketId packet = queue.packets.front();
  const std::uint32_t flits = routing_.flits(packet), index = flits - queue.left--;
  --backlog_;
  --queue.backlog;
  ++flits_sent_;
  vcs_.send(queue.vc, queue.left == 0);
  wires_.send_flit(now, channel_, queue.vc, packet, index, flits, routing_.sub_message_flits(packet));
  if (index == 0) started_ = packet;
  if (queue.left > 0) return;
  queue.packets.pop_front();
  queue.last_vc = queue.vc;
  queue.vc = kNoVc;
  if (!queue.packets.empty()) queue.left = routing_.flits(queue.packets.front());
}

}  // namespace certree
