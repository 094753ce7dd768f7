"""Endpoints of runs of tables: one machine from the memory of a node through its network interface and the network to another."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree.extras.endpoints.check.endpoint_bound import EndpointBound, Moved, endpoint_bound, moved_bytes, moved_of_message
from certree.extras.endpoints.model.endpoint import Endpoint, Runs, System, require_one_clock
from certree.extras.endpoints.model.named_system import Cut
from certree.extras.endpoints.run.endpoint_program import MAX_UNITS
from certree.extras.endpoints.run.tables.earlier_uses import earlier_uses
from certree.extras.endpoints.run.tables.pieces import last_pieces
from certree.extras.endpoints.run.unit_scalars import check_scalars, unit_scalars
from certree.hw import _core
from certree.hw.core_calls import narrowed
from certree.hw.engines.runs import EndpointEvents, EndpointModel, EndpointUse
from certree.hw.engines.table_rows import Rows
from certree.models.common.errors import UnsupportedError
from certree.models.tables.tables import Tables

Int64 = NDArray[np.int64]
#: units that every endpoint has, and the counters in which they and ALUs are busy
UNITS = ("memory_bus", "to_interface_bus", "to_accelerator_bus", "adders")
_COUNTED = dict(
    zip(
        (*UNITS, "alus"),
        ("memory_cycles", "to_interface_cycles", "to_accelerator_cycles", "adder_cycles", "alu_cycles"),
        strict=True,
    )
)
#: delays of chunks at an engine; in memory all are at work, and none waits
OF_ENGINES = ("chunk_queuing", "port_stall")
#: what iterations do at an engine (`core/endpoint/node/engine_endpoint.hpp`)
STEPS = ("load", "loaded", "gone on", "returned")
#: bounds of the lanes and the hops that they carried, in order (`core/lanes/lane_order.hpp`)
LaneOrder = tuple[NDArray[np.uint64], NDArray[np.uint64]]


@dataclass(frozen=True)
class Asked:
    """Collectives that share the iterations of a run of tables: by collective its first iteration, and the end (`begin`); the cycle
    in which all nodes ask for it (`start`), which none may begin before. `lifo`: the latest first."""

    begin: tuple[int, ...]
    start: tuple[int, ...]
    lifo: bool = False


@dataclass(eq=False)
class TableEndpoints(EndpointModel):
    """The endpoints of a system for runs of tables (`docs/explanation/one-machine.md`).

    `computing`: the share of the memory bandwidth that computing asks for during the run (`core/endpoint/units/shared_memory.hpp`).
    `records`: note in which order lanes carry messages, and when payloads are at their interfaces; after a run
    on lanes `order` has the first, after any `handed` the second, and `last_complete` when the last message was received. `keeps`:
    the order that lanes keep in a run of engine `fast`, whichever message comes earlier; `hand_over`: the `handed` of another run,
    when payloads are at their interfaces in this one; `of`: the system whose order or times these are. `cut`: the iterations that
    tables are cut into before they run (`run/tables/iterations.py`), None: as they are; `text`: the system as it was named;
    `runs`: iterations and period of the tables that ran, and `bound_cycles` their lower bound; `keeps_cells`: whether messages of
    theirs may wait for earlier uses of their cells (`earlier_uses`).
    `asked`: the collectives that the iterations belong to, None: one, whose iterations begin in their steps; `begins`: the order in
    which another run with the same began iterations, which this one keeps. After a run with `asked`, `began` is the order in which
    iterations began, and `ends` has the cycle in which each collective was over.
    """

    endpoint: Endpoint
    system: System
    computing: Fraction = Fraction(0)
    records: bool = False
    keeps: LaneOrder | None = None
    hand_over: NDArray[np.uint64] | None = None
    of: str | None = None
    order: LaneOrder | None = None
    handed: NDArray[np.uint64] | None = None
    last_complete: int = 0
    cut: Cut | None = None
    text: str | None = None
    runs: tuple[int, int] = (1, 0)
    bound_cycles: int = 0
    keeps_cells: bool = False
    asked: Asked | None = None
    begins: NDArray[np.uint64] | None = None
    began: NDArray[np.uint64] | None = None
    ends: tuple[int, ...] = ()

    @property
    def name(self) -> str:  # type: ignore[override]
        """The name of the system, with the sizes that were stated."""
        return self.text or self.system.name

    def places(self, tables: Tables) -> int:
        """How many iterations of the tables may be in progress at a node at a time: as many as there are state machines, and in an
        engine as its SRAM holds. UnsupportedError where it holds none. O(nodes + chunks)."""
        machines = self.endpoint.engine.state_machines
        if self.system.runs is not Runs.ENGINE:
            return machines
        rooms, sizes = self._partitions(*(int(column.max(initial=0)) for column in iteration_bytes(tables)))
        return min(machines, rooms[0] // max(1, sizes[0]))

    def start(self, source: Tables, rows: Rows, *, traced: bool) -> _core.NodeEndpoints:
        """The endpoints of one run. UnsupportedError where their clock is not that of the machine, and for an engine whose SRAM or
        state machines do not hold the iterations that the tables have in progress. O(rows log rows)."""
        require_one_clock(self.endpoint, source.machine)
        scalars = unit_scalars(self.endpoint, self.system, computing=self.computing) | {
            "in_order": 1,
            "apart": 1,
            "traced": traced,
            "records": self.records,
            "lifo": self.asked is not None and self.asked.lifo,
        }
        scalars["state_machines"] = self.endpoint.engine.state_machines
        check_scalars(scalars)
        load, result = iteration_bytes(source)
        self.bound_cycles = bound_of(source, self.endpoint, self.system).cycles
        self.runs, rooms, sizes = (source.repeats, source.period or 0), [0, 0], [0, 0]
        if self.system.runs is Runs.ENGINE:
            self._refuse_too_many_units(len(source.topology.endpoints))
            rooms, sizes = self._partitions(int(load.max(initial=0)), int(result.max(initial=0)))
            self._require_room(rooms[0], sizes[0], _overlap(rows))
        if self.asked is not None:  # iterations do not begin in their order: each has its own counters of arrivals
            rows.scalars["in_flight"] = source.repeats
        payload = source.sizes(rows.sent["chunk"]) * source.machine.flit_bytes
        reads, writes = earlier_uses(source)
        self.keeps_cells = bool(len(reads))
        columns: dict[str, NDArray[Any]] = {
            "message_bytes": narrowed("message_bytes", payload),
            "load_bytes": load.astype(np.uint64),
            "result_bytes": result.astype(np.uint64),
            "rooms": np.array(rooms, np.uint64),
            "sizes": np.array(sizes, np.uint64),
            "earlier_reads": narrowed("earlier_reads", reads),
            "earlier_writes": narrowed("earlier_writes", writes),
            "hand_over": np.zeros(0, np.uint64) if self.hand_over is None else self.hand_over,
            "ends": last_pieces(rows.sent, payload, self.system.message_bytes),
            "asked_begin": np.array([0] if self.asked is None else self.asked.begin, np.uint32),
            "asked_start": np.array([] if self.asked is None else self.asked.start, np.uint64),
            "begin_order": np.zeros(0, np.uint64) if self.begins is None else self.begins,
        }
        return _core.NodeEndpoints(scalars, columns)

    def prepare(self, core: Any) -> None:
        """Have lanes note their order, or keep one."""
        if self.keeps is not None:
            core.keep_order(*self.keeps)
        if self.records:
            core.record_order()

    def use(self, core: Any, endpoints: _core.Endpoints, counters: Mapping[str, int]) -> EndpointUse:
        """Shares of the run in which units were busy, and what the engine held."""
        assert isinstance(endpoints, _core.NodeEndpoints)
        if self.records and isinstance(core, _core.Run):
            self.order = core.order_of_lanes()
        if self.records:
            self.handed = endpoints.handed_over()
        if self.asked is not None and not core.is_deadlocked:
            self.began, self.ends = endpoints.begin_order(), tuple(endpoints.ends())
        found, engine = endpoints.counters(counters["cycles"]), self.endpoint.engine
        self.last_complete = found["last_complete"]
        units, is_engine = dict.fromkeys(UNITS, 1), self.system.runs is Runs.ENGINE
        counts = {"memory_bytes": found["memory_bytes"]}
        if self.asked is None:  # a bound of one collective, from cycle 0 on
            counts["bound_cycles"] = self.bound_cycles
        if self.cut is not None:
            counts |= zip(("iterations", "period"), self.runs, strict=True)
            counts |= {} if self.cut.spacing is None else {"spacing": self.cut.spacing}
        if self.keeps_cells:
            counts["held"] = found["held"]
        if self.computing:
            counts["computing_bytes"] = found["computing_bytes"]
        if is_engine:
            units["alus"] = engine.alus
            counts |= {name: found[name] for name in ("sram_peak", "results_peak", "waited", "waiting_peak", "forwarded")}
        delays = {name: cycles for name, cycles in _delays(found, self.runs[0]).items() if is_engine or name not in OF_ENGINES}
        whole = max(1, counters["cycles"] * found["endpoints"])
        busy = {name: Fraction(found[_COUNTED[name]], whole * count) for name, count in units.items()}
        return EndpointUse(self.name, counters["usable_cycles"], busy, counts, self.of, delays)

    def events(self, core: Any, endpoints: _core.Endpoints) -> EndpointEvents:
        """The cycles in which payloads were at their interfaces, and the events of iterations at engines."""
        assert isinstance(endpoints, _core.NodeEndpoints)
        steps = sorted((cycle, node, iteration, STEPS[step]) for cycle, node, iteration, step in endpoints.steps())
        return EndpointEvents(dict(core.fetches()), steps)

    def _partitions(self, load: int, result: int) -> tuple[list[int], list[int]]:
        """(bytes of the two partitions, bytes of an iteration there): as in the paper, the SRAM is divided by what a node holds at
        the start and in the end."""
        whole = max(1, load + result)
        sram = self.endpoint.engine.sram_bytes
        rooms, sizes = [sram * load // whole, sram * result // whole], [max(load, result), result]
        shorter = f"cut the message into chunks ({self.system.name}:chunk=SIZE)" if self.cut is None else "take shorter chunks"
        for number, (room, size) in enumerate(zip(rooms, sizes, strict=True), 1):
            if size > room:
                raise UnsupportedError(
                    f"an iteration of the tables takes {size} bytes in partition {number} of 2, which has {room} of the {sram} "
                    f"bytes of SRAM of {self.endpoint.name}: {shorter}, or make the SRAM larger"
                )
        return rooms, sizes

    def _refuse_too_many_units(self, nodes: int) -> None:
        """Raise UnsupportedError for engines that take too much memory here."""
        for count, what in ((self.endpoint.engine.alus, "ALUs"), (self.endpoint.engine.banks, "banks")):
            if nodes * count > MAX_UNITS:
                raise UnsupportedError(f"{count} {what} are too many here: {nodes * count} in all; allowed: {MAX_UNITS}")

    def _require_room(self, room: int, size: int, overlap: int) -> None:
        """Raise UnsupportedError where the next row in order could be one of an iteration that has no place."""
        machines = self.endpoint.engine.state_machines
        places = min(machines, room // max(1, size))
        if places < overlap:
            raise UnsupportedError(
                f"the tables have {overlap} iterations in progress at a time, and endpoints {self.endpoint.name} have room for "
                f"{places}: {machines} state machines, and {room} bytes for iterations of {size}"
            )


def iteration_bytes(tables: Tables) -> tuple[Int64, Int64]:
    """(bytes that a node has of an iteration at the start, and is due in the end), of each node. O(nodes + chunks)."""
    moved = _moved(tables, 1)
    return moved.load, moved.result


def bound_of(tables: Tables, endpoint: Endpoint, system: System) -> EndpointBound:
    """The lower bound of runs of the message of tables, in its shares, by whatever schedule and chunks: that of the message before
    it is padded, and cut. O(chunks log chunks)."""
    plan = tables.schedule
    if tables.has_sizes:
        moved = _moved(tables, tables.repeats)
    else:
        moved = moved_of_message(plan.collective, plan.topology, plan.chunk_root, plan.chunk_target, tables.message_bytes)
    return endpoint_bound(tables.topology, tables.machine, endpoint, system, moved)


def _moved(tables: Tables, iterations: int) -> Moved:
    schedule = tables.schedule
    sizes = tables.sizes(np.arange(tables.chunks)) * (tables.machine.flit_bytes * iterations)
    return moved_bytes(schedule.collective, tables.topology, schedule.chunk_root, schedule.chunk_target, sizes)


def _delays(found: Mapping[str, Any], iterations: int) -> dict[str, Fraction]:
    """The delays of `EndpointResult`, of an iteration as of a chunk; those of OF_ENGINES are 0 where there is no engine."""

    def mean(*names: str) -> Fraction:
        return Fraction(sum(found[name][0] for name in names), max(1, sum(found[name][1] for name in names)))

    buses = ("memory_queued", "interface_queued", "memory_moved", "interface_moved")
    return {
        "bus_queuing": mean(*buses[:2]),
        "bus_transfer": mean(*buses[2:]),
        "bus_congestion": Fraction(sum(found[name][0] for name in buses), max(1, iterations * found["endpoints"])),
        "local_reduction": mean("sum"),
        "network_transfer": mean("network"),
        "chunk_queuing": mean("chunk_wait"),
        "port_stall": mean("stall"),
    }


def _overlap(rows: Rows) -> int:
    """The most iterations that have begun and not ended at a time, by the order of rows."""
    step = rows.rows["row_step"].astype(np.int64)
    apart = int(step.max(initial=0) - step.min(initial=0)) if len(step) else 0
    return min(rows.scalars["repeats"], apart // rows.scalars["period"] + 1)
