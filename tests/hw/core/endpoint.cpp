// Units of an endpoint: rates, buses, wires, SRAM partitions, crossbar and ALUs, ports, state machines, the order of loading.
#include <stdexcept>
#include <vector>

#include "check.hpp"
#include "endpoint/run/endpoint.hpp"
#include "endpoint/run/message.hpp"
#include "endpoint/units/bus.hpp"
#include "endpoint/units/crossbar.hpp"
#include "endpoint/units/dma.hpp"
#include "endpoint/units/load_order.hpp"
#include "endpoint/units/port.hpp"
#include "endpoint/units/shared_memory.hpp"
#include "endpoint/units/sram.hpp"
#include "endpoint/units/state_machine.hpp"
#include "endpoint/units/wire.hpp"

using namespace certree;
using namespace certree::endpoint;

namespace {

bool is(const Span& span, std::uint64_t first, std::uint64_t last) {
  return span.first == Cycle{first} && span.last == Cycle{last};
}

std::vector<std::uint32_t> taken(LoadOrder& order, std::uint64_t from, std::uint64_t now) {
  std::vector<std::uint32_t> chunks;
  for (std::uint64_t place = from; order.knows(place, {now}); ++place) chunks.push_back(order[place].value);
  return chunks;
}

}  // namespace

TEST(a_rate_of_47_bytes_in_2_cycles_loses_nothing_by_rounding) {
  Server server({47, 2});
  CHECK(is(server.reserve({0}, 47), 0, 2));
  CHECK(is(server.reserve({0}, 1), 2, 3));  // two ticks of 47 in a cycle, rounded up
  for (int i = 0; i < 46; ++i) server.reserve({0}, 1);
  CHECK(is(server.reserve({0}, 47), 4, 6));  // 48 + 46 bytes came in 4 cycles
  CHECK(server.busy_cycles() == 6);
}

TEST(a_server_waits_for_the_request_its_last_byte_and_the_gap) {
  Server server({16, 1});
  CHECK(is(server.reserve({10}, 32, 5), 10, 12));
  CHECK(is(server.reserve({11}, 32), 17, 19));           // behind the gap
  CHECK(is(server.reserve({20}, 32, 0, {50}), 20, 50));  // its last byte comes late, and it is busy until then
  CHECK(is(server.reserve({0}, 16), 50, 51));
  CHECK(server.busy_cycles() == 2 + 5 + 2 + 30 + 1);
}

TEST(a_run_that_ends_within_a_gap_counts_it_up_to_its_end) {
  Server server({16, 1});
  server.reserve({10}, 32, 100);
  CHECK(server.busy_cycles() == 102 && server.busy_cycles({15}) == 5 && server.busy_cycles({200}) == 102);
}

TEST(computing_that_asks_for_next_to_nothing_asks_once) {
  Parameters slow;
  slow.memory.rate = {1, 1};
  slow.computing = {1024, {1, std::uint64_t{1} << 60U}};
  SharedMemory memory(slow);
  memory.settle({std::uint64_t{1} << 40U});
  CHECK(memory.computed({std::uint64_t{1} << 40U}) == 1024);
}

TEST(more_ticks_than_64_bits_hold_are_an_error) {
  Server fast({1U << 20U, 1}), slow({1, 1U << 20U});
  CHECK_THROWS(std::overflow_error, "too many ticks", fast.reserve({std::uint64_t{1} << 45U}, 1));
  CHECK_THROWS(std::overflow_error, "too many ticks", slow.reserve({0}, std::uint64_t{1} << 45U));
  CHECK_THROWS(std::overflow_error, "too many ticks", fast.reserve({0}, 1, std::uint64_t{1} << 45U));
  CHECK(is(fast.reserve({7}, 1U << 20U), 7, 8));  // what was refused has left nothing behind
}

TEST(a_bus_takes_overheads_latency_bytes_and_a_gap) {
  Bus bus({{64, 1}, 50, 20, 10});
  CHECK(bus.transfer({100}, 640) == Cycle{100 + 20 + 10 + 50 + 20});
  CHECK(bus.transfer({100}, 640) == Cycle{100 + 20 + 10 + 10 + 10 + 50 + 20});  // behind the first and its gap
  CHECK(bus.queued().sum == 20 && bus.queued().count == 2);
  CHECK(bus.moved().sum == 2 * (20 + 10 + 50 + 20) && bus.moved().count == 2);
  CHECK(bus.bytes() == 1280 && bus.busy_cycles() == 40);
}

