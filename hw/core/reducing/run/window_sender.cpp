#include "reducing/run/window_sender.hpp"

#include <algorithm>

#include "common/splitmix.hpp"

namespace certree {
namespace {

constexpr std::uint32_t kMostDoublings = 6;

}  // namespace

WindowSender::WindowSender(SenderRules rules, std::span<std::uint64_t> cells) : rules_(rules), cells_(cells) {
  rules_.window = static_cast<std::uint32_t>(std::min<std::uint64_t>(rules.window, cells.size()));
  entries_.resize(rules_.window);
}

void WindowSender::note_sent(std::uint32_t number, Cycle now) {
  const std::uint32_t again = entry(number).times_sent++;
  std::uint64_t pause = rules_.timeout << std::min(again, kMostDoublings);
  if (again > 0) pause += splitmix64(splitmix64(rules_.salt + number) + again) % pause;
  deadlines_.push({now + pause, number});
}

void WindowSender::fill(Cycle now, std::vector<std::uint32_t>& out) {
  for (; next_ < cells_.size() && next_ - oldest_ < rules_.window; ++next_) {
    entry(next_) = {};
    note_sent(next_, now);
    out.push_back(next_);
  }
}

void WindowSender::retry(Cycle now, std::vector<std::uint32_t>& out) {
  while (next_retry() <= now) {
    const std::uint32_t number = deadlines_.top().number;
    deadlines_.pop();
    note_sent(number, now);
    out.push_back(number);
  }
}

Cycle WindowSender::next_retry() {
  while (!deadlines_.empty() && has_result(deadlines_.top().number)) deadlines_.pop();
  return deadlines_.empty() ? kNever : deadlines_.top().when;
}

bool WindowSender::take(std::uint32_t number, std::uint64_t value) {
  if (has_result(number)) return false;
  entry(number).has_result = true;
  cells_[number] = value;
  while (oldest_ < next_ && entry(oldest_).has_result) ++oldest_;
  return true;
}

}  // namespace certree
