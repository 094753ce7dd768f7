#include "network_interface.hpp"

namespace certree {

NetworkInterface::NetworkInterface(const Program& program, Fabric& fabric, NodeId node, std::vector<LaneId> ports,
                                   std::unique_ptr<Sequencer> sequencer)
    : program_(program),
      fabric_(fabric),
      node_(node),
      ports_(std::move(ports)),
      sequencer_(std::move(sequencer)),
      reduction_unit_(program.reduce_start_cycles, program.reduce_chunk_cycles) {}

void NetworkInterface::evaluate(Cycle now) {
  retire_reductions(now);
  sequencer_->begin_cycle(now, units());
  for (auto firing = sequencer_->head(now); firing && is_ready(*firing); firing = sequencer_->head(now)) {
    fire(*firing, now);
    fabric_.statistics.late += sequencer_->pop(now);
  }
  wake_ = sequencer_->wake(now, units());
  is_listening_ = sequencer_->is_listening(now);
  wake(reduction_unit_.next_finish());
}

void NetworkInterface::retire_reductions(Cycle now) {
  while (reduction_unit_.next_finish() <= now) {
    const Cycle finish = reduction_unit_.next_finish();
    const MessageId id = reduction_unit_.retire();
    const Message& message = fabric_.messages[id];
    fabric_.memory.at(node_, message.chunk) += message.value;
    fabric_.count(id, finish);
  }
}

void NetworkInterface::receive(MessageId id, Cycle complete) {
  Message& message = fabric_.messages[id];
  message.complete = complete;
  if (message.op == RowOp::kReduce) {
    reduction_unit_.accept(id, complete);
    wake(reduction_unit_.next_finish());
  } else {
    retire_reductions({complete.value - 1});  // memory sees everything in the order of time; a sum of this very time comes after
    fabric_.memory.at(node_, message.chunk) = message.value;
    fabric_.count(id, complete);
    wake(complete);
  }
}

std::optional<ArrivalId> NetworkInterface::missing(const Firing& firing) const {
  const Lists& waits = program_.row_waits;
  for (std::uint32_t i = waits.begin[firing.row.value]; i < waits.begin[firing.row.value + 1]; ++i) {
    const ArrivalId arrival{waits.values[i]};
    if (!fabric_.scoreboard.has(arrival, firing.iteration)) return arrival;
  }
  return std::nullopt;
}

void NetworkInterface::fire(const Firing& firing, Cycle now) {
  const std::uint32_t row = firing.row.value;
  Message message;
  message.row = firing.row;
  message.iteration = firing.iteration;
  message.op = static_cast<RowOp>(program_.row_op[row]);
  message.chunk = std::uint64_t{firing.iteration} * program_.chunks + program_.row_flow[row];
  message.value = fabric_.memory.at(node_, message.chunk);
  message.fired = now;
  const Lists& sent = program_.row_messages;
  for (std::uint32_t i = sent.begin[row]; i < sent.begin[row + 1]; ++i) {
    message.arrival = {program_.message_arrival[sent.values[i]]};
    send(message, program_.message_bundle[sent.values[i]]);
  }
  --fabric_.rows_left;
}

// The message queues at the lane of its bundle with the fewest flits to send, the lowest numbered of equals.
void NetworkInterface::send(const Message& message, std::uint32_t bundle) {
  std::uint32_t best = program_.bundle_begin[bundle];
  for (std::uint32_t lane = best + 1; lane < program_.bundle_begin[bundle + 1]; ++lane) {
    if (fabric_.lanes[lane].port.backlog() < fabric_.lanes[best].port.backlog()) best = lane;
  }
  Message addressed = message;
  addressed.destination = {program_.bundle_destination[bundle]};
  Lane& lane = fabric_.lanes[best];
  lane.port.enqueue(fabric_.messages.add(addressed));
  ++fabric_.statistics.messages;
  if (!lane.is_listed) {
    lane.is_listed = true;
    fabric_.busy_lanes.push_back({best});
  }
}

UnitState NetworkInterface::units() const {
  for (LaneId port : ports_) {
    if (fabric_.lanes[port.value].port.backlog() > program_.ni_buffer_flits) return {false};
  }
  return {reduction_unit_.is_idle()};
}

std::optional<Waiting> NetworkInterface::waiting() const {
  if (const auto firing = sequencer_->pending()) return Waiting{node_, firing, missing(*firing)};
  for (std::uint32_t arrival = program_.arrival_begin[node_.value]; arrival < program_.arrival_begin[node_.value + 1]; ++arrival) {
    if (!fabric_.scoreboard.has({arrival}, program_.repeats - 1)) return Waiting{node_, std::nullopt, ArrivalId{arrival}};
  }
  return std::nullopt;
}

}  // namespace certree
