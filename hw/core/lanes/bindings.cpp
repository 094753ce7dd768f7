#include "bindings.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <string>
#include <tuple>

#include "common/columns.hpp"
#include "interface/run_results.hpp"
#include "lanes/fast_engine.hpp"
#include "lanes/lanes_engine.hpp"

namespace nb = nanobind;

namespace certree {
namespace {

Program read_program(const nb::mapping& scalars, const nb::mapping& columns) {
  Program program = read_rows(scalars, columns);
  program.message_hops = {column<std::uint32_t>(columns, "message_hops_begin"), column<std::uint32_t>(columns, "message_hops")};
  program.bundle_begin = column<std::uint32_t>(columns, "bundle_begin");
  program.bundle_source = column<std::uint32_t>(columns, "bundle_source");
  program.bundle_destination = column<std::uint32_t>(columns, "bundle_destination");
  program.bundle_latency = column<std::uint32_t>(columns, "bundle_latency");
  return program;
}

// An engine together with the numpy array that is its memory.
class Run {
 public:
  Run(const Scalars& scalars, const RowColumns& columns, const std::string& engine, const std::string& mode, Cells cells,
      bool traced, Endpoints* endpoints)
      : cells_(cells),
        engine_(chosen<Make*>("engine", engine, {{"fast", &make<FastEngine>}, {"lanes", &make<LanesEngine>}})(
            read_program(scalars, columns), run_mode(mode), run_memory(scalars, cells), traced, endpoints)) {}

  bool advance(std::uint64_t budget) { return engine_->run(budget); }
  const MessageEngine& engine() const { return *engine_; }
  void record_order() { engine_->record_order(); }
  void keep_order(LaneOrder order) {
    auto* fast = dynamic_cast<FastEngine*>(engine_.get());
    if (fast == nullptr) throw std::invalid_argument("only engine fast keeps an order of lanes");
    fast->keep_order(std::move(order));
  }

 private:
  using Make = std::unique_ptr<MessageEngine>(Program, RunMode, std::span<std::uint64_t>, bool, Endpoints*);
  template <class Engine>
  static std::unique_ptr<MessageEngine> make(Program program, RunMode mode, std::span<std::uint64_t> memory, bool traced,
                                             Endpoints* endpoints) {
    return std::make_unique<Engine>(std::move(program), mode, memory, traced, endpoints);
  }

  Cells cells_;
  std::unique_ptr<MessageEngine> engine_;
};

Counters statistics(const Run& run) {
  return statistics_dict(run.engine().statistics(), run.engine().order(), run.engine().busiest_lane_cycles());
}

// (message, lane, start, flits) of every lane that a message got.
std::vector<std::tuple<std::uint64_t, std::uint32_t, std::uint64_t, std::uint32_t>> hops(const Run& run) {
  std::vector<std::tuple<std::uint64_t, std::uint32_t, std::uint64_t, std::uint32_t>> rows;
  for (const HopRecord& record : run.engine().hops()) {
    rows.emplace_back(record.message, record.lane.value, record.start.value, record.flits);
  }
  return rows;
}

using Longs = nb::ndarray<nb::numpy, std::uint64_t, nb::ndim<1>>;

Longs to_numpy(std::vector<std::uint64_t> values) {
  auto* kept = new std::vector<std::uint64_t>(std::move(values));
  const nb::capsule owner(kept, [](void* memory) noexcept { delete static_cast<std::vector<std::uint64_t>*>(memory); });
  return {kept->data(), {kept->size()}, owner};
}

std::tuple<Longs, Longs> order_of_lanes(const Run& run) {
  LaneOrder order = run.engine().order_of_lanes();
  return {to_numpy(std::move(order.begin)), to_numpy(std::move(order.uses))};
}

void keep_order(Run& run, const Longs& begin, const Longs& uses) {
  run.keep_order({{begin.data(), begin.data() + begin.size()}, {uses.data(), uses.data() + uses.size()}});
}

}  // namespace

void bind_lanes(nb::module_& module) {
  nb::class_<Run>(module, "Run", "One run of a set of tables; `cells` is the memory of all nodes and is changed in place.")
      .def(nb::init<const Scalars&, const RowColumns&, const std::string&, const std::string&, Cells, bool, Endpoints*>(),
           nb::arg("scalars"), nb::arg("columns"), nb::arg("engine"), nb::arg("mode"), nb::arg("cells").noconvert(),
           nb::arg("traced"), nb::arg("endpoints").none() = nb::none(), nb::keep_alive<1, 8>())
      .def("advance", &Run::advance, nb::arg("budget"), nb::call_guard<nb::gil_scoped_release>(),
           "Run for about `budget` flit moves (lanes) or events (fast); returns whether the run has ended.")
      .def_prop_ro(
          "cycle", [](const Run& run) { return run.engine().now().value; }, "The current time.")
      .def_prop_ro(
          "is_deadlocked", [](const Run& run) { return run.engine().is_deadlocked(); },
          "Whether the run ended because nothing could change any more.")
      .def("record_order", &Run::record_order, "Before the run: note in which order lanes carry messages.")
      .def("order_of_lanes", &order_of_lanes,
           "Bounds of the lanes, and the hops that they carried (`lane_order.hpp`), after such a run.")
      .def("keep_order", &keep_order, nb::arg("begin"), nb::arg("uses"),
           "Before a run of engine fast: lanes carry messages in this order.")
      .def("statistics", &statistics, "Counters of the run so far.")
      .def(
          "waiting", [](const Run& run) { return waiting_rows(run.engine().waiting()); },
          "(node, row or -1, iteration, arrival or -1) of every node that is not done.")
      .def(
          "order_faults", [](const Run& run) { return order_fault_rows(run.engine().order()); },
          "(message, iteration, later turn) of the first operands that were added after one of a later turn.")
      .def(
          "trace", [](const Run& run) { return trace_rows(run.engine().trace()); },
          "(row, iteration, destination, fired, first, complete, usable) of every message that counted, and its number.")
      .def(
          "fetches", [](const Run& run) { return fetch_rows(run.engine().fetches()); },
          "(message, cycle in which its payload was at its interface) of a traced run with endpoints.")
      .def("hops", &hops, "(message, lane, start, flits) of every lane that a message got.");
}

}  // namespace certree
