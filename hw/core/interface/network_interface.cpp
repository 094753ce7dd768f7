#include "interface/network_interface.hpp"

namespace certree {

NetworkInterface::NetworkInterface(const Program& program, Ledger& ledger, Transport& transport, NodeId node,
                                   std::unique_ptr<Sequencer> sequencer)
    : program_(program),
      ledger_(ledger),
      transport_(transport),
      node_(node),
      sequencer_(std::move(sequencer)),
      reduction_unit_(program.reduce_start_cycles, program.reduce_chunk_cycles) {}

void NetworkInterface::evaluate(Cycle now) {
  retire_reductions(now);
  sequencer_->begin_cycle(now, units());
  for (auto firing = sequencer_->head(now); firing && is_ready(*firing); firing = sequencer_->head(now)) {
    fire(*firing, now);
    ledger_.statistics.late += sequencer_->pop(now);
  }
  wake_ = sequencer_->wake(now, units());
  is_listening_ = sequencer_->is_listening(now);
  wake(reduction_unit_.next_finish());
}

void NetworkInterface::retire_reductions(Cycle now) {
  while (reduction_unit_.next_finish() <= now) {
    const Cycle finish = reduction_unit_.next_finish();
    const MessageId id = reduction_unit_.retire();
    const Message& message = ledger_.messages[id];
    ledger_.memory.at(node_, message.chunk) += message.value;
    ledger_.count(id, finish);
  }
}

void NetworkInterface::receive(MessageId id, Cycle complete) {
  Message& message = ledger_.messages[id];
  message.complete = complete;
  if (message.op == RowOp::kReduce) {
    reduction_unit_.accept(id, complete);
    wake(reduction_unit_.next_finish());
  } else {
    retire_reductions({complete.value - 1});  // memory sees everything in the order of time; a sum of this very time comes after
    ledger_.memory.at(node_, message.chunk) = message.value;
    ledger_.count(id, complete);
    wake(complete);
  }
}

std::optional<ArrivalId> NetworkInterface::missing(const Firing& firing) const {
  const Lists& waits = program_.row_waits;
  for (std::uint32_t i = waits.begin[firing.row.value]; i < waits.begin[firing.row.value + 1]; ++i) {
    const ArrivalId arrival{waits.values[i]};
    if (!ledger_.scoreboard.has(arrival, firing.iteration)) return arrival;
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
  message.value = ledger_.memory.at(node_, message.chunk);
  message.fired = now;
  const Lists& sent = program_.row_messages;
  for (std::uint32_t i = sent.begin[row]; i < sent.begin[row + 1]; ++i) {
    const std::uint32_t index = sent.values[i];
    message.arrival = {program_.message_arrival[index]};
    message.destination = ledger_.arrival_node[message.arrival.value];
    message.number = ledger_.statistics.messages++;
    transport_.send(ledger_.messages.add(message), index);
  }
  --ledger_.rows_left;
}

UnitState NetworkInterface::units() const { return {transport_.is_settled(node_) && reduction_unit_.is_idle()}; }

std::optional<Waiting> NetworkInterface::waiting() const {
  if (const auto firing = sequencer_->pending()) return Waiting{node_, firing, missing(*firing)};
  for (std::uint32_t arrival = program_.arrival_begin[node_.value]; arrival < program_.arrival_begin[node_.value + 1]; ++arrival) {
    if (!ledger_.scoreboard.has({arrival}, program_.repeats - 1)) return Waiting{node_, std::nullopt, ArrivalId{arrival}};
  }
  return std::nullopt;
}

}  // namespace certree
