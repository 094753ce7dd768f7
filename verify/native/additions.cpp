#include "additions.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <stdexcept>
#include <utility>

namespace certree {
namespace {

constexpr int32_t kNothing = -1;
constexpr int64_t kNever = std::numeric_limits<int64_t>::min();

// Sums by their operands, in a table with open addressing.
class Sums {
 public:
  explicit Sums(int32_t ranks) : ranks_(ranks), slots_(1024, kNothing) {}

  int32_t of(int32_t a, int32_t b) {
    const std::pair<int32_t, int32_t> operands = std::minmax(a, b);
    if (2 * left_.size() >= slots_.size()) grow();
    const size_t slot = slot_of(operands.first, operands.second);
    if (slots_[slot] != kNothing) return ranks_ + slots_[slot];
    if (left_.size() >= static_cast<size_t>(std::numeric_limits<int32_t>::max() - ranks_)) throw std::length_error("too many sums");
    slots_[slot] = static_cast<int32_t>(left_.size());
    left_.push_back(operands.first);
    right_.push_back(operands.second);
    return ranks_ + slots_[slot];
  }

  std::vector<int32_t> left_, right_;

 private:
  // The place of a sum in the table, or the empty one where it belongs.
  size_t slot_of(int32_t a, int32_t b) const {
    const uint64_t key = static_cast<uint64_t>(static_cast<uint32_t>(a)) << 32 | static_cast<uint32_t>(b);
    size_t slot = (key * 0x9E3779B97F4A7C15ULL) >> (64 - std::countr_zero(slots_.size()));
    while (slots_[slot] != kNothing && (left_[slots_[slot]] != a || right_[slots_[slot]] != b))
      slot = (slot + 1) & (slots_.size() - 1);
    return slot;
  }

  void grow() {
    slots_.assign(4 * slots_.size(), kNothing);
    for (size_t sum = 0; sum < left_.size(); ++sum) slots_[slot_of(left_[sum], right_[sum])] = static_cast<int32_t>(sum);
  }

  int32_t ranks_;
  std::vector<int32_t> slots_;
};

}  // namespace

AddedUp add_up(const CarriedRows& rows, std::vector<int32_t> held, int32_t ranks, int64_t apart) {
  Sums sums(ranks);
  AddedUp found;
  const size_t count = rows.src.size();
  std::vector<int32_t> carried(count, kNothing);
  std::vector<int64_t> last(held.size(), kNever);  // by cell when the operand before came to it
  size_t landed = 0;
  const auto land_until = [&](int64_t time) {
    for (; landed < count; ++landed) {
      const size_t row = rows.landing.empty() ? landed : static_cast<size_t>(rows.landing[landed]);
      if (rows.landed(row) > time) return;
      const int64_t target = rows.target(row);
      int32_t& cell = held[target];
      int64_t& before = last[target];
      if (rows.op[row] != 0) {
        cell = carried[row];
        before = kNever;
        continue;
      }
      const int64_t comes = rows.came(row);
      if (before != kNever && comes - before < apart && found.ties++ == 0) found.tied = static_cast<int64_t>(row);
      before = cell == kNothing ? kNever : comes;  // the first two operands of an empty cell need no order
      cell = cell == kNothing ? carried[row] : carried[row] == kNothing ? cell : sums.of(cell, carried[row]);
    }
  };
  for (size_t i = 0; i < count; ++i) {
    const size_t row = rows.leaving.empty() ? i : static_cast<size_t>(rows.leaving[i]);
    land_until(rows.step[row]);
    carried[row] = held[rows.source(row)];
  }
  land_until(std::numeric_limits<int64_t>::max());
  found.held = std::move(held);
  found.left = std::move(sums.left_);
  found.right = std::move(sums.right_);
  return found;
}

}  // namespace certree
