// Two routers: when flits move, when they must wait, and what cannot happen.
#include "check.hpp"
#include "pair.hpp"
#include "routers/network/flit_network.hpp"
#include "routers/run/packet_run.hpp"

using namespace certree;

namespace {

PacketList list(std::vector<std::uint32_t> flits, std::vector<std::uint64_t> release) {
  const std::size_t count = flits.size();
  return {std::vector<std::uint32_t>(count, 0), std::vector<std::uint32_t>(count, 1), flits,
          std::vector<std::uint32_t>(count, kTableRouted), release};
}

std::vector<std::uint64_t> tails(NetworkLayout layout, const PacketList& packets) {
  PacketRun run(std::move(layout), packets);
  while (!run.run(100)) {
  }
  CHECK(!run.is_deadlocked());
  std::vector<std::uint64_t> times;
  for (const Packet& packet : run.network().packets()) times.push_back(packet.tail.value);
  return times;
}

}  // namespace

TEST(a_flit_passes_one_link_in_twelve_cycles) {
  CHECK(tails(pair_layout(1, 8), list({1}, {0})) == std::vector<std::uint64_t>({12}));
  CHECK(tails(pair_layout(1, 8), list({1}, {1000})) == std::vector<std::uint64_t>({1012}));
}

TEST(a_buffer_as_long_as_the_loop_of_a_credit_never_stalls) {
  CHECK(tails(pair_layout(1, 5), list({21}, {0})) == std::vector<std::uint64_t>({32}));
  CHECK(tails(pair_layout(1, 4), list({21}, {0})) == std::vector<std::uint64_t>({32 + 5}));  // a cycle for each four flits
}

TEST(the_next_packet_of_a_vc_is_routed_after_the_tail_before) {
  CHECK(tails(pair_layout(1, 8), list({4, 4}, {0, 0})) == std::vector<std::uint64_t>({15, 15 + 6}));
  CHECK(tails(pair_layout(2, 8), list({4, 4}, {0, 0})) == std::vector<std::uint64_t>({15, 15 + 4}));
}

TEST(cut_through_waits_until_a_packet_fits_whole) {
  NetworkLayout layout = pair_layout(1, 8);
  const std::uint64_t wormhole = tails(layout, list({6, 6}, {0, 0}))[1];
  layout.unit_flits = {UINT32_MAX};
  CHECK(tails(layout, list({6, 6}, {0, 0}))[1] > wormhole);
}

TEST(a_packet_that_never_fits_is_a_deadlock_that_names_it) {
  NetworkLayout layout = pair_layout(1, 8);
  layout.unit_flits = {UINT32_MAX};
  PacketRun run(layout, list({9}, {0}));
  CHECK(run.run(1000));
  CHECK(run.is_deadlocked());
  const auto blocked = run.network().blocked();
  CHECK(blocked.size() == 1 && blocked[0].router == kInterface && blocked[0].output_vc == BlockedPacket::kAnyVc);
}

namespace {

// A pair whose router 0 has a second interface.
NetworkLayout crowded_layout(std::uint32_t buffer_flits) {
  NetworkLayout layout = pair_layout(1, buffer_flits);
  layout.channel_source.push_back(kInterface);
  layout.channel_destination.push_back(0);
  layout.channel_latency.push_back(1);
  layout.input_order.push_back(5);
  layout.channel_ejection.push_back(1);
  layout.channel_ring.push_back(kInterface);
  return layout;
}

void end_watched(PacketRun& run, std::uint64_t bound) {
  run.network().watch(bound);
  while (!run.run(100)) {
  }
}

}  // namespace

TEST(a_packet_that_waits_as_long_as_it_may_not_while_others_pass_is_named) {
  PacketList packets = list({300, 1}, {0, 20});
  packets.injector[1] = 2;
  PacketRun run(crowded_layout(8), packets);
  end_watched(run, 80);
  CHECK(run.network().starved().size() == 1 && run.network().starved()[0].place.packet == PacketId{1});
  const Starvation& found = run.network().watchdog()->reports()[0];
  CHECK(found.cycles >= 250 && found.cycles < 300 && found.passed >= 250 && found.passed <= found.cycles);
  PacketRun patient(crowded_layout(8), packets);
  end_watched(patient, 300);
  CHECK(patient.network().starved().empty());
}

TEST(short_packets_do_not_take_the_room_that_a_long_one_waits_for) {
  NetworkLayout layout = crowded_layout(8);
  layout.unit_flits = {UINT32_MAX};
  std::vector<std::uint64_t> release;
  for (std::uint64_t i = 0; i < 300; ++i) release.push_back(2 * i);
  PacketList packets = list(std::vector<std::uint32_t>(300, 1), release);
  packets.flits[10] = 8;  // as long as the buffer, which must be empty
  packets.injector[10] = 2;
  PacketRun run(layout, packets);
  end_watched(run, 80);
  CHECK(run.network().starved().empty());
  CHECK(run.network().packets()[10].tail - Cycle{20} < 60);
}

TEST(conservation_holds_in_every_cycle) {
  FlitNetwork network(pair_layout(2, 3));
  for (int count = 0; count < 5; ++count) {
    Packet packet;
    packet.destination = 1;
    packet.flits = 7;
    network.inject(network.add(packet));
  }
  std::uint64_t cycles = 0;
  for (; network.next_activity() != kNever; ++cycles) {
    network.begin_cycle();
    network.finish_cycle();
    network.check_conservation();
  }
  CHECK(network.counters().packets == 5 && network.counters().ejected == 35 && network.flits_in_flight() == 0);
  CHECK(cycles > 35);
}

TEST(packets_that_name_nothing_are_refused) {
  FlitNetwork network(pair_layout(1, 1));
  Packet packet;
  packet.flits = 1;
  for (auto change : {+[](Packet& p) { p.injector = 9; }, +[](Packet& p) { p.destination = 2; }, +[](Packet& p) { p.flits = 0; },
                      +[](Packet& p) { p.route = 0; }, +[](Packet& p) { p.traffic_class = 1; }}) {
    Packet wrong = packet;
    change(wrong);
    CHECK_THROWS(std::invalid_argument, "names something that does not exist", network.add(wrong));
  }
  CHECK_THROWS(std::invalid_argument, "ascending", PacketRun(pair_layout(1, 1), list({1, 1}, {5, 4})));
  CHECK_THROWS(std::invalid_argument, "different lengths", PacketRun(pair_layout(1, 1), PacketList{{0}, {}, {}, {}, {0}}));
}

TEST(numbers_of_packets_are_used_again) {
  FlitNetwork network(pair_layout(1, 4));
  Packet packet;
  packet.destination = 1;
  packet.flits = 1;
  const PacketId first = network.add(packet);
  network.remove(first);
  CHECK(network.add(packet) == first);
  CHECK(network.packets().size() == 1);
}
