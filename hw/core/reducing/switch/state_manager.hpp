// Decides what becomes of each packet at the aggregators of one flow; `specs/InNetworkReduce.tla` is the same in mathematics.
#pragma once

#include "reducing/switch/state_record.hpp"

namespace certree {

// What is to be sent when a packet has been taken: nothing, the sum to the switch above, the result to the child that asks again,
// or to all children.
enum class Answer : std::uint8_t { kNothing, kUp, kOne, kAll };

// What the other arrays have to do, before the answer.
struct Ruling {
  std::uint32_t place = 0;
  bool takes_over = false;  // the place begins with this packet: everything in it is forgotten
  bool is_added = false;    // the contribution was not yet in the sum
  bool completes = false;   // this contribution was the last one
  bool is_result = false;   // the place has its result from now on
  Answer answer = Answer::kNothing;
};

// Packet q is worked on in place q % places. Of two packets of one place the later one takes it; what comes for an earlier one does
// not count. Time O(1) for each packet, O(children / 64) when a place begins again.
class StateManager {
 public:
  StateManager(std::uint32_t places, std::uint32_t children, bool is_root)
      : record_(places, children), numbers_(places), has_result_(places), is_root_(is_root) {
    for (std::uint32_t place = 0; place < places; ++place) numbers_[place] = place;
  }

  // A contribution of a child.
  Ruling contribution(std::uint32_t child, std::uint32_t number);
  // A result from above.
  Ruling result(std::uint32_t number);

  std::uint32_t place_of(std::uint32_t number) const { return number % static_cast<std::uint32_t>(numbers_.size()); }
  std::uint32_t number(std::uint32_t place) const { return numbers_[place]; }
  bool has_result(std::uint32_t place) const { return has_result_[place] != 0; }
  const StateRecord& record() const { return record_; }

 private:
  StateRecord record_;
  std::vector<std::uint32_t> numbers_;    // what each place works on
  std::vector<std::uint8_t> has_result_;  // of each place
  bool is_root_;
};

}  // namespace certree