TEST(pieces_of_a_transfer_have_no_gap_between_them) {
  Bus bus({{64, 1}, 50, 20, 10});
  CHECK(bus.transfer({100}, 640, false) == Cycle{100 + 20 + 10 + 50 + 20});
  CHECK(bus.transfer({100}, 640) == Cycle{100 + 20 + 10 + 10 + 50 + 20});
  CHECK(bus.busy_cycles() == 30);  // a gap behind the last one
}

TEST(the_routes_of_dmas_pass_memory_and_bus_in_order) {
  CHECK(Route(routes::kLoad).front() == Stage::kMemory && Route(routes::kLoad).back() == Stage::kToInterface);
  CHECK(Route(routes::kWriteBack).front() == Stage::kToAccelerator && Route(routes::kWriteBack).back() == Stage::kMemory);
  // What is added is written, both summands are read, and the sum is written: four times its bytes at the memory.
  std::size_t memory = 0;
  for (const Stage stage : routes::kReceiveAndAdd) memory += stage == Stage::kMemory ? 1 : stage == Stage::kMemoryTwice ? 2 : 0;
  CHECK(memory == 4);
}

TEST(a_wire_serializes_and_delays_first_and_last_byte) {
  Wire wire({16, 1}, 200);
  CHECK(is(wire.send({0}, {0}, 1600), 200, 300));
  CHECK(is(wire.send({10}, {20}, 160), 300, 310));    // behind the first
  CHECK(is(wire.send({400}, {450}, 160), 600, 650));  // as slow as it comes
  CHECK(wire.bytes() == 1920 && wire.busy_cycles() == 100 + 10 + 50);
}

TEST(a_partition_has_room_for_whole_chunks_only) {
  Sram sram({10, 3}, {4, 4});
  CHECK(sram.fits(0) && !sram.fits(1) && sram.is_empty());
  sram.enter({0}, 0);
  sram.enter({5}, 0);
  CHECK(!sram.fits(0) && sram.entered(0) == 2 && sram.peak(0) == 8);
  sram.leave({15}, 0);
  CHECK(sram.fits(0) && !sram.is_empty());
  sram.enter({20}, 0);
  CHECK(sram.entered(0) == 3 && sram.entered(1) == 0 && sram.peak(0) == 8);
  CHECK(sram.byte_cycles() == 4 * 5 + 8 * 10 + 4 * 5);
  sram.leave({20}, 0);
  sram.leave({30}, 0);
  CHECK(sram.is_empty() && sram.byte_cycles() == 160 - 40 + 4 * 10);
}

TEST(an_alu_adds_as_packets_come_and_is_a_packet_late) {
  Crossbar crossbar({1, 64, 1, 256, 256});
  // A message of 1 KiB whose bytes come between 100 and 200: four packets of 4 cycles, the last behind the last byte.
  CHECK(is(crossbar.take({200}, {100}, {200}, 1024, true), 204 - 16, 204));
  // It was there already: all of it from now on. The only ALU is free by then.
  CHECK(is(crossbar.take({300}, {100}, {200}, 1024, true), 300, 316));
  CHECK(crossbar.alus().busy_cycles() == 32 && crossbar.reads().busy_cycles() == 8 && crossbar.writes().busy_cycles() == 8);
}

TEST(a_sum_waits_for_an_alu_and_a_copy_does_not) {
  Crossbar crossbar({1, 64, 4, 256, 256});
  CHECK(is(crossbar.take({10}, {0}, {0}, 1024, true), 10, 26));
  CHECK(is(crossbar.take({10}, {0}, {0}, 1024, true), 26, 42));   // one ALU
  CHECK(is(crossbar.take({10}, {0}, {0}, 1024, false), 10, 14));  // a bank that is free
  CHECK(crossbar.alus().busy_cycles() == 32);
}

TEST(a_sum_is_as_fast_as_its_bank_where_that_is_slower_than_the_alu) {
  Crossbar crossbar({1, 64, 1, 16, 256});
  CHECK(is(crossbar.take({10}, {0}, {0}, 1024, true), 10, 74));
  CHECK(is(crossbar.take({10}, {0}, {0}, 1024, true), 74, 138));
}

TEST(alus_side_by_side_add_side_by_side) {
  Crossbar crossbar({2, 64, 4, 256, 256});
  CHECK(is(crossbar.take({10}, {0}, {0}, 1024, true), 10, 26));
  CHECK(is(crossbar.take({10}, {0}, {0}, 1024, true), 10, 26));
  CHECK(is(crossbar.take({10}, {0}, {0}, 1024, true), 26, 42));
}

