#include "interface/network_interface.hpp"

#include <algorithm>

namespace certree {

NetworkInterface::NetworkInterface(const Program& program, Ledger& ledger, Transport& transport, NodeId node,
                                   std::unique_ptr<Sequencer> sequencer, Endpoint* endpoint)
    : program_(program),
      ledger_(ledger),
      transport_(transport),
      node_(node),
      sequencer_(std::move(sequencer)),
      endpoint_(endpoint),
      reduction_unit_(program.reduce_start_cycles),
      copy_unit_(0) {}

void NetworkInterface::evaluate(Cycle now) {
  settle(now, now);
  drain(now);
  sequencer_->begin_cycle(now, units());
  fire_rows(now);
  while (endpoint_ != nullptr && endpoint_->next() <= now) {
    drain(now);
    fire_rows(now);
  }
  wake_ = sequencer_->wake(now, units());
  is_listening_ = sequencer_->is_listening(now);
  wake(std::min(reduction_unit_.next_finish(), copy_unit_.next_finish()));
  if (endpoint_ != nullptr) wake_ = std::min(wake_, endpoint_->next());
}

void NetworkInterface::fire_rows(Cycle now) {
  for (auto firing = sequencer_->head(now); firing && is_ready(*firing); firing = sequencer_->head(now)) {
    fire(*firing, now);
    ledger_.statistics.late += sequencer_->pop(now);
  }
}

void NetworkInterface::drain(Cycle until) {
  while (endpoint_ != nullptr && endpoint_->next() <= until) {
    const Cycle now = endpoint_->next();
    const Endpoint::Done done = endpoint_->advance();
    switch (done.step) {
      case Endpoint::Step::kNothing:
        break;
      case Endpoint::Step::kFetched:
        if (ledger_.is_traced) ledger_.fetches.push_back({ledger_.messages[done.message].number, now});
        ledger_.messages[done.message].fetched = now;
        transport_.send(done.message, ledger_.messages[done.message].index);
        break;
      case Endpoint::Step::kUsable: {
        const Message& message = ledger_.messages[done.message];
        std::uint64_t& cell = ledger_.memory.at(node_, message.cell);
        const bool is_sum = message.op == RowOp::kReduce;
        cell = is_sum ? cell + message.value : message.value;
        if (is_sum) ledger_.order.note(message);
        ledger_.count(done.message, now);
        break;
      }
      case Endpoint::Step::kReturned:
        ledger_.note_returned(now);
        break;
    }
  }
}

void NetworkInterface::settle(Cycle copies_until, Cycle sums_until) {
  while (true) {
    const Cycle copied = copy_unit_.next_finish(), added = reduction_unit_.next_finish();
    if (copied <= copies_until && copied <= added) {
      const MessageId id = copy_unit_.retire();
      Message& message = ledger_.messages[id];
      message.first = {copied.value - message.flits};
      land(id, copied);
    } else if (added <= sums_until) {
      const MessageId id = reduction_unit_.retire();
      const Message& message = ledger_.messages[id];
      ledger_.memory.at(node_, message.cell) += message.value;
      ledger_.order.note(message);
      ledger_.count(id, added);
    } else {
      return;
    }
  }
}

void NetworkInterface::land(MessageId id, Cycle complete) {
  Message& message = ledger_.messages[id];
  message.complete = complete;
  if (message.op == RowOp::kReduce) {
    reduction_unit_.accept(id, complete, program_.addition_cycles(message.index));
  } else {
    ledger_.memory.at(node_, message.cell) = message.value;
    ledger_.count(id, complete);
  }
}

void NetworkInterface::receive(MessageId id, Cycle complete) {
  if (endpoint_ != nullptr) {
    Message& message = ledger_.messages[id];
    message.complete = complete;
    if (message.head == kNever) message.head = {complete.value - message.flits};
    endpoint_->accept(id, message, complete);
    wake_ = std::min(wake_, endpoint_->next());
    return;
  }
  const bool is_sum = ledger_.messages[id].op == RowOp::kReduce;
  settle(complete, {complete.value - 1});  // memory sees everything in the order of time; a sum of this very time comes after
  land(id, complete);
  wake(is_sum ? reduction_unit_.next_finish() : complete);
}

std::optional<ArrivalId> NetworkInterface::missing(const Firing& firing) const {
  const Lists& waits = program_.row_waits;
  for (std::uint32_t i = waits.begin[firing.row.value]; i < waits.begin[firing.row.value + 1]; ++i) {
    const ArrivalId arrival{waits.values[i]};
    if (!ledger_.scoreboard.has(arrival, firing.iteration, program_.row_needs[i])) return arrival;
  }
  return std::nullopt;
}

void NetworkInterface::fire(const Firing& firing, Cycle now) {
  const std::uint32_t row = firing.row.value;
  Message message;
  message.row = firing.row;
  message.iteration = firing.iteration;
  message.op = static_cast<RowOp>(program_.row_op[row]);
  message.value = ledger_.memory.at(node_, program_.cell_of(program_.row_cell[row], firing.iteration));
  message.fired = now;
  const Lists& sent = program_.row_messages;
  for (std::uint32_t i = sent.begin[row]; i < sent.begin[row + 1]; ++i) {
    const std::uint32_t index = sent.values[i];
    message.arrival = {program_.message_arrival[index]};
    message.destination = ledger_.arrival_node[message.arrival.value];
    message.cell = program_.cell_of(program_.message_cell[index], firing.iteration);
    message.index = index;
    message.number = ledger_.statistics.messages++;
    message.flits = program_.message_cycles[index];
    if (endpoint_ != nullptr) {
      message.first = message.destination == node_ ? now : kNever;
      const MessageId id = ledger_.messages.add(message);
      message.destination == node_ ? endpoint_->copy(id, message, now) : endpoint_->fetch(id, message, now);
    } else if (message.destination == node_) {
      copy_unit_.accept(ledger_.messages.add(message), now, message.flits);
    } else {
      transport_.send(ledger_.messages.add(message), index);
    }
  }
  --ledger_.rows_left;
  if (endpoint_ != nullptr) endpoint_->note_fired(firing, now);
}

UnitState NetworkInterface::units() const {
  return {transport_.is_settled(node_) && reduction_unit_.is_idle() && copy_unit_.is_idle()};
}

std::optional<Waiting> NetworkInterface::waiting() const {
  if (const auto firing = sequencer_->pending()) return Waiting{node_, firing, missing(*firing)};
  for (std::uint32_t arrival = program_.arrival_begin[node_.value]; arrival < program_.arrival_begin[node_.value + 1]; ++arrival) {
    if (!ledger_.scoreboard.is_over({arrival})) return Waiting{node_, std::nullopt, ArrivalId{arrival}};
  }
  return std::nullopt;
}

}  // namespace certree
