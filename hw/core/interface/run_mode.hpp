// Slotted or paced, and the sequencer that each uses.
#pragma once

#include <memory>
#include <string_view>

#include "common/choices.hpp"
#include "interface/sequencers/merging_sequencer.hpp"
#include "interface/sequencers/pace_sequencer.hpp"
#include "interface/sequencers/slot_sequencer.hpp"

namespace certree {

enum class RunMode : std::uint8_t { kSlotted, kPaced };

// Throws std::invalid_argument for an unknown name.
inline RunMode run_mode(std::string_view name) {
  return chosen<RunMode>("run mode", name, {{"slotted", RunMode::kSlotted}, {"paced", RunMode::kPaced}});
}

inline std::unique_ptr<Sequencer> make_sequencer(const Program& program, RunMode mode, NodeId node) {
  if (mode == RunMode::kPaced) return std::make_unique<PaceSequencer>(program, node);
  return std::make_unique<SlotSequencer>(program, node);
}

}  // namespace certree
