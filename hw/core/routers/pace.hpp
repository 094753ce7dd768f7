// The rate of lanes that move less than a flit a cycle.
#pragma once

#include <cstdint>

namespace certree {

// A lane moves the first n flits of a message in ⌈n · top / bottom⌉ cycles, top ≥ bottom: so that a message starts with a cycle and
// its length is rounded up once.
class Pace {
 public:
  Pace() = default;
  Pace(std::uint64_t top, std::uint64_t bottom) : top_(top), bottom_(bottom) {}

  bool is_full() const { return top_ == bottom_; }
  // Cycles that flit `index` of a message has a lane for itself.
  std::uint64_t cycles(std::uint64_t index) const { return is_full() ? 1 : end(index + 1) - end(index); }
  // Cycles from the start of a message to the end of its first flits.
  std::uint64_t end(std::uint64_t flits) const {
    return is_full() ? flits : static_cast<std::uint64_t>((Wide{flits} * top_ + bottom_ - 1) / bottom_);
  }

 private:
  __extension__ using Wide = unsigned __int128;
  std::uint64_t top_ = 1;
  std::uint64_t bottom_ = 1;
};

}  // namespace certree
