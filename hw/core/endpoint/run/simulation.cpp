#include "endpoint/run/simulation.hpp"

#include <algorithm>
#include <stdexcept>

namespace certree::endpoint {

Simulation::Simulation(Program program, const Parameters& parameters, std::span<std::uint64_t> data, bool traced)
    : program_((program.check(), std::move(program))),
      parameters_(parameters),
      data_(data),
      traced_(traced),
      order_(program_.commands, program_.lifo),
      position_(program_.chunks),
      wire_begin_{0},
      received_(std::size_t{program_.nodes} * program_.chunks * program_.phases),
      is_awake_(program_.nodes),
      left_(std::uint64_t{program_.chunks} * program_.nodes),
      ends_(program_.commands.size()) {
  if (data_.size() != std::size_t{program_.chunks} * program_.cells) {
    throw std::invalid_argument("memory must hold the cells of all chunks");
  }
  for (std::uint32_t node = 0; node < program_.nodes; ++node) endpoints_.emplace_back(program_, parameters_);
  for (std::size_t link = 0; link < program_.link_bytes.size(); ++link) {
    for (std::uint32_t lane = 0; lane < program_.link_lanes[link]; ++lane) {
      wires_.emplace_back(Rate{program_.link_bytes[link], program_.link_cycles[link]}, program_.link_latency[link]);
    }
    wire_begin_.push_back(static_cast<std::uint32_t>(wires_.size()));
  }
  make_ports();
  for (std::uint32_t chunk = 0; chunk < program_.chunks; ++chunk) {
    pending_begin_.push_back(pending_.size());
    const std::uint32_t part = part_of({chunk});
    const auto first = program_.row_needs.begin() + first_row_of_part(part);
    const auto last = program_.row_needs.begin() + program_.row_begin[program_.place(part + 1, 0, 0)];
    pending_.insert(pending_.end(), first, last);
  }
  for (std::uint32_t i = 0; i < program_.commands.size(); ++i) {
    command_of_.resize(program_.commands[i].last, i);
    schedule(program_.commands[i].start, Kind::kCommand, i);
  }
}

bool Simulation::run(std::uint64_t budget) {
  for (std::uint64_t spent = 0; spent < budget && left_ > 0; ++spent) {
    if (events_.empty()) {
      is_stalled_ = true;
      return true;
    }
    const Event event = events_.top();
    events_.pop();
    now_ = event.when;
    handle(event);
    if (events_.empty() || events_.top().when > now_) settle();
  }
  return left_ == 0;
}

bool Simulation::is_empty() const {
  return messages_.in_flight() == 0 &&
         std::all_of(ports_.begin(), ports_.end(), [](const Port& port) { return port.held() == 0; }) &&
         std::all_of(endpoints_.begin(), endpoints_.end(), [](const Endpoint& endpoint) {
           return endpoint.sram.is_empty() && std::all_of(endpoint.machines.begin(), endpoint.machines.end(),
                                                          [](const StateMachine& machine) { return machine.is_idle(); });
         });
}

std::uint32_t Simulation::last_row(NodeId node, ChunkId chunk, std::uint32_t phase) const {
  return program_.row_begin[program_.place(part_of(chunk), phase, node.value) + 1];
}

std::uint32_t Simulation::wire_of(const Message& message, std::uint32_t hop) const {
  const std::uint32_t link = program_.row_links.values[program_.row_links.begin[message.row] + hop];
  return wire_begin_[link] + message.chunk.value / program_.parts % program_.link_lanes[link];
}

void Simulation::make_ports() {
  const bool apart = parameters_.rules.apart;
  std::vector<std::uint32_t> owner(program_.flow_link.size());
  for (std::uint32_t row = 0; row < program_.rows(); ++row) owner[program_.row_flow[row]] = program_.row_destination[row];
  if (!apart) ports_.resize(wires_.size(), Port(false));
  for (std::uint32_t flow = 0; flow < owner.size(); ++flow) {
    const std::uint32_t link = program_.flow_link[flow];
    const std::uint32_t queues = apart ? program_.phase_machines[program_.flow_phase[flow]] : 1;
    const std::uint32_t first = apart ? static_cast<std::uint32_t>(ports_.size()) : wire_begin_[link];
    flow_port_.push_back(first);
    if (apart) ports_.resize(ports_.size() + queues * program_.link_lanes[link], Port(true));
    for (std::uint32_t port = first; port < first + queues * program_.link_lanes[link]; ++port) {
      ports_[port].deepen(program_.flow_depth[flow]);
      std::vector<std::uint32_t>& listed = endpoints_[owner[flow]].ports;
      if (std::find(listed.begin(), listed.end(), port) == listed.end()) listed.push_back(port);
    }
  }
}

std::uint32_t Simulation::port_of(ChunkId chunk, std::uint32_t row) const {
  const std::uint32_t flow = program_.row_flow[row];
  const std::uint32_t lane = chunk.value / program_.parts % program_.link_lanes[program_.flow_link[flow]];
  if (!parameters_.rules.apart) return flow_port_[flow] + lane;
  const std::uint32_t machines = program_.phase_machines[program_.flow_phase[flow]];
  return flow_port_[flow] + lane * machines + chunk.value % machines;
}

Cycle Simulation::asked_for(ChunkId chunk) const { return program_.commands[command_of_[chunk.value]].start; }

void Simulation::schedule(Cycle when, Kind kind, std::uint32_t id, std::uint32_t other) {
  events_.push({when, scheduled_++, kind, id, other});
}

void Simulation::handle(const Event& event) {
  switch (event.kind) {
    case Kind::kCommand:
      for (std::uint32_t node = 0; node < program_.nodes; ++node) wake({node});
      break;
    case Kind::kStage:
      pass_stage(event.id);
      break;
    case Kind::kLink:
      enter_link({event.id});
      break;
    case Kind::kArrive:
      arrive({event.id});
      break;
    case Kind::kTaken:
      deliver({event.id});
      if (event.other != kNoRow) {
        fill({event.other});
        messages_[{event.other}].head = messages_[{event.other}].tail = now_;
        enter_link({event.other});
      }
      break;
  }
}

void Simulation::start(const Trip& trip) {
  std::uint32_t id = static_cast<std::uint32_t>(trips_.size());
  if (free_trips_.empty()) {
    trips_.push_back(trip);
  } else {
    id = free_trips_.back();
    free_trips_.pop_back();
    trips_[id] = trip;
  }
  pass_stage(id);
}

void Simulation::pass_stage(std::uint32_t id) {
  Trip& trip = trips_[id];
  if (trip.stage == trip.route.size()) {
    const Trip ended = trip;
    free_trips_.push_back(id);
    end_trip(ended);
    return;
  }
  Endpoint& endpoint = endpoints_[trip.node.value];
  Cycle end = now_;
  switch (trip.route[trip.stage++]) {
    case Stage::kMemory:
      end = endpoint.memory.transfer(now_, trip.bytes);
      break;
    case Stage::kMemoryTwice:
      end = endpoint.memory.transfer(now_, 2 * trip.bytes);
      break;
    case Stage::kToInterface:
      end = endpoint.to_interface.transfer(now_, trip.bytes);
      break;
    case Stage::kToAccelerator:
      end = endpoint.to_accelerator.transfer(now_, trip.bytes);
      break;
    case Stage::kAdder:
      end = endpoint.adder.reserve(now_, trip.bytes).last;
      break;
    case Stage::kOneCycle:
      end = now_ + 1;
      break;
  }
  schedule(end, Kind::kStage, id);
}

void Simulation::end_trip(const Trip& trip) {
  Endpoint& endpoint = endpoints_[trip.node.value];
  const ChunkId chunk{trip.subject};
  switch (trip.purpose) {
    case Trip::Purpose::kLoad:
      put_to_work(trip.node, chunk);
      break;
    case Trip::Purpose::kWriteBack:
      endpoint.sram.leave(now_, program_.phases);
      finish(trip.node, chunk);
      record(trip.node, chunk, Move::kWriteBack);
      wake(trip.node);
      break;
    case Trip::Purpose::kSend:
      messages_[{trip.subject}].head = messages_[{trip.subject}].tail = now_;
      enter_link({trip.subject});
      break;
    case Trip::Purpose::kReceive:
      deliver({trip.subject});
      break;
  }
}

void Simulation::finish(NodeId node, ChunkId chunk) {
  Endpoint& endpoint = endpoints_[node.value];
  endpoint.chunks[chunk.value].place = program_.phases + 2;
  ++endpoint.finished;
  --left_;
  ends_[command_of_[chunk.value]] = now_;
}

void Simulation::enter_link(MessageId id) {
  Message& message = messages_[id];
  if (message.hop == 0) message.injected = now_;
  const Span came = wires_[wire_of(message, message.hop++)].send(message.head, message.tail, program_.row_bytes[message.row]);
  message.head = came.first;
  message.tail = came.last;
  const bool is_last = program_.row_links.begin[message.row] + message.hop == program_.row_links.begin[message.row + 1];
  // Routers on the route pass a message on as it comes.
  schedule(is_last ? message.tail : message.head, is_last ? Kind::kArrive : Kind::kLink, id.value);
}

void Simulation::arrive(MessageId id) {
  Message& message = messages_[id];
  const NodeId node{program_.row_destination[message.row]};
  delays_.network.add(now_ - message.injected);
  if (message.mode == Mode::kEngine) {
    ports_[port_of(message.chunk, message.row)].arrive(id);
    wake(node);
    return;
  }
  Route route = routes::kReceive;
  if (parameters_.system == System::kIdeal) {
    route = routes::kIdealReceive;
  } else if (program_.row_adds[message.row]) {
    route = routes::kReceiveAndAdd;
  }
  start({node, Trip::Purpose::kReceive, route, 0, program_.row_bytes[message.row], id.value});
}

void Simulation::deliver(MessageId id) {
  const Message& message = messages_[id];
  const std::uint32_t row = message.row;
  const NodeId node{program_.row_destination[row]};
  std::uint64_t* cells = data_.data() + std::size_t{message.chunk.value} * program_.cells;
  const std::uint32_t first = program_.row_to.begin[row];
  for (std::size_t i = 0; i < message.values.size(); ++i) {
    std::uint64_t& cell = cells[program_.row_to.values[first + i]];
    cell = program_.row_adds[row] ? cell + message.values[i] : message.values[i];
  }
  for (std::uint32_t i = program_.row_feeds.begin[row]; i < program_.row_feeds.begin[row + 1]; ++i) {
    --pending(message.chunk, program_.row_feeds.values[i]);
  }
  if (program_.row_adds[row]) delays_.sum.add(now_ - message.tail);
  ++received(node, message.chunk, program_.row_phase[row]);
  messages_.destroy(id);
  wake(node);
}

MessageId Simulation::create_message(ChunkId chunk, std::uint32_t row) {
  const MessageId id = messages_.create();
  Message& message = messages_[id];
  message.chunk = chunk;
  message.row = row;
  message.mode = is_engine() ? Mode::kEngine : Mode::kNormal;
  message.hop = 0;
  return id;
}

void Simulation::fill(MessageId id) {
  Message& message = messages_[id];
  const std::uint64_t* cells = data_.data() + std::size_t{message.chunk.value} * program_.cells;
  for (std::uint32_t i = program_.row_from.begin[message.row]; i < program_.row_from.begin[message.row + 1]; ++i) {
    message.values.push_back(cells[program_.row_from.values[i]]);
  }
}

}  // namespace certree::endpoint
