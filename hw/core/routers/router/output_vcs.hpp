// The sending end of a channel: who holds which of its virtual channels, and the credits for the buffers at its other end.
#pragma once

#include <bit>
#include <stdexcept>
#include <vector>

#include "routers/network_layout.hpp"

namespace certree {

class OutputVcs {
 public:
  static constexpr std::uint32_t kNobody = UINT32_MAX;

  OutputVcs(std::uint32_t vcs, std::uint32_t buffer_flits, bool reuse_when_empty)
      : states_(vcs, State{buffer_flits, kNobody, false}),
        free_(vcs == kMaxVcs ? ~std::uint64_t{0} : (std::uint64_t{1} << vcs) - 1),
        with_room_(free_),
        buffer_flits_(buffer_flits),
        reuse_when_empty_(reuse_when_empty) {}

  std::uint64_t free() const { return free_; }
  std::uint32_t credits(std::uint32_t vc) const { return states_[vc].credits; }
  bool has_credit(std::uint32_t vc) const { return (with_room_ >> vc & 1) != 0; }
  std::uint32_t holder(std::uint32_t vc) const { return states_[vc].holder; }

  // Those of `vcs` with `flits` credits at least.
  std::uint64_t with_credits(std::uint64_t vcs, std::uint32_t flits) const {
    if (flits == 1) return vcs & with_room_;
    for (std::uint64_t left = vcs; left != 0; left &= left - 1) {
      const auto vc = static_cast<std::uint32_t>(std::countr_zero(left));
      if (states_[vc].credits < flits) vcs &= ~(std::uint64_t{1} << vc);
    }
    return vcs;
  }

  void take(std::uint32_t vc, std::uint32_t holder) {
    free_ &= ~(std::uint64_t{1} << vc);
    states_[vc].holder = holder;
    states_[vc].tail_is_sent = false;
  }

  void send(std::uint32_t vc, bool is_tail) {
    if (--states_[vc].credits == 0) with_room_ &= ~(std::uint64_t{1} << vc);
    if (!is_tail) return;
    states_[vc].holder = kNobody;
    states_[vc].tail_is_sent = true;
    if (!reuse_when_empty_) free_ |= std::uint64_t{1} << vc;
  }

  void receive_credit(std::uint32_t vc) {
    State& state = states_[vc];
    with_room_ |= std::uint64_t{1} << vc;
    if (++state.credits > buffer_flits_) throw std::logic_error("a virtual channel has more credits than buffer places");
    if (reuse_when_empty_ && state.tail_is_sent && state.credits == buffer_flits_) free_ |= std::uint64_t{1} << vc;
  }

 private:
  struct State {
    std::uint32_t credits;
    std::uint32_t holder;
    bool tail_is_sent;
  };
  std::vector<State> states_;
  std::uint64_t free_;
  std::uint64_t with_room_;  // those with a credit at least
  std::uint32_t buffer_flits_;
  bool reuse_when_empty_;
};

}  // namespace certree
