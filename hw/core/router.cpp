#include "router.hpp"

#include <algorithm>
#include <bit>

namespace certree {

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
      vc_allocator_(layout.allocator, layout.allocator_iterations, inputs_.size() * vcs_, outputs_.size() * vcs_),
      switch_allocator_(layout.allocator, layout.allocator_iterations, inputs_.size(), outputs_.size()),
      sending_(inputs_.size()),
      vc_pointer_(inputs_.size()),
      asked_(outputs_.size()),
      busy_(outputs_.size()) {
  for (const std::uint32_t channel : inputs_) ejection_.push_back(layout.channel_ejection[channel]);
}

void Router::receive_flit(std::uint32_t port, std::uint32_t vc, PacketId head, Cycle now) {
  InputVc& input = input_vcs_[port * vcs_ + vc];
  if (++input.flits > buffer_flits_) throw std::logic_error("a flit arrived at a full buffer");
  ++flits_;
  if (head == kNoPacket) {
    if (input.flits == 1) refresh(port, vc);  // otherwise nothing changes for the one in front
  } else if (input.state == VcState::kIdle) {
    input.front = head;
    start_routing(port, vc, now, now);
  } else {
    input.behind.push_back(head);
  }
}

void Router::receive_credit(std::uint32_t port, std::uint32_t vc) {
  OutputVcs& output = output_vcs_[port];
  output.receive_credit(vc);
  if (output.credits(vc) > 1) return;  // there was one already
  const std::uint32_t holder = output.holder(vc);
  if (holder != OutputVcs::kNobody) refresh(holder / vcs_, holder % vcs_);
}

void Router::start_routing(std::uint32_t port, std::uint32_t vc, Cycle front_since, Cycle now) {
  InputVc& input = input_vcs_[port * vcs_ + vc];
  input.state = VcState::kRouting;
  input.left = routing_.flits(input.front);
  input.head_is_next = true;
  const Cycle done = front_since + routing_offset_;
  if (done == now) {
    finish_routing(port, vc);
  } else {
    wires_.finish_routing(done, id_, port, vc);
  }
}

void Router::finish_routing(std::uint32_t port, std::uint32_t vc) {
  InputVc& input = input_vcs_[port * vcs_ + vc];
  const Hop hop = routing_.next(id_, input.front);
  input.output = hop.is_ejection() ? ejection_[port] : hop.port();
  if (input.output >= outputs_.size()) throw std::logic_error("a packet was routed to a port that does not exist");
  input.wanted = routing_.vcs(input.front, hop.dateline());
  input.needed = std::min(routing_.unit_flits(input.front), input.left);
  input.state = VcState::kWaiting;
  waiting_.push_back(port * vcs_ + vc);
}

void Router::refresh(std::uint32_t port, std::uint32_t vc) {
  const InputVc& input = input_vcs_[port * vcs_ + vc];
  const bool may_bid =
      input.state == VcState::kActive && input.flits > 0 && output_vcs_[input.output].credits(input.output_vc) > 0;
  const std::uint64_t before = sending_[port], bit = std::uint64_t{1} << vc;
  sending_[port] = may_bid ? before | bit : before & ~bit;
  sending_ports_ += (before == 0 && may_bid) ? 1U : 0U;
  sending_ports_ -= (before != 0 && sending_[port] == 0) ? 1U : 0U;
}

bool Router::evaluate(Cycle now) {
  request_vcs();
  if (!vc_stage_is_own_cycle_) grant_vcs();
  bool has_freed_vc = false;
  if (sending_ports_ > 0) {
    request_switch();
    for (const std::uint32_t granted : switch_allocator_.allocate(switch_requests_)) {
      const Request& request = switch_requests_[granted];
      vc_pointer_[request.input] = request.label + 1 == vcs_ ? 0 : request.label + 1;
      has_freed_vc |= input_vcs_[request.input * vcs_ + request.label].left == 1;
      send(request.input, request.label, now);
    }
  }
  if (vc_stage_is_own_cycle_) grant_vcs();
  return sending_ports_ > 0 || (!waiting_.empty() && (has_freed_vc || !vc_requests_.empty()));
}

void Router::request_vcs() {
  vc_requests_.clear();
  vc_grants_.clear();
  for (const std::uint32_t index : waiting_) {
    const InputVc& input = input_vcs_[index];
    const OutputVcs& output = output_vcs_[input.output];
    std::uint64_t wanted = output.free() & input.wanted;
    if (input.needed > 1) wanted = output.with_credits(wanted, input.needed);  // wormhole VCs may be taken while full
    if (rotate_vcs_ && wanted != 0) {
      const std::uint64_t ahead = wanted & (~std::uint64_t{0} << next_vc_[input.output]);
      wanted = std::uint64_t{1} << std::countr_zero(ahead != 0 ? ahead : wanted);
    }
    for (; wanted != 0; wanted &= wanted - 1) {
      const auto vc = static_cast<std::uint32_t>(std::countr_zero(wanted));
      vc_requests_.push_back({index, input.output * vcs_ + vc, 0});
    }
  }
  if (vc_requests_.empty()) return;
  const auto granted = vc_allocator_.allocate(vc_requests_);
  vc_grants_.assign(granted.begin(), granted.end());
}

void Router::grant_vcs() {
  if (vc_grants_.empty()) return;
  for (const std::uint32_t granted : vc_grants_) {
    const Request& request = vc_requests_[granted];
    InputVc& input = input_vcs_[request.input];
    input.state = VcState::kActive;
    input.output_vc = request.output % vcs_;
    output_vcs_[input.output].take(input.output_vc, request.input);
    next_vc_[input.output] = input.output_vc + 1 == vcs_ ? 0 : input.output_vc + 1;
    refresh(request.input / vcs_, request.input % vcs_);
  }
  std::erase_if(waiting_, [&](std::uint32_t index) { return input_vcs_[index].state != VcState::kWaiting; });
}

// Of the VCs of a port that want the same output, the first one from the port's pointer on bids.
void Router::request_switch() {
  switch_requests_.clear();
  for (std::uint32_t port = 0; port < inputs_.size(); ++port) {
    if (sending_[port] == 0) continue;
    ++stamp_;
    const std::uint64_t ahead = ~std::uint64_t{0} << vc_pointer_[port];
    for (std::uint64_t part : {sending_[port] & ahead, sending_[port] & ~ahead}) {
      for (; part != 0; part &= part - 1) {
        const auto vc = static_cast<std::uint32_t>(std::countr_zero(part));
        const std::uint32_t output = input_vcs_[port * vcs_ + vc].output;
        if (asked_[output] == stamp_) continue;
        asked_[output] = stamp_;
        switch_requests_.push_back({port, output, vc});
      }
    }
  }
}

void Router::send(std::uint32_t port, std::uint32_t vc, Cycle now) {
  InputVc& input = input_vcs_[port * vcs_ + vc];
  --input.left;
  --input.flits;
  --flits_;
  ++busy_[input.output];
  output_vcs_[input.output].send(input.output_vc, input.left == 0);
  wires_.send_flit(now, outputs_[input.output], input.output_vc, input.head_is_next ? input.front : kNoPacket);
  input.head_is_next = false;
  wires_.send_credit(now, inputs_[port], vc);
  if (input.left == 0) {
    input.state = VcState::kIdle;
    if (!input.behind.empty()) {
      input.front = input.behind.front();
      input.behind.pop_front();
      start_routing(port, vc, now + 1, now);
    }
  }
  refresh(port, vc);
}

}  // namespace certree