TEST(banks_give_and_take_a_packet_a_cycle_each) {
  Crossbar crossbar({4, 64, 1, 256, 256});
  CHECK(is(crossbar.read({0}, 1024), 1, 4));
  CHECK(is(crossbar.read({0}, 100), 5, 5));                    // less than a packet, behind the first
  CHECK(is(crossbar.take({0}, {0}, {0}, 1024, false), 1, 5));  // a packet behind its first byte; ports in and out are two
  CHECK(crossbar.reads().busy_cycles() == 5);
}

TEST(a_port_gives_messages_in_the_order_in_which_they_were_sent) {
  Port port(true);
  CHECK(!port.has_room());
  port.deepen(1);
  port.deepen(1);
  port.reserve({7});
  CHECK(port.has_room() && !port.has_next());
  port.reserve({8});
  CHECK(!port.has_room() && port.held() == 2);
  port.arrive({8});  // it has overtaken the other
  CHECK(!port.has_next());
  port.arrive({7});
  CHECK(port.has_next() && port.front() == MessageId{7});
  port.take();
  CHECK(port.has_room() && port.has_next() && port.front() == MessageId{8});
  port.take();
  CHECK(!port.has_next() && port.held() == 0 && port.peak() == 2);
}

TEST(a_port_that_senders_share_gives_messages_as_they_come) {
  Port port(false);
  port.deepen(3);
  for (std::uint32_t message = 0; message < 3; ++message) port.reserve({message});
  port.arrive({2});
  port.arrive({0});
  CHECK(port.has_next() && port.front() == MessageId{2});
  port.take();
  CHECK(port.has_next() && port.front() == MessageId{0} && port.held() == 2);
  port.take();
  CHECK(!port.has_next());
  port.arrive({1});
  CHECK(port.front() == MessageId{1});
}

TEST(places_of_messages_are_used_again) {
  MessagePool pool;
  const MessageId first = pool.create(), second = pool.create();
  pool[first].values = {1, 2};
  pool.destroy(first);
  CHECK(pool.in_flight() == 1);
  const MessageId third = pool.create();
  CHECK(third == first && pool[third].values.empty() && !(third == second));
  CHECK(pool.created() == 3 && pool.in_flight() == 2);
}

TEST(a_state_machine_works_on_the_first_of_its_queue) {
  StateMachine machine;
  CHECK(machine.is_idle() && !machine.works_on({0}));
  machine.enqueue({4});
  machine.enqueue({2});
  CHECK(machine.works_on({4}) && !machine.works_on({2}) && machine.at_work() == ChunkId{4});
  machine.dequeue();
  CHECK(machine.works_on({2}));
  machine.dequeue();
  CHECK(machine.is_idle());
}

TEST(chunks_take_the_state_machines_of_a_phase_in_turn) {
  Program program;
  program.phase_machines = {3, 2};
  program.rooms = program.sizes = {1, 1, 1};
  program.chunks = 4;
  const Endpoint endpoint(program, {});
  CHECK(endpoint.machines.size() == 5);
  for (std::uint32_t chunk = 0; chunk < 4; ++chunk) {
    CHECK(endpoint.machine_of(0, {chunk}) == chunk % 3);
    CHECK(endpoint.machine_of(1, {chunk}) == 3 + chunk % 2);
  }
}

TEST(the_oldest_collective_first) {
  LoadOrder order({{0, 2, {0}}, {2, 4, {10}}, {4, 6, {10}}}, false);
  CHECK(order.knows(0, {0}) && order[0] == ChunkId{0});
  CHECK(taken(order, 1, 10) == std::vector<std::uint32_t>({1, 2, 3, 4, 5}));
  CHECK(!order.knows(6, {1000}));
}

TEST(the_latest_collective_first_once_it_is_asked_for) {
  LoadOrder order({{0, 3, {0}}, {3, 5, {10}}, {5, 6, {10}}}, true);
  CHECK(taken(order, 0, 0) == std::vector<std::uint32_t>({0, 1, 2}));  // nothing else is asked for yet
  CHECK(!order.knows(3, {9}));
  CHECK(taken(order, 3, 10) == std::vector<std::uint32_t>({5, 3, 4}));
}

TEST(who_is_first_ready_chooses_for_all) {
  LoadOrder order({{0, 2, {0}}, {2, 3, {10}}}, true);
  CHECK(order.knows(0, {0}) && order[0] == ChunkId{0});
  CHECK(order.knows(1, {10}) && order[1] == ChunkId{2});
  CHECK(order.knows(1, {0}) && order[1] == ChunkId{2});  // a node that is behind has the same
  CHECK(order.knows(2, {10}) && order[2] == ChunkId{1});
}
