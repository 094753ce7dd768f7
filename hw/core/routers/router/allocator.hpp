// Matches requesters (inputs) with resources (outputs): each gets one of the other at most.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "routers/network_layout.hpp"

namespace certree {

struct Match {
  std::uint32_t input;
  std::uint32_t output;
};

// Round-robin arbiters on both sides. iSLIP (McKeown 1999): outputs choose first, each an input that asks for it, then each input
// accepts one of the outputs that chose it; pointers move past a match of the first iteration only. The separable allocator lets
// the inputs choose first. Sets are bits in words of 64: an iteration costs O(choosers · words), and O(1) for each match.
class Allocator {
 public:
  Allocator(AllocatorKind kind, std::uint32_t iterations, std::uint32_t inputs, std::uint32_t outputs);

  // Asks for a match in the next allocation.
  void request(std::uint32_t input, std::uint32_t output) {
    const std::uint32_t chooser = outputs_choose_ ? output : input, asker = outputs_choose_ ? input : output;
    rows_[std::size_t{chooser} * asker_words_ + asker / 64] |= std::uint64_t{1} << (asker % 64);
    asked_[chooser / 64] |= std::uint64_t{1} << (chooser % 64);
  }

  // Matches what was requested since the last time.
  std::span<const Match> allocate();

  // Matches an input without competitors for any of its requested outputs at once: bits of `wanted`, from `base` on.
  Match match_alone(std::uint32_t input, std::uint32_t base, std::uint64_t wanted);

 private:
  template <bool kOneWord>
  void iterate(bool is_first, bool is_last);
  void withdraw(std::size_t first_match);

  bool outputs_choose_;
  std::uint32_t iterations_;
  std::uint32_t asker_words_;
  std::uint32_t chooser_words_;
  std::vector<std::uint32_t> chooser_pointers_;  // who is preferred
  std::vector<std::uint32_t> asker_pointers_;
  std::vector<std::uint64_t> rows_;    // chooser -> set of those that ask it
  std::vector<std::uint64_t> asked_;   // set of choosers with requests that are still open
  std::vector<std::uint64_t> offers_;  // asker -> set of choosers that chose it, in one iteration
  std::vector<std::uint64_t> chosen_;  // set of askers with offers
  std::vector<Match> matches_;
};

}  // namespace certree
