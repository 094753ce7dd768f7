// One unit at a time: wheel, credits, flit codes, queues, layouts, the watchdog.
#include <map>

#include "check.hpp"
#include "common/event_wheel.hpp"
#include "common/queue.hpp"
#include "interface/scoreboard.hpp"
#include "pair.hpp"
#include "routers/network/watchdog.hpp"
#include "routers/packet.hpp"
#include "routers/router/output_vcs.hpp"

using namespace certree;

namespace {

std::vector<int> taken(EventWheel<int>& wheel, std::uint64_t cycle) {
  std::vector<int> events;
  wheel.take({cycle}, [&](int event) { events.push_back(event); });
  return events;
}

}  // namespace

TEST(an_event_comes_in_its_cycle_and_no_other) {
  EventWheel<int> wheel(200);
  wheel.schedule({70}, 1);
  wheel.schedule({70}, 2);
  wheel.schedule({130}, 3);
  CHECK(wheel.next({0}) == Cycle{70});
  CHECK(taken(wheel, 69).empty());
  CHECK(taken(wheel, 70) == std::vector<int>({1, 2}));
  CHECK(taken(wheel, 70).empty());
  CHECK(wheel.next({71}) == Cycle{130});
  CHECK(taken(wheel, 130) == std::vector<int>({3}));
  CHECK(wheel.is_empty());
  CHECK(wheel.next({131}) == kNever);
}

TEST(the_wheel_finds_the_next_event_from_any_place) {
  for (std::uint64_t from = 0; from < 300; from += 7) {
    for (std::uint64_t ahead = 0; ahead <= 130; ahead += 13) {
      EventWheel<int> wheel(130);
      wheel.schedule({from + ahead}, 1);
      CHECK(wheel.next({from}) == Cycle{from + ahead});
    }
  }
}

TEST(handlers_may_schedule_later_events) {
  EventWheel<int> wheel(10);
  wheel.schedule({5}, 1);
  wheel.take({5}, [&](int) { wheel.schedule({6}, 2); });
  CHECK(taken(wheel, 6) == std::vector<int>({2}));
}

TEST(flit_codes_are_those_of_table_ii) {
  CHECK(flit_code(0, 1, 0) == FlitCode::kHeadTail);
  CHECK(flit_code(0, 3, 0) == FlitCode::kHead);
  CHECK(flit_code(1, 3, 0) == FlitCode::kBody);
  CHECK(flit_code(2, 3, 0) == FlitCode::kTail);
  std::map<FlitCode, int> count;
  for (std::uint32_t flit = 0; flit < 49; ++flit) ++count[flit_code(flit, 49, 16)];
  CHECK(count[FlitCode::kMessageHead] == 1 && count[FlitCode::kMessageTail] == 1);
  CHECK(count[FlitCode::kSubTail] == 3);  // flits 15, 31 and 47
  CHECK(flit_code(15, 49, 16) == FlitCode::kSubTail && flit_code(16, 49, 16) == FlitCode::kMessageBody);
  CHECK(flit_code(0, 1, 16) == FlitCode::kHeadTail);  // Table II has no code for a message of one flit
  CHECK(static_cast<int>(FlitCode::kHeadTail) == 7 && static_cast<int>(FlitCode::kSubTail) == 2);
}

TEST(a_vc_is_blocked_without_credit_and_ready_with_one) {
  OutputVcs vcs(2, 3, false);
  vcs.take(1, 7);
  CHECK(vcs.free() == 1 && vcs.holder(1) == 7);
  for (int flit = 0; flit < 3; ++flit) vcs.send(1, false);
  CHECK(vcs.credits(1) == 0);
  vcs.receive_credit(1);
  CHECK(vcs.credits(1) == 1);
  CHECK(vcs.with_credits(3, 2) == 1);
}

TEST(a_vc_is_free_when_the_tail_leaves_or_when_it_is_empty) {
  OutputVcs at_tail(1, 2, false), when_empty(1, 2, true);
  for (OutputVcs* vcs : {&at_tail, &when_empty}) {
    vcs->take(0, 1);
    vcs->send(0, false);
    vcs->send(0, true);
  }
  CHECK(at_tail.free() == 1 && when_empty.free() == 0);
  when_empty.receive_credit(0);
  CHECK(when_empty.free() == 0);
  when_empty.receive_credit(0);
  CHECK(when_empty.free() == 1);
}

TEST(a_credit_too_many_is_an_error) {
  OutputVcs vcs(1, 2, false);
  CHECK_THROWS(std::logic_error, "more credits than buffer places", vcs.receive_credit(0));
}

