// Units of reducing switches: what becomes of early, late and repeated packets, windows, fates.
#include "check.hpp"
#include "reducing/carriers/packet_faults.hpp"
#include "reducing/run/window_sender.hpp"
#include "reducing/switch/aggregator.hpp"
#include "reducing/switch/payload_buffer.hpp"

using namespace certree;

namespace {

// Two children, edges 0 and 1, at the root or (edge 2) below it.
struct Bench {
  explicit Bench(std::uint32_t places, std::optional<EdgeId> above = std::nullopt) : aggregator(places, {{0}, {1}}, above) {}

  Ruling add(std::uint32_t child, std::uint32_t number, std::uint64_t value) {
    sent.clear();
    return aggregator.add({{child}, true, number, value}, child, {0}, used, sent);
  }
  Ruling pass(std::uint32_t number, std::uint64_t value) {
    sent.clear();
    return aggregator.pass({{2}, false, number, value}, {0}, used, sent);
  }

  Aggregator aggregator;
  Occupancy used;
  std::vector<AggregationPacket> sent;
};

}  // namespace

TEST(the_root_multicasts_once_and_answers_who_asks_again) {
  Bench root(2);
  CHECK(root.add(0, 0, 5).answer == Answer::kNothing);
  CHECK(!root.add(0, 0, 5).is_added);
  const Ruling last = root.add(1, 0, 7);
  CHECK(last.completes && last.is_result && last.answer == Answer::kAll);
  CHECK(root.sent.size() == 2 && root.sent[0].value == 12 && root.sent[1].edge == EdgeId{1} && !root.sent[1].is_up);
  CHECK(root.add(1, 0, 7).answer == Answer::kOne);
  CHECK(root.sent.size() == 1 && root.sent[0].edge == EdgeId{1} && root.sent[0].value == 12);
}

TEST(a_later_packet_takes_the_place_and_an_earlier_one_does_not_count) {
  Bench root(2);
  root.add(0, 0, 5);
  const Ruling later = root.add(1, 2, 9);
  CHECK(later.takes_over && later.place == 0 && later.answer == Answer::kNothing);
  const Ruling late = root.add(1, 0, 7);
  CHECK(!late.is_added && !late.takes_over && late.answer == Answer::kNothing);
  root.add(0, 2, 1);
  CHECK(root.sent[0].number == 2 && root.sent[0].value == 10);
}

TEST(a_switch_below_asks_above_as_often_as_it_is_asked_until_it_knows) {
  Bench below(2, EdgeId{2});
  CHECK(below.pass(0, 99).answer == Answer::kNothing);
  below.add(0, 0, 5);
  CHECK(below.add(1, 0, 7).answer == Answer::kUp);
  CHECK(below.sent[0].is_up && below.sent[0].edge == EdgeId{2} && below.sent[0].value == 12);
  CHECK(below.add(0, 0, 5).answer == Answer::kUp);
  CHECK(below.pass(0, 100).answer == Answer::kAll);
  CHECK(below.sent.size() == 2 && below.sent[0].value == 100);
  CHECK(below.add(0, 0, 5).answer == Answer::kOne);
  CHECK(below.sent[0].value == 100);
  CHECK(below.pass(0, 100).answer == Answer::kAll);
  CHECK(below.used.most() == 1 && below.used.cycles({10}) == 0);
}

TEST(more_children_than_a_word_has_bits) {
  StateManager state(2, 130, true);
  for (std::uint32_t child = 0; child < 129; ++child) CHECK(state.contribution(child, 1).answer == Answer::kNothing);
  CHECK(!state.contribution(128, 1).is_added);
  CHECK(state.contribution(129, 1).answer == Answer::kAll);
  CHECK(state.contribution(5, 3).takes_over);
  CHECK(state.record().arrived(1) == 1 && state.record().has(1, 5) && !state.record().has(1, 6));
}

TEST(a_window_moves_with_its_oldest_packet) {
  std::vector<std::uint64_t> cells{10, 11, 12, 13};
  WindowSender sender({2, 100, 1}, cells);
  std::vector<std::uint32_t> sent;
  sender.fill({0}, sent);
  CHECK(sent == std::vector<std::uint32_t>({0, 1}));
  CHECK(sender.take(1, 91) && !sender.take(1, 91));
  sender.fill({1}, sent);
  CHECK(sent.size() == 2);  // the oldest is still without a result
  CHECK(sender.take(0, 90));
  sender.fill({2}, sent);
  CHECK(sent == std::vector<std::uint32_t>({0, 1, 2, 3}));
  CHECK(cells == std::vector<std::uint64_t>({90, 91, 12, 13}));
  CHECK(!sender.take(0, 90));
  sender.take(3, 93);
  sender.take(2, 92);
  CHECK(sender.is_done() && sender.next_retry() == kNever);
}

TEST(what_is_overdue_is_sent_again_after_longer_and_longer_pauses) {
  std::vector<std::uint64_t> cells(1);
  WindowSender sender({1, 100, 7}, cells);
  std::vector<std::uint32_t> sent;
  sender.fill({0}, sent);
  CHECK(sender.next_retry() == Cycle{100});
  sender.retry({99}, sent);
  CHECK(sent.size() == 1);
  Cycle now{100};
  for (std::uint32_t times = 2; times < 12; ++times) {
    sender.retry(now, sent);
    CHECK(sent.size() == times && sender.times_sent(0) == times);
    const std::uint64_t pause = sender.next_retry() - now, least = std::uint64_t{100} << std::min(times - 1, 6U);
    CHECK(least <= pause && pause < 2 * least);
    now = sender.next_retry();
  }
}

TEST(a_full_payload_buffer_drops) {
  PayloadBuffer buffer(2);
  std::uint32_t first = 0, second = 0, third = 0;
  CHECK(buffer.accept({{0}, true, 0, 1}, first) && buffer.accept({{1}, true, 0, 2}, second));
  CHECK(!buffer.accept({{0}, true, 1, 3}, third));
  CHECK(buffer.release(first).value == 1);
  CHECK(buffer.accept({{0}, true, 1, 3}, third) && buffer.release(third).value == 3);
  CHECK(buffer.most() == 2 && buffer.dropped() == 1 && buffer.size() == 1);
}

TEST(fates_depend_on_nothing_but_the_packet_and_the_seed) {
  const PacketFaults faults(3, UINT64_MAX / 4, UINT64_MAX / 8, 20), others(4, UINT64_MAX / 4, UINT64_MAX / 8, 20);
  int lost = 0, copied = 0, different = 0;
  for (std::uint64_t before = 0; before < 4000; ++before) {
    const Fate fate = faults.fate({5}, true, before);
    CHECK(fate.is_lost == faults.fate({5}, true, before).is_lost && fate.late <= 20 && fate.copy_late <= 20);
    lost += fate.is_lost;
    copied += fate.is_copied;
    different += fate.late != faults.fate({5}, false, before).late && fate.late != others.fate({5}, true, before).late;
  }
  CHECK(900 < lost && lost < 1100 && 400 < copied && copied < 600 && different > 3000);
  CHECK(!PacketFaults(3, 0, 0, 0).fate({5}, true, 0).is_lost);
}
