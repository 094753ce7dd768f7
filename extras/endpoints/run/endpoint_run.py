"""Runs of collectives on endpoints and their results: cycles, occupancy, breakdown of the time, energy, and a check of all data."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from certree.extras.endpoints.model.endpoint import Endpoint, Runs, System
from certree.extras.endpoints.run.endpoint_program import Choices, EndpointProgram, Payload
from certree.extras.endpoints.run.endpoint_trace_writer import trace_lines
from certree.hw import _core
from certree.hw.core_calls import run_to_end
from certree.hw.engines.runs import Run
from certree.models.common.errors import UnsupportedError
from certree.models.common.files import canonical_json, check_writable, write_atomically
from certree.models.schedule.schedule import Schedule

_BUDGET = 1 << 20  # events between two looks at signals and at the progress callback
_REPORTED = 3  # of each kind
_ARRIVAL, _PORT_FULL, _NOT_AT_WORK, _PARTITION_FULL, _TURN = range(5)  # as in core/endpoint/run/simulation.hpp
#: names of the shares and delays of a run of messages, of which runs of tables have some
UNITS = (
    "memory_bus",
    "to_interface_bus",
    "to_accelerator_bus",
    "adders",
    "sram",
    "alus",
    "sram_reads",
    "sram_writes",
    "busiest_link",
)
DELAYS = (
    "bus_queuing", "bus_transfer", "bus_congestion", "local_reduction", "chunk_queuing", "network_transfer", "port_stall"
)  # fmt: skip
_REASONS = (_NOT_AT_WORK, _PORT_FULL, _PARTITION_FULL, _TURN, _ARRIVAL)


@dataclass(frozen=True)
class EndpointResult:
    """The results of one run.

    `cycles`: from time 0 until the last chunk is back in memory at the last node, or the run stalls; `ends`: the same for each
    payload, for its chunks that are back. `data_ok`: every rank has its due data; `wrong` is the first (rank, chunk, piece) with a
    wrong value. `conserved`: no message, place, room or chunk is left over, links and memories carried exactly the bytes of
    schedule and system, and each chunk was back at each node once. `stall`: what nodes wait for in a run that stalled; empty for
    runs that ended.

    `occupancy`: shares of the run, averaged over all nodes (`busiest_link`: of one link). `delays`: cycles, as in ACE's Fig. 11:
    averages over transfers of a bus, additions, chunks and messages. `bus_congestion`: bus queuing and transfer together, of
    the two buses and over all transfers of a chunk at a node. `joules`: of all engines at their full power.

    `tables`: the run on the joint machine where tables ran (`run/tables/joint_results.py`). These have no partitions of phases and
    ports: None or empty, and their chunks queue at engines alone. `conserved` then says that the run ended, `wrong` has the chunk
    among all iterations."""

    system: str
    cycles: int
    ends: tuple[int, ...]
    seconds: Fraction
    data_ok: bool
    wrong: tuple[int, int, int] | None
    conserved: bool
    stall: tuple[str, ...]
    chunks: int
    chunk_bytes: int
    padded_bytes: int | None
    messages: int
    phases: int | None
    partitions: tuple[int, ...]
    partition_peaks: tuple[int, ...]
    deepest_port: int | None
    interrupts: int | None
    memory_bytes: int
    link_bytes: int | None
    occupancy: dict[str, Fraction]
    delays: dict[str, Fraction]
    joules: Fraction
    tables: Run | None = None


def run_endpoints(
    schedule: Schedule,
    endpoint: Endpoint,
    system: System,
    payloads: Sequence[Payload],
    choices: Choices,
    progress: Callable[[int], None] | None = None,
    trace: Path | None = None,
    force: bool = False,
) -> EndpointResult:
    """Run a collective of each payload, chunk by chunk, with an integer of data per piece and rank.

    Each chunk goes through `schedule` (one iteration of it). Errors as `EndpointProgram`, and UnsupportedError
    for times beyond the core's counters. `progress` is called with the current
    cycle now and then. Time O(messages · links · log); memory O(chunks · (messages of a chunk + nodes))."""
    program = EndpointProgram(schedule, endpoint, system, payloads, choices)
    if trace is not None:
        check_writable(trace, force=force)
    cells = program.first_cells()
    core = _core.EndpointRun(program.scalars, program.columns, cells, trace is not None)
    try:
        run_to_end(core, _BUDGET, progress)
    except OverflowError:
        raise UnsupportedError(
            f"by cycle {core.cycle} the run of {system.name} has more ticks of rates than 64 bits count: take an earlier start, "
            "smaller chunks, or rates that are simpler fractions of the clock"
        ) from None
    if trace is not None:
        write_atomically(trace, b"".join(canonical_json(line) for line in trace_lines(program, core.moves())), force=force)
    return result_of(program, core, None if core.is_stalled else program.first_wrong(cells))


def result_of(program: EndpointProgram, core: _core.EndpointRun, wrong: tuple[int, int, int] | None) -> EndpointResult:
    """The results of a run that has ended or stalled."""
    counters = core.counters()
    cycles, nodes, engine = core.cycle if core.is_stalled else counters["cycles"], program.nodes, program.endpoint.engine
    seconds = cycles / program.endpoint.interface.clock_hertz
    is_engine = program.system.runs is Runs.ENGINE

    def share(busy: int, units: int = 1) -> Fraction:
        return Fraction(busy, max(1, cycles * nodes * units))

    return EndpointResult(
        system=program.system.name,
        cycles=cycles,
        ends=tuple(counters["ends"]),
        seconds=seconds,
        data_ok=not core.is_stalled and wrong is None,
        wrong=wrong,
        conserved=bool(core.is_empty)
        and counters["link_bytes"] == _bytes_of(program)
        and counters["memory_bytes"] == _memory_bytes_of(program)
        and counters["interrupts"] == program.chunks * nodes,
        stall=describe_stall(program, core.waiting()) if core.is_stalled else (),
        chunks=program.chunks,
        chunk_bytes=program.chunk_bytes,
        padded_bytes=program.rows.padded_bytes * program.chunks,
        messages=counters["messages"],
        phases=program.rows.phases,
        partitions=tuple(program.rooms) if is_engine else (),
        partition_peaks=tuple(counters["partition_peaks"]) if is_engine else (),
        deepest_port=counters["deepest_port"],
        interrupts=counters["interrupts"],
        memory_bytes=counters["memory_bytes"],
        link_bytes=counters["link_bytes"],
        occupancy={
            "memory_bus": share(counters["memory_cycles"]),
            "to_interface_bus": share(counters["to_interface_cycles"]),
            "to_accelerator_bus": share(counters["to_accelerator_cycles"]),
            "adders": share(counters["adder_cycles"]),
            "sram": share(counters["sram_byte_cycles"], engine.sram_bytes) if is_engine else Fraction(0),
            "alus": share(counters["alu_cycles"], engine.alus),
            "sram_reads": share(counters["sram_read_cycles"], engine.banks),
            "sram_writes": share(counters["sram_write_cycles"], engine.banks),
            "busiest_link": Fraction(counters["busiest_link_cycles"], max(1, cycles)),
        },
        delays=_delays(counters, program.chunks * nodes),
        joules=program.endpoint.watts * seconds * nodes if is_engine else Fraction(0),
    )


def _delays(counters: dict[str, tuple[int, int]], visits: int) -> dict[str, Fraction]:
    def mean(*names: str) -> Fraction:
        return Fraction(sum(counters[name][0] for name in names), max(1, sum(counters[name][1] for name in names)))

    buses = ("memory_queued", "interface_queued", "memory_moved", "interface_moved")
    return {
        "bus_queuing": mean("memory_queued", "interface_queued"),
        "bus_transfer": mean("memory_moved", "interface_moved"),
        "bus_congestion": Fraction(sum(counters[name][0] for name in buses), max(1, visits)),
        "local_reduction": mean("sum"),
        "chunk_queuing": Fraction(counters["chunk_wait"][0], max(1, visits)),
        "network_transfer": mean("network"),
        "port_stall": mean("stall"),
    }


def _bytes_of(program: EndpointProgram) -> int:
    """The number of bytes that the links carry for all chunks, counted from the schedule."""
    begin, _ = program.rows.links()
    return _of_all_chunks(program, program.rows.message_sizes * (begin[1:] - begin[:-1]))


def _memory_bytes_of(program: EndpointProgram) -> int:
    """The number of bytes that the memories read and write: each chunk once in each direction for an engine; for an accelerator
    each message when it goes out and when it comes in, and where it is added both summands and the sum."""
    if program.system.runs is Runs.IDEAL:
        return 0
    if program.system.runs is Runs.ENGINE:
        return program.chunks * program.nodes * (program.scalars["load_bytes"] + program.scalars["result_bytes"])
    return _of_all_chunks(program, program.rows.message_sizes * (2 + 3 * program.rows.of_messages("adds")))


def _of_all_chunks(program: EndpointProgram, bytes_of_message: NDArray[np.int64]) -> int:
    """The sum over the messages of all chunks, by part."""
    rows = program.rows
    of_part = (int(bytes_of_message[rows.of_messages("part") == part].sum()) for part in range(rows.parts))
    return sum(total * len(range(part, program.chunks, rows.parts)) for part, total in enumerate(of_part))


def describe_stall(program: EndpointProgram, waiting: Sequence[tuple[int, int, int, int, int]]) -> tuple[str, ...]:
    """The reasons why the nodes of a stalled run wait, in words: the first few of each kind, those that block others first."""
    lines = []
    for reason in _REASONS:
        of_kind = [entry for entry in waiting if entry[1] == reason]
        lines += [_reason(program, entry) for entry in of_kind[:_REPORTED]]
        if len(of_kind) > _REPORTED:
            lines.append(f"and {len(of_kind) - _REPORTED} more like the last")
    return tuple(lines)


def _reason(program: EndpointProgram, entry: tuple[int, int, int, int, int]) -> str:
    node, reason, chunk, phase, row = entry
    topology, rows = program.rows.schedule.topology, program.rows
    name = f"node {topology.endpoints[node]}: chunk {chunk} in phase {phase + 1}"
    if reason == _ARRIVAL:
        return f"{name} waits for a message"
    if reason == _PARTITION_FULL:
        return f"{name} is through and waits for room in partition {phase + 2} of {rows.phases + 1}"
    if reason == _TURN:
        return f"{name} is through and waits for chunks loaded before it to enter partition {phase + 2}"
    source = topology.endpoints[rows.of_messages("src")[row]]
    target = topology.endpoints[rows.of_messages("dst")[row]]
    if reason == _PORT_FULL and rows.of_messages("src")[row] == node:
        return f"{name} waits for room at the port of node {target} for its message"
    if reason == _PORT_FULL:
        return f"{name}: its message from node {source} cannot be taken before there is room at the port for the one it makes ready"
    return f"{name}: its message from node {source} holds up its port, the chunk is not at work there"
