// One lane of a link with everything a flit passes between two network interfaces.
#pragma once

#include <span>

#include "lanes/delay_line.hpp"
#include "lanes/injection_port.hpp"

namespace certree {

// In message flow a message owns its lane. `crossing`: cycles on the link and in the router behind it, where it may go on by
// another lane; `ends`: cycles in the first router and in the wires of the two interfaces.
class Lane {
 public:
  Lane(NodeId source, std::uint64_t crossing, std::uint64_t ends) : source(source), crossing_(crossing), ends_(ends) {}

  // A message of `flits` flits takes its turn; `arrives`: at its destination, not at a router where it goes on.
  void enqueue(MessageId message, std::uint32_t flits, bool arrives) {
    port.enqueue(message, flits);
    if (arrives) left_of_arriving_.push_back(flits);
  }

  bool is_empty() const { return flits_in_flight_ == 0 && port.backlog() == 0; }
  std::uint64_t flits_sent() const { return flits_sent_; }  // also: busy cycles

  // As many cycles as the block has flits: the port sends, everything in flight moves, and the block becomes what comes out.
  // `leave(message, flits)` says whether flits that have crossed go on by another lane: they are not this one's any more. It is not
  // asked unless `some_leave`.
  template <class Leave>
  void advance(std::span<Flit> block, bool some_leave, Leave&& leave) {
    const std::uint64_t sent = port.send(block);
    flits_sent_ += sent;
    flits_in_flight_ += sent;
    crossing_.shift(block);
    for (auto flit = block.begin(); some_leave && flit != block.end();) {
      const auto next = std::find_if(flit, block.end(), [&](const Flit& other) { return other != *flit; });
      const auto flits = static_cast<std::uint64_t>(next - flit);
      if (!flit->is_bubble() && leave(flit->message(), flits)) {
        flits_in_flight_ -= flits;
        std::fill(flit, next, Flit());
      }
      flit = next;
    }
    ends_.shift(block);
  }

  // For how many cycles the next block may go on: within them no message starts or ends but on the block's first or last cycle.
  std::uint64_t quiet_cycles() const {
    const std::uint64_t sending = port.backlog() > 0 ? port.left_of_head() : UINT64_MAX;
    return left_of_arriving_.empty() ? sending : std::min(sending, left_of_arriving_.front());
  }

  // That many flits of the last block came out, all of one message; returns whether its last one did.
  bool eject(std::uint64_t flits) {
    flits_in_flight_ -= flits;
    left_of_arriving_.front() -= flits;
    if (left_of_arriving_.front() > 0) return false;
    left_of_arriving_.pop_front();
    return true;
  }

  InjectionPort port;
  NodeId source;
  bool is_listed = false;  // on the simulator's list of lanes that hold flits

 private:
  std::deque<std::uint64_t> left_of_arriving_;  // flits that have not come out, of each message that comes out here, in order
  DelayLine crossing_;
  DelayLine ends_;
  std::uint64_t flits_sent_ = 0;
  std::uint64_t flits_in_flight_ = 0;
};

}  // namespace certree
