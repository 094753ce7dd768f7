#include "routers/router/router.hpp"

#include <algorithm>
#include <bit>

namespace certree {
namespace {

std::uint32_t first_of(std::uint64_t bits) { return static_cast<std::uint32_t>(std::countr_zero(bits)); }

}  // namespace

Router::Router(const NetworkLayout& layout, std::uint32_t id, std::vector<std::uint32_t> inputs, std::vector<std::uint32_t> outputs,
               RoutingUnit& routing, Wires& wires)
    : id_(id),
      vcs_(layout.vcs),
      buffer_flits_(layout.buffer_flits),
      routing_offset_(layout.route_cycles + (layout.vc_cycles > 0 ? layout.vc_cycles - 1 : 0)),
      vc_stage_is_own_cycle_(layout.vc_cycles > 0),
      inputs_(std::move(inputs)),
      outputs_(std::move(outputs)),
      routing_(routing),
      wires_(wires),
      input_vcs_(inputs_.size() * vcs_),
      output_vcs_(outputs_.size(), OutputVcs(vcs_, buffer_flits_, layout.reuse_when_empty)),
      rotate_vcs_(layout.rotate_vcs),
      next_vc_(outputs_.size()),
      kept_(outputs_.size()),
      vc_allocator_(layout.allocator, layout.allocator_iterations, inputs_.size() * vcs_, outputs_.size() * vcs_),
      switch_allocator_(layout.allocator, layout.allocator_iterations, inputs_.size(), outputs_.size()),
      sending_(inputs_.size()),
      vc_pointer_(inputs_.size()),
      waiting_for_(outputs_.size()),
      carried_(outputs_.size()),
      busy_(outputs_.size()),
      rests_(outputs_.size()) {
  for (const std::uint32_t channel : inputs_) {
    ejection_.push_back(layout.channel_ejection[channel]);
    input_ring_.push_back(layout.channel_ring[channel]);
  }
  for (const std::uint32_t channel : outputs_) output_ring_.push_back(layout.channel_ring[channel]);
  for (std::uint32_t port = 0; port < outputs_.size(); ++port) {
    if (layout.channel_destination[outputs_[port]] == kInterface) interfaces_.push_back(port);
  }
  for (std::uint32_t index = 0; index < input_vcs_.size(); ++index) {
    input_vcs_[index].port = static_cast<std::uint16_t>(index / vcs_);
    input_vcs_[index].vc = static_cast<std::uint8_t>(index % vcs_);
  }
}

void Router::receive_flit(std::uint32_t port, std::uint32_t vc, PacketId head, FlitCode code, Cycle now) {
  InputVc& input = input_vcs_[port * vcs_ + vc];
  if (++input.flits > buffer_flits_) throw std::logic_error("a flit arrived at a full buffer");
  if (opens_route(code) != (head != kNoPacket)) throw std::logic_error("a flit's code is not that of its place in the packet");
  ++flits_;
  if (head == kNoPacket) {
    if (input.flits == 1) refresh(input);  // otherwise nothing changes for the one in front
  } else if (input.state == VcState::kIdle) {
    input.front = head;
    start_routing(input, now, now);
  } else {
    input.behind.push_back(head);
  }
}

void Router::receive_credit(std::uint32_t port, std::uint32_t vc) {
  OutputVcs& output = output_vcs_[port];
  output.receive_credit(vc);
  if (output.credits(vc) > 1) return;  // there was one already
  const std::uint32_t holder = output.holder(vc);
  if (holder != OutputVcs::kNobody) refresh(input_vcs_[holder]);
}

void Router::start_routing(InputVc& input, Cycle front_since, Cycle now) {
  input.state = VcState::kRouting;
  input.length = input.left = routing_.flits(input.front);
  input.sub_message_flits = routing_.sub_message_flits(input.front);
  input.priority = routing_.priority(input.front);
  has_priorities_ |= input.priority > 0;
  const Cycle done = front_since + routing_offset_;
  if (done == now) {
    finish_routing(input);
  } else {
    routing_queue_.push_back({done, index_of(input)});
  }
}

void Router::finish_routing(InputVc& input) {
  const Hop hop = routing_.next(id_, input.front);
  const std::uint32_t output = hop.is_ejection() ? exit_of(hop, input.port) : hop.port();
  if (output >= outputs_.size()) throw std::logic_error("a packet was routed to a port that does not exist");
  input.output = static_cast<std::uint16_t>(output);
  input.wanted = routing_.vcs(input.front, vc_set_of(input, hop));
  input.needed = std::min(routing_.unit_flits(input.front), input.left);
  input.state = VcState::kWaiting;
  waiting_.push_back(index_of(input));
  ++waiting_for_[output];
}

std::uint32_t Router::exit_of(Hop hop, std::uint32_t input_port) const {
  if (hop.port() == Hop::kEjectPort) return ejection_[input_port];
  const std::uint32_t number = hop.port() - Hop::kEjectAt;
  return number < interfaces_.size() ? interfaces_[number] : kInterface;
}

// Which VCs of its output a packet may take: what its route says, or, where it goes on around a ring, the half that it has.
std::uint32_t Router::vc_set_of(const InputVc& input, Hop hop) const {
  const std::uint32_t ring = output_ring_[input.output];
  if (ring == kInterface || ring != input_ring_[input.port] || !routing_.is_table_routed(input.front)) return hop.vc_set();
  return (routing_.vcs(input.front, kLowerHalf) >> input.vc & 1U) != 0 ? kLowerHalf : kUpperHalf;
}

void Router::refresh(const InputVc& input) {
  const bool may_bid = input.state == VcState::kActive && input.flits > 0 && rests_[input.output] == 0 &&
                       output_vcs_[input.output].has_credit(input.output_vc);
  const std::uint64_t before = sending_[input.port], bit = std::uint64_t{1} << input.vc;
  const std::uint64_t after = may_bid ? before | bit : before & ~bit;
  sending_[input.port] = after;
  sending_ports_ += static_cast<std::uint32_t>(after != 0) - static_cast<std::uint32_t>(before != 0);
}

void Router::refresh_all(std::uint32_t output) {
  for (std::uint32_t vc = 0; vc < vcs_; ++vc) {
    const std::uint32_t holder = output_vcs_[output].holder(vc);
    if (holder != OutputVcs::kNobody) refresh(input_vcs_[holder]);
  }
}

void Router::end_rest(std::uint32_t port) {
  rests_[port] = 0;
  refresh_all(port);
}

bool Router::evaluate(Cycle now) {
  for (; !routing_queue_.empty() && routing_queue_.front().done <= now; routing_queue_.pop_front()) {
    finish_routing(input_vcs_[routing_queue_.front().input]);
  }
  const bool some_bid = !waiting_.empty() && match_vcs();
  if (!vc_stage_is_own_cycle_) grant_vcs(now);
  const bool has_freed_vc = sending_ports_ > 0 && allocate_switch(now);
  if (vc_stage_is_own_cycle_) grant_vcs(now);
  if (sending_ports_ > 0 || (!waiting_.empty() && (has_freed_vc || some_bid))) return true;
  if (routing_queue_.empty()) return false;
  const Cycle done = routing_queue_.front().done;
  if (done > now + 1) wires_.wake(done, id_);
  return done <= now + 1;
}

// The VCs of its output that a head may take: those that are free, and with room for as much as must fit; a wormhole VC may be
// full.
std::uint64_t Router::vcs_for(const InputVc& input) const {
  const OutputVcs& output = output_vcs_[input.output];
  std::uint64_t vcs = output.free() & input.wanted;
  if (some_kept_) vcs &= ~kept_[input.output];
  if (input.needed > 1) vcs = output.with_credits(vcs, input.needed);
  if (!rotate_vcs_ || vcs == 0) return vcs;
  const std::uint64_t ahead = vcs & (~std::uint64_t{0} << next_vc_[input.output]);
  return std::uint64_t{1} << first_of(ahead != 0 ? ahead : vcs);
}

// Packets that need less room must not take it from one that came before them for ever: it keeps a free VC from those behind it
// until that has drained. The choice cannot alternate: it is the first, and no other packet takes it.
void Router::keep_a_vc(const InputVc& input) {
  const std::uint64_t free = output_vcs_[input.output].free() & input.wanted & ~kept_[input.output];
  kept_[input.output] |= free & -free;
  some_kept_ = true;
}

// A head that is alone in waiting for its output, as most are, needs no allocation. Returns whether any VC was bid for.
bool Router::match_vcs() {
  bool some_bid = false, some_compete = false;
  for (const std::uint32_t index : waiting_) {
    const InputVc& input = input_vcs_[index];
    const std::uint64_t vcs = vcs_for(input);
    if (vcs == 0) {
      if (input.needed > 1 && waiting_for_[input.output] > 1) keep_a_vc(input);
      continue;
    }
    some_bid = true;
    if (waiting_for_[input.output] == 1) {
      vc_matches_.push_back(vc_allocator_.match_alone(index, input.output * vcs_, vcs));
      continue;
    }
    some_compete = true;
    for (std::uint64_t left = vcs; left != 0; left &= left - 1) vc_allocator_.request(index, input.output * vcs_ + first_of(left));
  }
  if (some_compete) {
    const auto matches = vc_allocator_.allocate();
    vc_matches_.insert(vc_matches_.end(), matches.begin(), matches.end());
  }
  if (some_kept_) std::fill(kept_.begin(), kept_.end(), 0);
  some_kept_ = false;
  return some_bid;
}

// Heads get their VCs in the order in which they were routed.
void Router::grant_vcs(Cycle now) {
  if (vc_matches_.empty()) return;
  for (const Match& match : vc_matches_) {
    InputVc& input = input_vcs_[match.input];
    input.state = VcState::kActive;
    input.output_vc = static_cast<std::uint8_t>(match.output - input.output * vcs_);
  }
  std::size_t still_waiting = 0;
  for (const std::uint32_t index : waiting_) {
    const InputVc& input = input_vcs_[index];
    if (input.state == VcState::kWaiting) {
      waiting_[still_waiting++] = index;
      continue;
    }
    --waiting_for_[input.output];
    output_vcs_[input.output].take(input.output_vc, index);
    wires_.note_taken(now, outputs_[input.output], input.output_vc, input.front);
    next_vc_[input.output] = input.output_vc + 1U == vcs_ ? 0 : input.output_vc + 1U;
    refresh(input);
  }
  waiting_.resize(still_waiting);
  vc_matches_.clear();
}

bool Router::allocate_switch(Cycle now) {
  for (std::uint32_t port = 0; port < inputs_.size(); ++port) {
    for (std::uint64_t left = sending_[port]; left != 0; left &= left - 1) {
      switch_allocator_.request(port, input_vc(port, first_of(left)).output);
    }
  }
  bool has_freed_vc = false;
  for (const Match& match : switch_allocator_.allocate()) {
    InputVc& input = sender(match);
    has_freed_vc |= input.left == 1;
    send_flit(input, now);
  }
  return has_freed_vc;
}

// Of the VCs of the port that want the output, the first one from the port's pointer on among those of the highest priority.
InputVc& Router::sender(const Match& match) {
  const std::uint32_t port = match.input;
  const std::uint64_t ahead = sending_[port] & (~std::uint64_t{0} << vc_pointer_[port]);
  std::uint32_t found = UINT32_MAX;
  for (std::uint64_t left : {ahead, sending_[port] & ~ahead}) {
    for (; left != 0 && (found == UINT32_MAX || has_priorities_); left &= left - 1) {
      const InputVc& input = input_vc(port, first_of(left));
      if (input.output != match.output) continue;
      if (found == UINT32_MAX || input.priority > input_vc(port, found).priority) found = input.vc;
    }
  }
  vc_pointer_[port] = found + 1 == vcs_ ? 0 : found + 1;
  return input_vcs_[port * vcs_ + found];
}

void Router::send_flit(InputVc& input, Cycle now) {
  const std::uint32_t index = input.length - input.left--;
  --input.flits;
  ++input.sent;
  --flits_;
  const std::uint32_t output = input.output;
  const std::uint64_t held = routing_.hold(input.front, index);
  ++carried_[output];
  busy_[output] += held;
  output_vcs_[output].send(input.output_vc, input.left == 0);
  wires_.send_flit(now, outputs_[output], input.output_vc, input.front, index, input.length, input.sub_message_flits, held);
  wires_.send_credit(now, inputs_[input.port], input.vc);
  if (input.left == 0) {
    input.state = VcState::kIdle;
    if (!input.behind.empty()) {
      input.front = input.behind.front();
      input.behind.pop_front();
      start_routing(input, now + 1, now);
    }
  }
  refresh(input);
  if (held == 1) return;
  rests_[output] = 1;
  refresh_all(output);
}

}  // namespace certree
