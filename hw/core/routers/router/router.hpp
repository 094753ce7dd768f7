// An input-queued router: route computation, VC allocation, switch allocation, traversal.
#pragma once

#include "routers/router/allocator.hpp"
#include "routers/router/input_vc.hpp"
#include "routers/router/output_vcs.hpp"
#include "routers/router/routing_unit.hpp"
#include "routers/wires.hpp"

namespace certree {

// The first flit of a packet that comes to the front of its VC in cycle f bids for an output VC from cycle f + route + vc - 1 on,
// and for the switch one cycle after it got one (in the same cycle when the VC stage takes none); the flits behind it bid for the
// switch from the cycle after the flit before them on. What wins the switch in cycle s leaves the router at the end of cycle
// s + traversal; its credit goes back at the end of cycle s. Allocators see the state at the start of the cycle: a VC whose tail
// leaves in cycle s can be given away in cycle s + 1. Where lanes move less than a flit a cycle, an output takes no bids while a
// flit has its channel. All cycles of a router in which nothing can happen cost nothing.
class Router {
 public:
  Router(const NetworkLayout& layout, std::uint32_t id, std::vector<std::uint32_t> inputs, std::vector<std::uint32_t> outputs,
         RoutingUnit& routing, Wires& wires);

  // Events at the start of cycle `now`; ports are this router's.
  void receive_flit(std::uint32_t port, std::uint32_t vc, PacketId head, FlitCode code, Cycle now);
  void receive_credit(std::uint32_t port, std::uint32_t vc);
  void end_rest(std::uint32_t port);  // it may carry its next flit

  // One cycle; returns whether the router may act in the next one without another event.
  bool evaluate(Cycle now);

  std::uint64_t flits() const { return flits_; }  // in its buffers
  const std::vector<std::uint32_t>& inputs() const { return inputs_; }
  const std::vector<std::uint32_t>& outputs() const { return outputs_; }
  const InputVc& input_vc(std::uint32_t port, std::uint32_t vc) const { return input_vcs_[port * vcs_ + vc]; }
  const OutputVcs& output(std::uint32_t port) const { return output_vcs_[port]; }
  // Flits that the port has carried, and the cycles that they had it.
  std::uint64_t carried(std::uint32_t port) const { return carried_[port]; }
  std::uint64_t busy_cycles(std::uint32_t port) const { return busy_[port]; }

 private:
  // Route computation in progress.
  struct Routing {
    Cycle done;
    std::uint32_t input;  // port · vcs + vc
  };

  void start_routing(InputVc& input, Cycle front_since, Cycle now);
  void finish_routing(InputVc& input);
  std::uint32_t exit_of(Hop hop, std::uint32_t input_port) const;
  std::uint32_t vc_set_of(const InputVc& input, Hop hop) const;
  std::uint64_t vcs_for(const InputVc& input) const;
  void keep_a_vc(const InputVc& input);
  bool match_vcs();
  void grant_vcs(Cycle now);
  bool allocate_switch(Cycle now);  // returns whether a VC was freed
  InputVc& sender(const Match& match);
  void send_flit(InputVc& input, Cycle now);
  void refresh(const InputVc& input);  // whether it may bid for the switch
  void refresh_all(std::uint32_t output);
  std::uint32_t index_of(const InputVc& input) const { return input.port * vcs_ + input.vc; }

  std::uint32_t id_;
  std::uint32_t vcs_;
  std::uint32_t buffer_flits_;
  std::uint32_t routing_offset_;  // cycles from "in front" to the first bid for a VC
  bool vc_stage_is_own_cycle_;
  std::vector<std::uint32_t> inputs_;       // port -> channel
  std::vector<std::uint32_t> outputs_;      // port -> channel
  std::vector<std::uint32_t> ejection_;     // input port -> output port
  std::vector<std::uint32_t> input_ring_;   // input port -> ring by which packets come (NetworkLayout::channel_ring)
  std::vector<std::uint32_t> output_ring_;  // output port -> ring by which they go
  std::vector<std::uint32_t> interfaces_;   // output ports that lead to interfaces
  RoutingUnit& routing_;
  Wires& wires_;
  std::vector<InputVc> input_vcs_;  // port · vcs + vc
  std::vector<OutputVcs> output_vcs_;
  bool rotate_vcs_;
  std::vector<std::uint32_t> next_vc_;  // of each output: behind the one that it gave away last
  std::vector<std::uint64_t> kept_;     // of each output: VCs that wait in this cycle until more fits behind them
  bool some_kept_ = false;
  Allocator vc_allocator_;
  Allocator switch_allocator_;
  std::vector<std::uint64_t> sending_;      // input port -> VCs that may bid for the switch
  std::uint32_t sending_ports_ = 0;         // ports with such VCs
  std::vector<std::uint32_t> vc_pointer_;   // input port -> VC that is preferred when several want the same output
  Queue<Routing> routing_queue_;            // the first to be finished in front
  std::vector<std::uint32_t> waiting_;      // input VCs that want an output VC
  std::vector<std::uint32_t> waiting_for_;  // output port -> how many of them
  std::vector<Match> vc_matches_;           // of this cycle
  std::vector<std::uint64_t> carried_;      // output port -> flits sent
  std::vector<std::uint64_t> busy_;         // output port -> their cycles
  std::vector<std::uint8_t> rests_;         // output port -> whether its last flit still has the channel
  std::uint64_t flits_ = 0;
  bool has_priorities_ = false;  // of the packets that it has seen
};

}  // namespace certree
