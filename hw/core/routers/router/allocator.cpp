#include "routers/router/allocator.hpp"

#include <algorithm>
#include <bit>

namespace certree {
namespace {

std::uint32_t words_for(std::size_t members) { return static_cast<std::uint32_t>((members + 63) / 64); }
std::uint64_t bit_of(std::uint32_t member) { return std::uint64_t{1} << (member % 64); }
std::uint32_t first_of(std::uint64_t word) { return static_cast<std::uint32_t>(std::countr_zero(word)); }

// The first member from `start` on, around; the set is not empty.
std::uint32_t first_from(const std::uint64_t* set, std::uint32_t words, std::uint32_t start) {
  const std::uint32_t word = start / 64;
  const std::uint64_t ahead = set[word] & (~std::uint64_t{0} << (start % 64));
  if (words == 1) return first_of(ahead != 0 ? ahead : set[0]);
  if (ahead != 0) return word * 64 + first_of(ahead);
  std::uint32_t next = word;
  do {
    next = next + 1 == words ? 0 : next + 1;
  } while (set[next] == 0);
  return next * 64 + first_of(set[next]);
}

std::uint32_t behind(std::uint32_t member, std::size_t members) { return member + 1 == members ? 0 : member + 1; }

}  // namespace

Allocator::Allocator(AllocatorKind kind, std::uint32_t iterations, std::uint32_t inputs, std::uint32_t outputs)
    : outputs_choose_(kind == AllocatorKind::kIslip),
      iterations_(iterations),
      asker_words_(words_for(outputs_choose_ ? inputs : outputs)),
      chooser_words_(words_for(outputs_choose_ ? outputs : inputs)),
      chooser_pointers_(outputs_choose_ ? outputs : inputs),
      asker_pointers_(outputs_choose_ ? inputs : outputs),
      rows_(chooser_pointers_.size() * asker_words_),
      asked_(chooser_words_),
      offers_(asker_pointers_.size() * chooser_words_),
      chosen_(asker_words_) {}

Match Allocator::match_alone(std::uint32_t input, std::uint32_t base, std::uint64_t wanted) {
  auto& input_pointers = outputs_choose_ ? asker_pointers_ : chooser_pointers_;
  auto& output_pointers = outputs_choose_ ? chooser_pointers_ : asker_pointers_;
  const std::uint32_t offset = input_pointers[input] - base;  // wraps around for a pointer before the base
  const std::uint64_t ahead = offset < 64 ? wanted >> offset << offset : 0;
  const std::uint32_t output = base + first_of(ahead != 0 ? ahead : wanted);
  input_pointers[input] = behind(output, output_pointers.size());
  output_pointers[output] = behind(input, input_pointers.size());
  return {input, output};
}

std::span<const Match> Allocator::allocate() {
  matches_.clear();
  const bool one_word = asker_words_ == 1 && chooser_words_ == 1;
  for (std::uint32_t iteration = 0; iteration < iterations_; ++iteration) {
    const std::size_t before = matches_.size();
    const bool is_last = iteration + 1 == iterations_;
    one_word ? iterate<true>(iteration == 0, is_last) : iterate<false>(iteration == 0, is_last);
    if (!is_last) withdraw(before);
  }
  return matches_;
}

template <bool kOneWord>
void Allocator::iterate(bool is_first, bool is_last) {
  const std::uint32_t asker_words = kOneWord ? 1 : asker_words_, chooser_words = kOneWord ? 1 : chooser_words_;
  for (std::uint32_t word = 0; word < chooser_words; ++word) {
    for (std::uint64_t left = asked_[word]; left != 0; left &= left - 1) {
      const std::uint32_t chooser = word * 64 + first_of(left);
      std::uint64_t* const row = &rows_[std::size_t{chooser} * asker_words];
      const std::uint32_t asker = first_from(row, asker_words, chooser_pointers_[chooser]);
      if (is_last) std::fill_n(row, asker_words, 0);
      offers_[std::size_t{asker} * chooser_words + word] |= bit_of(chooser);
      chosen_[kOneWord ? 0 : asker / 64] |= bit_of(asker);
    }
    if (is_last) asked_[word] = 0;
  }
  for (std::uint32_t word = 0; word < asker_words; ++word) {
    for (std::uint64_t left = chosen_[word]; left != 0; left &= left - 1) {
      const std::uint32_t asker = word * 64 + first_of(left);
      std::uint64_t* const offers = &offers_[std::size_t{asker} * chooser_words];
      const std::uint32_t chooser = first_from(offers, chooser_words, asker_pointers_[asker]);
      std::fill_n(offers, chooser_words, 0);
      matches_.push_back(outputs_choose_ ? Match{asker, chooser} : Match{chooser, asker});
      if (!is_first) continue;
      asker_pointers_[asker] = behind(chooser, chooser_pointers_.size());
      chooser_pointers_[chooser] = behind(asker, asker_pointers_.size());
    }
    chosen_[word] = 0;
  }
}

// An input or output that is matched does not take part in later iterations.
void Allocator::withdraw(std::size_t first_match) {
  for (const Match& match : std::span(matches_).subspan(first_match)) {
    const std::uint32_t chooser = outputs_choose_ ? match.output : match.input;
    const std::uint32_t asker = outputs_choose_ ? match.input : match.output;
    std::fill_n(rows_.begin() + std::size_t{chooser} * asker_words_, asker_words_, 0);
    for (std::uint32_t word = 0; word < chooser_words_; ++word) {
      for (std::uint64_t left = asked_[word]; left != 0; left &= left - 1) {
        rows_[std::size_t{word * 64 + first_of(left)} * asker_words_ + asker / 64] &= ~bit_of(asker);
      }
    }
  }
  for (std::uint32_t word = 0; word < chooser_words_; ++word) {
    for (std::uint64_t left = asked_[word]; left != 0; left &= left - 1) {
      const auto row = rows_.begin() + std::size_t{word * 64 + first_of(left)} * asker_words_;
      if (std::all_of(row, row + asker_words_, [](std::uint64_t bits) { return bits == 0; })) asked_[word] &= ~(left & -left);
    }
  }
}

}  // namespace certree
