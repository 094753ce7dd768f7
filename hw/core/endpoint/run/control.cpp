// The control unit of every node: what its DMA, state machines and ports can do at a point in time.
#include <algorithm>

#include "endpoint/run/simulation.hpp"

namespace certree::endpoint {

void Simulation::wake(NodeId node) {
  if (is_awake_[node.value]) return;
  is_awake_[node.value] = 1;
  awake_.push_back(node);
}

void Simulation::settle() {
  while (!awake_.empty()) {
    const NodeId node = awake_.front();
    awake_.pop_front();
    is_awake_[node.value] = 0;
    while (advance(node)) {
    }
  }
}

bool Simulation::advance(NodeId node) {
  Endpoint& endpoint = endpoints_[node.value];
  bool moved = false;
  while (begin_chunk(node)) moved = true;
  for (std::uint32_t machine = 0; machine < endpoint.machines.size(); ++machine) {
    if (endpoint.machines[machine].is_idle()) continue;
    moved |= send_rows(node, endpoint.machines[machine].at_work());
    moved |= go_on(node, machine);
  }
  for (const std::uint32_t port : endpoint.ports) {
    while (take(node, port)) moved = true;
  }
  return moved;
}

// The next chunk leaves memory: into the first partition or, without partitions, to an idle state machine.
bool Simulation::begin_chunk(NodeId node) {
  Endpoint& endpoint = endpoints_[node.value];
  if (!order_.knows(endpoint.begun, now_)) return false;
  const ChunkId chunk = order_[endpoint.begun];
  if (is_engine() ? !endpoint.sram.fits(0) : !endpoint.machine(0, chunk).is_idle()) return false;
  position_[chunk.value] = endpoint.begun++;
  delays_.chunk_wait.sum += now_ - asked_for(chunk);
  ++delays_.chunk_wait.count;
  if (!is_engine()) {
    put_to_work(node, chunk);
    return true;
  }
  endpoint.sram.enter(now_, 0);
  start({node, Trip::Purpose::kLoad, routes::kLoad, 0, program_.load_bytes, chunk.value});
  return true;
}

// The chunk enters its next phase: it stands in the queue of its state machine.
void Simulation::put_to_work(NodeId node, ChunkId chunk) {
  ChunkState& state = endpoints_[node.value].chunks[chunk.value];
  const std::uint32_t phase = state.place++;
  state.next_row = program_.row_begin[program_.place(part_of(chunk), phase, node.value)];
  state.since = now_;
  endpoints_[node.value].machine(phase, chunk).enqueue(chunk);
  if (phase == 0) record(node, chunk, Move::kLoad);
  wake(node);
}

// The rows of the chunk at work, in order, as long as what they wait for is there.
bool Simulation::send_rows(NodeId node, ChunkId chunk) {
  Endpoint& endpoint = endpoints_[node.value];
  ChunkState& state = endpoint.chunks[chunk.value];
  const std::uint32_t end = last_row(node, chunk, state.place - 1);
  bool moved = false;
  for (; state.next_row < end && pending(chunk, state.next_row) == 0; ++state.next_row) {
    const std::uint32_t row = state.next_row;
    if (is_engine() && !has_room(node, port_of(chunk, row))) break;
    const MessageId id = create_message(chunk, row);
    if (is_engine()) ports_[port_of(chunk, row)].reserve(id);
    fill(id);
    const std::uint64_t bytes = program_.row_bytes[row];
    if (is_engine()) {
      const Span out = endpoint.crossbar.read(now_, bytes);
      messages_[id].head = out.first;
      messages_[id].tail = out.last;
      schedule(out.first, Kind::kLink, id.value);
    } else if (parameters_.system == System::kIdeal) {
      messages_[id].head = messages_[id].tail = now_;
      schedule(now_, Kind::kLink, id.value);
    } else {
      start({node, Trip::Purpose::kSend, routes::kSend, 0, bytes, id.value});
    }
    record(node, chunk, Move::kSend, kNoRow, row);
    moved = true;
  }
  return moved;
}

// The first message at a port, and with it the row that it makes ready, if that is next: all resources, or a stall.
bool Simulation::take(NodeId node, std::uint32_t number) {
  Port& port = ports_[number];
  if (!port.has_next()) return false;
  Endpoint& endpoint = endpoints_[node.value];
  const MessageId id = port.front();
  const ChunkId chunk = messages_[id].chunk;
  const std::uint32_t row = messages_[id].row;
  const std::uint32_t phase = program_.row_phase[row];
  ChunkState& state = endpoint.chunks[chunk.value];
  if (state.place != phase + 1 || !endpoint.machine(phase, chunk).works_on(chunk)) return false;
  std::uint32_t next = kNoRow;
  if (state.next_row < last_row(node, chunk, phase) && pending(chunk, state.next_row) == 1) {
    const auto first = program_.row_feeds.values.begin() + program_.row_feeds.begin[row];
    const auto last = program_.row_feeds.values.begin() + program_.row_feeds.begin[row + 1];
    if (std::find(first, last, state.next_row) != last) next = state.next_row;
  }
  MessageId forward{kNoRow};
  if (next != kNoRow) {
    const std::uint32_t out = port_of(chunk, next);
    if (!has_room(node, out)) return false;
    ++state.next_row;
    forward = create_message(chunk, next);
    ports_[out].reserve(forward);
  }
  port.take();
  for (const NodeId stalled : port.stalled) wake(stalled);
  port.stalled.clear();
  const Message& message = messages_[id];
  const Span done = endpoint.crossbar.take(now_, message.head, message.tail, program_.row_bytes[row], program_.row_adds[row] != 0);
  delays_.stall.add(now_ - message.tail);
  schedule(done.last, Kind::kTaken, id.value, forward.value);
  record(node, chunk, next == kNoRow ? Move::kTake : Move::kPassOn, row, next);
  return true;
}

// A chunk that is through with its phase goes on to the next state machine, or is written back; in an engine when it has a place
// there.
bool Simulation::go_on(NodeId node, std::uint32_t machine) {
  Endpoint& endpoint = endpoints_[node.value];
  const ChunkId chunk = endpoint.machines[machine].at_work();
  if (!is_through(node, chunk)) return false;
  ChunkState& state = endpoint.chunks[chunk.value];
  const std::uint32_t next = state.place;  // partition, or phase, counted from 0
  if (is_engine()) {
    if (!may_enter(node, chunk, next)) return false;
    endpoint.sram.leave(now_, next - 1);
    endpoint.sram.enter(now_, next);
  }
  endpoint.machines[machine].dequeue();
  if (!endpoint.machines[machine].is_idle()) {
    delays_.chunk_wait.sum += now_ - endpoint.chunks[endpoint.machines[machine].at_work().value].since;
  }
  record(node, chunk, Move::kGoOn);
  if (next < program_.phases) {
    put_to_work(node, chunk);
  } else if (is_engine()) {
    ++state.place;
    start({node, Trip::Purpose::kWriteBack, routes::kWriteBack, 0, program_.result_bytes, chunk.value});
  } else {
    finish(node, chunk);
  }
  wake(node);
  return true;
}

bool Simulation::is_through(NodeId node, ChunkId chunk) const {
  const ChunkState& state = endpoints_[node.value].chunks[chunk.value];
  const std::uint32_t phase = state.place - 1;
  const std::uint32_t expected = program_.receipts[program_.place(part_of(chunk), phase, node.value)];
  return state.next_row == last_row(node, chunk, phase) && received(node, chunk, phase) == expected;
}

bool Simulation::may_enter(NodeId node, ChunkId chunk, std::uint32_t partition) const {
  const Sram& sram = endpoints_[node.value].sram;
  return sram.fits(partition) && (!parameters_.rules.in_order || sram.entered(partition) == position_[chunk.value]);
}

bool Simulation::has_room(NodeId node, std::uint32_t number) {
  Port& port = ports_[number];
  if (port.has_room()) return true;
  if (std::find(port.stalled.begin(), port.stalled.end(), node) == port.stalled.end()) port.stalled.push_back(node);
  return false;
}

void Simulation::record(NodeId node, ChunkId chunk, Move move, std::uint32_t taken, std::uint32_t sent) {
  if (traced_) moves_.push_back({now_, node, chunk, move, taken, sent});
}

std::vector<Waiting> Simulation::waiting() const {
  std::vector<Waiting> found;
  for (std::uint32_t number = 0; number < program_.nodes; ++number) {
    const NodeId node{number};
    const Endpoint& endpoint = endpoints_[number];
    for (const StateMachine& machine : endpoint.machines) {
      if (machine.is_idle()) continue;
      const ChunkId chunk = machine.at_work();
      const ChunkState& state = endpoint.chunks[chunk.value];
      const std::uint32_t phase = state.place - 1;
      if (is_through(node, chunk)) {
        found.push_back({node, endpoint.sram.fits(phase + 1) ? Reason::kTurn : Reason::kPartitionFull, chunk, phase, kNoRow});
      } else if (state.next_row < last_row(node, chunk, phase) && pending(chunk, state.next_row) == 0) {
        found.push_back({node, Reason::kPortFull, chunk, phase, state.next_row});
      } else {
        found.push_back({node, Reason::kArrival, chunk, phase, kNoRow});
      }
    }
    for (const std::uint32_t port : endpoint.ports) {
      if (!ports_[port].has_next()) continue;
      const Message& message = messages_[ports_[port].front()];
      const std::uint32_t phase = program_.row_phase[message.row];
      const bool works =
          endpoint.chunks[message.chunk.value].place == phase + 1 && endpoint.machine(phase, message.chunk).works_on(message.chunk);
      found.push_back({node, works ? Reason::kPortFull : Reason::kNotAtWork, message.chunk, phase, message.row});
    }
  }
  return found;
}

}  // namespace certree::endpoint
