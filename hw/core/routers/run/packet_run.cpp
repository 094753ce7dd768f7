#include "routers/run/packet_run.hpp"

#include <algorithm>
#include <stdexcept>

namespace certree {

std::vector<Packet> packets_of(const PacketList& list, const NetworkLayout& layout, std::uint32_t traffic_class) {
  const std::size_t count = list.injector.size();
  for (const auto* column : {&list.destination, &list.flits, &list.route}) {
    if (column->size() != count) throw std::invalid_argument("packet columns of different lengths");
  }
  if (list.release.size() != count || !std::is_sorted(list.release.begin(), list.release.end())) {
    throw std::invalid_argument("packet releases must be ascending, one for each packet");
  }
  std::vector<Packet> packets(count);
  for (std::size_t i = 0; i < count; ++i) {
    Packet& packet = packets[i];
    packet.injector = list.injector[i];
    packet.destination = list.destination[i];
    packet.flits = list.flits[i];
    packet.traffic_class = traffic_class;
    packet.release = {list.release[i]};
    packet.number = i;
    if (list.route[i] == kTableRouted) continue;
    if (list.route[i] + std::size_t{1} >= layout.routes.begin.size())
      throw std::invalid_argument("a packet's route does not exist");
    packet.route = layout.routes.begin[list.route[i]];
  }
  return packets;
}

PacketRun::PacketRun(NetworkLayout layout, const PacketList& list) : network_(std::move(layout)) {
  network_.packets().reserve(list.injector.size());
  for (const Packet& packet : packets_of(list, network_.layout(), 0)) network_.add(packet);
}

bool PacketRun::run(std::uint64_t budget) {
  const PacketTable& packets = network_.packets();
  for (std::uint64_t spent = 0; network_.counters().packets < packets.size(); ++spent) {
    if (spent == budget) return false;
    const Cycle release = released_ < packets.size() ? packets[released_].release : kNever;
    const Cycle next = std::min(network_.next_activity(), std::max(release, network_.now()));
    if (next == kNever) {
      is_deadlocked_ = true;
      break;
    }
    network_.skip_to(next);
    network_.begin_cycle();
    for (; released_ < packets.size() && packets[released_].release <= next; ++released_) network_.inject({released_});
    network_.finish_cycle();
    if (network_.lost()) break;
  }
  network_.check_conservation();
  return true;
}

}  // namespace certree
