// Paced, for endpoints that say when iterations begin: each that is in progress has a timestep counter of its own, as in a state
// machine of an engine, and no row of one waits for a row of another.
#pragma once

#include <memory>
#include <vector>

#include "interface/sequencers/pace_sequencer.hpp"

namespace certree {

// Heads are those of the iterations in progress, in the order in which these began. O(iterations in progress) for each event.
class IterationSequencer final : public Sequencer {
 public:
  IterationSequencer(const Program& program, NodeId node) : program_(program), node_(node) {}
  void begin(std::uint32_t iteration, Cycle now) override {
    auto one = std::make_unique<PaceSequencer>(program_, node_, iteration, now);
    if (one->pending()) in_progress_.push_back(std::move(one));
  }
  void begin_cycle(Cycle now, UnitState units) override {
    for (const auto& one : in_progress_) one->begin_cycle(now, units);
  }
  std::optional<Firing> head(Cycle now) override {
    for (; place_ < in_progress_.size(); ++place_) {
      if (const auto firing = in_progress_[place_]->head(now)) return firing;
    }
    place_ = 0;
    return std::nullopt;
  }
  bool pass_over() override {
    ++place_;
    return true;
  }
  bool pop(Cycle now) override {
    const bool late = in_progress_[place_]->pop(now);
    if (!in_progress_[place_]->pending()) in_progress_.erase(in_progress_.begin() + static_cast<std::ptrdiff_t>(place_));
    return late;
  }
  Cycle wake(Cycle now, UnitState units) const override {
    Cycle when = kNever;
    for (const auto& one : in_progress_) when = std::min(when, one->wake(now, units));
    return when;
  }
  bool is_listening(Cycle) const override { return true; }
  std::optional<Firing> pending() const override { return in_progress_.empty() ? std::nullopt : in_progress_.front()->pending(); }

 private:
  const Program& program_;
  NodeId node_;
  std::vector<std::unique_ptr<PaceSequencer>> in_progress_;
  std::size_t place_ = 0;  // of the head
};

}  // namespace certree
