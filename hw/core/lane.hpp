// One lane of a link with everything a flit passes between two network interfaces.
#pragma once

#include <span>

#include "delay_line.hpp"
#include "injection_port.hpp"

namespace certree {

// Cycles in each part of the way from NI to NI.
struct PathDelays {
  std::uint32_t ni_wire;
  std::uint32_t router_pipeline;
  std::uint32_t link;
};

// In message flow a message over one hop owns its lane: routers are pipelines that nothing contends for. Virtual channels and
// switch allocation take the place of `source_router_` and `destination_router_` once packets share them.
class Lane {
 public:
  Lane(NodeId source, const PathDelays& delays, std::uint32_t message_flits)
      : port(message_flits),
        source(source),
        message_flits_(message_flits),
        left_of_arriving_(message_flits),
        injection_wire_(delays.ni_wire),
        source_router_(delays.router_pipeline),
        link_(delays.link),
        destination_router_(delays.router_pipeline),
        ejection_wire_(delays.ni_wire) {}

  bool is_empty() const { return flits_under_way_ == 0 && port.backlog() == 0; }
  std::uint64_t flits_sent() const { return flits_sent_; }  // also: busy cycles

  // As many cycles as the block has flits: the port sends, everything on the way moves, and the block becomes what comes out.
  void advance(std::span<Flit> block) {
    const std::uint64_t sent = port.send(block);
    flits_sent_ += sent;
    flits_under_way_ += sent;
    for (DelayLine* part : {&injection_wire_, &source_router_, &link_, &destination_router_, &ejection_wire_}) part->shift(block);
  }

  // For how many cycles the next block may go on: within them no message starts or ends but on the block's first or last cycle.
  std::uint64_t quiet_cycles() const {
    const std::uint64_t sending = port.backlog() > 0 ? port.left_of_head() : UINT64_MAX;
    return std::min(sending, left_of_arriving_);
  }

  // That many flits of the last block came out, all of one message; returns whether its last one did.
  bool eject(std::uint64_t flits) {
    flits_under_way_ -= flits;
    left_of_arriving_ -= flits;
    if (left_of_arriving_ > 0) return false;
    left_of_arriving_ = message_flits_;
    return true;
  }

  InjectionPort port;
  NodeId source;
  bool is_listed = false;  // on the simulator's list of lanes that hold flits

 private:
  std::uint64_t message_flits_;
  std::uint64_t left_of_arriving_;  // flits that the message coming out still lacks
  DelayLine injection_wire_;
  DelayLine source_router_;
  DelayLine link_;
  DelayLine destination_router_;
  DelayLine ejection_wire_;
  std::uint64_t flits_sent_ = 0;
  std::uint64_t flits_under_way_ = 0;
};

}  // namespace certree
