#include "reducing/switch/state_manager.hpp"

namespace certree {

Ruling StateManager::contribution(std::uint32_t child, std::uint32_t number) {
  Ruling ruling;
  const std::uint32_t place = ruling.place = place_of(number);
  if (number < numbers_[place]) return ruling;
  if (number > numbers_[place]) {
    ruling.takes_over = true;
    numbers_[place] = number;
    has_result_[place] = 0;
    record_.clear(place);
  }
  const bool had_result = has_result(place);
  if (!record_.has(place, child)) {
    record_.set(place, child);
    ruling.is_added = true;
    ruling.completes = record_.is_complete(place);
    if (ruling.completes && is_root_) has_result_[place] = ruling.is_result = true;
  }
  if (!record_.is_complete(place)) return ruling;
  if (!has_result(place)) {
    ruling.answer = Answer::kUp;
  } else {
    ruling.answer = had_result ? Answer::kOne : Answer::kAll;
  }
  return ruling;
}

Ruling StateManager::result(std::uint32_t number) {
  Ruling ruling;
  const std::uint32_t place = ruling.place = place_of(number);
  if (number != numbers_[place] || !record_.is_complete(place)) return ruling;
  ruling.is_result = !has_result(place);
  has_result_[place] = 1;
  ruling.answer = Answer::kAll;
  return ruling;
}

}  // namespace certree