TEST(an_arrival_that_has_overtaken_earlier_iterations_counts_after_them) {
  Program program;
  program.repeats = 6;
  program.in_flight = 2;
  program.arrival_begin = {0, 1};
  program.arrival_count = {2};  // in an iteration
  Scoreboard board(program);
  const ArrivalId line{0};
  board.count(line, 4);  // counts after those of iterations 0 and 2
  board.count(line, 2);
  board.count(line, 4);
  CHECK(!board.has(line, 0, 1));
  board.count(line, 0);
  CHECK(board.has(line, 0, 1) && !board.has(line, 0, 2));
  CHECK(!board.has(line, 1, 1));  // another counter
  board.count(line, 0);
  CHECK(board.has(line, 0, 2) && board.has(line, 2, 1) && !board.has(line, 2, 2) && !board.has(line, 4, 1));
  board.count(line, 2);
  CHECK(board.has(line, 2, 2) && board.has(line, 4, 2));
  CHECK(!board.is_over(line));
  for (std::uint32_t iteration : {5, 3, 1}) {
    for (int twice = 0; twice < 2; ++twice) board.count(line, iteration);
  }
  CHECK(board.is_over(line));
}

TEST(a_queue_keeps_its_order_while_it_grows) {
  Queue<int> queue;
  int pushed = 0, popped = 0;
  for (int round = 0; round < 50; ++round) {
    for (int i = 0; i < round % 7; ++i) queue.push_back(pushed++);
    for (int i = 0; i < round % 5 && !queue.empty(); ++i, queue.pop_front()) CHECK(queue.front() == popped++);
  }
  for (; !queue.empty(); queue.pop_front()) CHECK(queue.front() == popped++);
  CHECK(popped == pushed && pushed > 100);
}

TEST(layouts_that_do_not_fit_together_are_refused) {
  pair_layout(2, 4).validate();
  const auto refused = [](const char* what, auto&& change) {
    NetworkLayout layout = pair_layout(2, 4);
    change(layout);
    CHECK_THROWS(std::invalid_argument, what, layout.validate());
  };
  refused("routers, vcs", [](NetworkLayout& layout) { layout.vcs = 65; });
  refused("switch_cycles", [](NetworkLayout& layout) { layout.switch_cycles = 0; });
  refused("different lengths", [](NetworkLayout& layout) { layout.channel_latency.pop_back(); });
  refused("different lengths", [](NetworkLayout& layout) { layout.channel_ring.pop_back(); });
  refused("channel_source", [](NetworkLayout& layout) { layout.channel_source[0] = 2; });
  refused("between two interfaces", [](NetworkLayout& layout) { layout.channel_source[3] = kInterface; });
  refused("input_order", [](NetworkLayout& layout) { layout.input_order[0] = 1; });
  refused("channel_ejection", [](NetworkLayout& layout) { layout.channel_ejection[0] = 9; });
  refused("vc_mask", [](NetworkLayout& layout) { layout.vc_mask[0] = 4; });
  refused("unit_flits", [](NetworkLayout& layout) { layout.unit_flits[0] = 0; });
  refused("sub_message_flits", [](NetworkLayout& layout) { layout.sub_message_flits = {}; });
  refused("table", [](NetworkLayout& layout) { layout.table[1] = 5; });
  refused("routes", [](NetworkLayout& layout) { layout.routes = {{0, 1}, {0}}; });
}

namespace {

// The reports of one waiter that is seen in each of `states`, every `period` cycles from 0 on.
std::vector<Starvation> seen(std::uint64_t bound, std::uint64_t period, const std::vector<Waiter>& states) {
  Watchdog watchdog(bound, 1, {0});
  std::uint64_t cycle = 0;
  for (const Waiter& state : states) {
    CHECK(watchdog.is_due({cycle}));
    watchdog.begin_look({cycle});
    watchdog.look_at(0, state);
    CHECK(!watchdog.is_due({cycle + period - 1}));
    cycle += period;
  }
  CHECK(watchdog.found() == watchdog.reports().size());
  return watchdog.reports();
}

}  // namespace

TEST(waiting_as_long_as_the_bound_while_others_pass_is_starving) {
  std::vector<Waiter> states;
  for (std::uint64_t i = 0; i <= 10; ++i) states.push_back({true, 3, 100 + i});
  const auto reports = seen(80, 10, states);
  CHECK(reports.size() == 1 && reports[0].since == 0 && reports[0].cycles == 100 && reports[0].passed == 10);
  states.resize(8);  // the last look is at 70
  CHECK(seen(80, 10, states).empty());
}

TEST(who_moves_or_has_nothing_to_send_or_is_passed_by_nobody_does_not_starve) {
  std::vector<Waiter> moves, idle, blocked;
  for (std::uint64_t i = 0; i <= 20; ++i) {
    moves.push_back({true, i / 8, i});
    idle.push_back({i % 8 != 7, 3, i});
    blocked.push_back({true, 3, 50});
  }
  CHECK(seen(80, 10, moves).empty());
  CHECK(seen(80, 10, idle).empty());
  CHECK(seen(80, 10, blocked).empty());
}

TEST(each_wait_is_reported_once_and_most_are_only_counted) {
  Watchdog watchdog(1, Watchdog::kMostReports + 5, {0});
  for (std::uint64_t cycle = 0; cycle < 4; ++cycle) {
    watchdog.begin_look({cycle});
    for (std::uint32_t waiter = 0; waiter < Watchdog::kMostReports + 5; ++waiter) watchdog.look_at(waiter, {true, 0, cycle});
  }
  CHECK(watchdog.found() == Watchdog::kMostReports + 5 && watchdog.reports().size() == Watchdog::kMostReports);
  CHECK(watchdog.reports().back().cycles == 3);
}
