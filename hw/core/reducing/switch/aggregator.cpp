#include "reducing/switch/aggregator.hpp"

namespace certree {

Aggregator::Aggregator(std::uint32_t places, std::vector<EdgeId> below, std::optional<EdgeId> above)
    : below_(std::move(below)),
      above_(above),
      state_(places, static_cast<std::uint32_t>(below_.size()), !above),
      headers_(places, static_cast<std::uint32_t>(below_.size())),
      values_(places),
      combinator_(above) {}

Ruling Aggregator::add(const AggregationPacket& packet, std::uint32_t child, Cycle now, Occupancy& used,
                       std::vector<AggregationPacket>& out) {
  const std::uint32_t place = state_.place_of(packet.number);
  const bool was_used = state_.record().arrived(place) > 0 && !state_.has_result(place);
  const Ruling ruling = state_.contribution(child, packet.number);
  if (ruling.takes_over) values_.clear(place);
  if (ruling.is_added) {
    values_.add(place, packet.value);
    headers_.keep(place, child, {packet.edge, packet.number});
  }
  const bool is_used = state_.record().arrived(place) > 0 && !state_.has_result(place);
  if (is_used && !was_used) used.take(now);
  if (was_used && !is_used) used.free(now);
  combinator_.combine(ruling.answer, place, values_[place], {packet.edge, packet.number}, headers_, out);
  return ruling;
}

Ruling Aggregator::pass(const AggregationPacket& packet, Cycle now, Occupancy& used, std::vector<AggregationPacket>& out) {
  const Ruling ruling = state_.result(packet.number);
  if (ruling.is_result) {
    values_.put(ruling.place, packet.value);
    used.free(now);
  }
  combinator_.combine(ruling.answer, ruling.place, values_[ruling.place], {packet.edge, packet.number}, headers_, out);
  return ruling;
}

}  // namespace certree
