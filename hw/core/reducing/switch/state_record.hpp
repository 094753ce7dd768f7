// Which contributions have arrived: a matrix of bits, a row for each child and a column, the bitmap, for each place (NetReduce,
// Fig. 20).
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

namespace certree {

// Kept column by column. Memory O(places · children / 64).
class StateRecord {
 public:
  StateRecord(std::uint32_t places, std::uint32_t children)
      : words_((children + 63) / 64), children_(children), bits_(std::size_t{places} * words_), set_(places) {}

  bool has(std::uint32_t place, std::uint32_t child) const { return (word(place, child) >> (child % 64) & 1U) != 0; }
  void set(std::uint32_t place, std::uint32_t child) {
    if (has(place, child)) return;
    bits_[std::size_t{place} * words_ + child / 64] |= std::uint64_t{1} << (child % 64);
    ++set_[place];
  }
  void clear(std::uint32_t place) {
    for (std::uint32_t i = 0; i < words_; ++i) bits_[std::size_t{place} * words_ + i] = 0;
    set_[place] = 0;
  }
  std::uint32_t arrived(std::uint32_t place) const { return set_[place]; }
  bool is_complete(std::uint32_t place) const { return set_[place] == children_; }
  std::uint64_t first_word(std::uint32_t place) const { return bits_[std::size_t{place} * words_]; }

 private:
  std::uint64_t word(std::uint32_t place, std::uint32_t child) const { return bits_[std::size_t{place} * words_ + child / 64]; }

  std::uint32_t words_;
  std::uint32_t children_;
  std::vector<std::uint64_t> bits_;
  std::vector<std::uint32_t> set_;  // bits that are set, of each place
};

}  // namespace certree
