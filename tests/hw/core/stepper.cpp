// Packets that are decided on as it goes: when they arrive, which goes first, by which interface they leave.
#include "routers/run/packet_stepper.hpp"

#include "check.hpp"
#include "pair.hpp"

using namespace certree;

namespace {

// One router with two interfaces; route 0 ends at the first of them, route 1 at the second, route 2 at a third.
NetworkLayout two_interfaces(std::uint32_t vcs) {
  NetworkLayout layout = pair_layout(vcs, 40);
  layout.routers = 1;
  layout.channel_source = {kInterface, kInterface, 0, 0};
  layout.channel_destination = {0, 0, kInterface, kInterface};
  layout.channel_latency = {1, 1, 1, 1};
  layout.input_order = {0, 1, 2, 3};
  layout.channel_ejection = {0, 0, kInterface, kInterface};
  layout.channel_ring.assign(4, kInterface);
  layout.table = {Hop::kEjectPort};
  layout.routes = {{0, 1, 2, 3}, {Hop::kEjectAt, Hop::kEjectAt + 1, Hop::kEjectAt + 2}};
  return layout;
}

std::vector<std::uint64_t> arrivals(PacketStepper& run) {
  std::vector<std::uint64_t> times;
  while (!run.is_idle()) {
    run.advance(kNever);
    for (const PacketId id : run.received()) {
      if (times.size() <= id.value) times.resize(id.value + 1);
      times[id.value] = run.network().now().value;
    }
  }
  return times;
}

}  // namespace

TEST(a_packet_may_be_sent_in_any_cycle) {
  PacketStepper run(two_interfaces(1));
  run.advance({100});
  CHECK(run.network().now().value == 100 && run.received().empty());
  CHECK(run.send(0, 0, 5, 0, 0) == 0 && run.backlog(0) == 5 && run.backlog(1) == 0);
  run.advance({102});
  CHECK(run.network().now().value == 102 && run.backlog(0) == 3);
  run.advance(kNever);
  CHECK(run.network().now().value == 111 &&
        run.received() == std::vector<PacketId>{{0}});  // 1 + 2 wires + 4 cycles, and 4 flits behind
  CHECK(run.send(0, 0, 1, 0, 0) == 1);                  // its number is only free once the next cycle has come
  run.advance(kNever);
  CHECK(run.send(0, 0, 1, 0, 0) == 0);
}

TEST(it_is_idle_when_the_last_credit_is_back) {
  PacketStepper run(two_interfaces(1));
  run.send(0, 0, 1, 0, 0);
  run.advance(kNever);
  CHECK(run.network().now().value == 7 && !run.is_idle());
  run.advance(kNever);
  CHECK(run.is_idle() && run.network().now().value == 7 + 2 + 1);  // the credit of the last channel, and the cycle behind it
}

TEST(a_way_says_by_which_interface_it_ends) {
  PacketStepper apart(two_interfaces(1)), together(two_interfaces(1));
  for (const std::uint32_t injector : {0U, 1U}) {
    apart.send(injector, 0, 20, injector, 0);
    together.send(injector, 0, 20, 0, 0);
  }
  const auto side_by_side = arrivals(apart), one_after_another = arrivals(together);
  CHECK(side_by_side[0] == 26 && side_by_side[1] == 26);
  CHECK(one_after_another[0] == 26 && one_after_another[1] >= 46);
}

TEST(an_interface_that_is_not_there_is_refused) {
  PacketStepper run(two_interfaces(1));
  run.send(0, 0, 1, 2, 0);
  CHECK_THROWS(std::logic_error, "a port that does not exist", run.advance(kNever));
  CHECK_THROWS(std::invalid_argument, "route does not exist", run.send(0, 0, 1, 3, 0));
}

TEST(of_packets_behind_one_port_the_highest_priority_goes_first) {
  for (const std::uint32_t favoured : {1U, 2U}) {
    PacketStepper run(two_interfaces(3));
    run.send(1, 0, 60, 0, 0);  // every other flit of the output, so that what comes by the other port piles up
    for (const std::uint32_t packet : {1U, 2U}) run.send(0, 0, 12, 0, packet == favoured ? 1 : 0);
    const auto times = arrivals(run);
    CHECK(times[favoured] < times[3 - favoured]);
  }
}
