// Several collectives in one run of tables: which iterations are whose, and in which order nodes begin them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "endpoint/units/load_order.hpp"
#include "interface/sequencers/iteration_order.hpp"

namespace certree::endpoint {

// Iterations of all collectives execute the same tables. The order is that of LoadOrder, the same at every node, or a stated one,
// that of another run. An iteration begins a period of the tables after the one before it, as those of one collective do; after a
// time in which nothing was left to begin, behind the step that the first node has come to: no row of a step of it has fired, so
// that a run in this order, which knows it from the start, keeps no row waiting that did not wait here.
class Collectives final : public IterationOrder {
 public:
  Collectives(std::vector<Command> commands, bool lifo, std::vector<Begun> stated)
      : order_(std::move(commands), lifo),
        begun_(std::move(stated)),
        is_stated_(!begun_.empty()),
        ends_(order_.commands().size()) {}

  void set_period(std::uint64_t period) { period_ = period; }
  // Whether there is a `place`-th iteration to begin by now, and which one.
  bool knows(std::uint64_t place, Cycle now) {
    if (is_stated_) return place < begun_.size() && is_asked_for(begun_[place].iteration, now);
    return place < begun_.size() || chooses(now);
  }
  std::uint32_t operator[](std::uint64_t place) const { return begun_[place].iteration; }
  const Begun* at(std::uint64_t place, Cycle now, std::uint64_t step, bool is_idle) override {
    if (place < begun_.size()) return &begun_[place];
    const bool has_come = is_idle || begun_.empty() || begun_.back().first_step + period_ <= step;
    return !is_stated_ && has_come && chooses(now) ? &begun_[place] : nullptr;
  }
  bool is_asked_for(std::uint32_t iteration, Cycle now) const override { return asked_for(iteration) <= now; }
  const std::vector<Command>& commands() const { return order_.commands(); }
  const std::vector<Begun>& begun() const { return begun_; }

  Cycle asked_for(std::uint32_t iteration) const { return commands()[collective_of(iteration)].start; }
  // An iteration is over at a node.
  void note_end(std::uint32_t iteration, Cycle now) {
    Cycle& end = ends_[collective_of(iteration)];
    end = std::max(end, now);
  }
  const std::vector<Cycle>& ends() const { return ends_; }  // of each collective, at the last node so far

 private:
  // Whether there is another iteration by now, which is the next in order then.
  bool chooses(Cycle now) {
    const std::uint64_t place = begun_.size();
    if (!order_.knows(place, now)) return false;
    const std::uint64_t after = begun_.empty() ? 0 : begun_.back().first_step + period_;
    const std::uint64_t first = is_fresh_ && place > 0 ? std::max(after, furthest_ + 1) : after;
    begun_.push_back({order_[place].value, first, is_fresh_});
    is_fresh_ = !order_.has_more(now);
    return true;
  }
  std::size_t collective_of(std::uint32_t iteration) const {
    const auto found = std::upper_bound(commands().begin(), commands().end(), iteration,
                                        [](std::uint32_t number, const Command& command) { return number < command.last; });
    return static_cast<std::size_t>(found - commands().begin());
  }

  LoadOrder order_;
  std::vector<Begun> begun_;  // so far, or all that are stated
  bool is_stated_;
  bool is_fresh_ = true;  // the next one: nothing was left to begin when the last one was chosen
  std::uint64_t period_ = 1;
  std::vector<Cycle> ends_;
};

}  // namespace certree::endpoint
