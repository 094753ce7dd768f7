"""Golden traces from the simulator: the events that the pins of network interfaces show in a run of tables.

CSV with the columns cycle, node, event, number, iteration, in this order:

- `fire`: row `number` of the node (in table order) fires for an iteration
- `first`, `last`: the first and the last flit of a message enter outgoing lane `number` of the node (lanes by id of the neighbour)
- `count`: an arrival, line `number` of the node's list, counts for an iteration: it shows in the counters from this cycle on
- `done`: at the beginning of this cycle all rows of the node have fired and all its arrivals have counted
"""

from itertools import zip_longest
from pathlib import Path

import numpy as np

from certree.hw.engines.core_program import first_cells
from certree.hw.engines.lane_engines import LaneEngine
from certree.hw.engines.runs import Engine, Options
from certree.hw.engines.table_rows import NotPacedError
from certree.hw.formats import load_formats
from certree.hw.formats.systemverilog import TRACE_FILE
from certree.hw.formats.systemverilog.images import lanes_of, local_number, period_of
from certree.models.common.errors import TableFormatError
from certree.models.common.files import read_bytes
from certree.models.machine.clocks import Clocks
from certree.models.network.routing import DIRECT
from certree.models.tables.table_columns import LOCKSTEP
from certree.models.tables.tables import Tables

COLUMNS = ("cycle", "node", "event", "number", "iteration")
_MOST_BUFFER = (1 << 30) - 1  # flits, of a constant of 32 bits
_KINDS = ("fire", "first", "last", "count", "done")


def golden_trace(tables: Tables, clocks: Clocks | None = None) -> bytes:
    """The CSV of a run on lanes, slotted or paced as the control of the tables says. Errors as LaneEngine; NotPacedError for
    lockstep where rows do not wait for all that their cell ever gets, or where the interface behaves differently
    (`_check_lockstep`). O(messages · log) time and memory."""
    return golden_run(tables, clocks)[0]


def golden_run(tables: Tables, clocks: Clocks | None = None) -> tuple[bytes, int]:
    """The CSV of a run, as `golden_trace`, and how many rows fired late."""
    mode = "paced" if tables.control == LOCKSTEP else "slotted"
    if tables.control == LOCKSTEP:
        _check_passing(tables)
    options = Options(mode=mode, engine=Engine.FAST, without_routers=True, clocks=clocks, observer=lambda _: None)
    engine = LaneEngine(tables, options, first_cells(tables))
    statistics = engine.run(None)
    if tables.control == LOCKSTEP:
        _check_lockstep(tables)
    lines = [",".join(COLUMNS)]
    for cycle, node, kind, _, number, iteration in sorted(_events(tables, engine)):
        shown = ("", "") if kind == _KINDS.index("done") else (number, "" if iteration < 0 else iteration)
        lines.append(f"{cycle},{node},{_KINDS[kind]},{shown[0]},{shown[1]}")
    return ("\n".join(lines) + "\n").encode(), statistics["late"]


def _check_lockstep(tables: Tables) -> None:
    """Raise NotPacedError for tables that the interface with a timestep counter does not execute as the simulator does."""
    refused = {
        "iterations whose cells count several arrivals: the interface does not tell those of one iteration from the next": (
            tables.is_counted and tables.repeats > tables.in_flight and int(tables.arrival_count.max(initial=1)) > 1
        ),
        "fine slots in several iterations": tables.fine_slots and tables.repeats > 1,
        "messages of several sizes over parallel lanes": tables.has_sizes and int(tables.topology.capacity.max()) > 1,
        f"injection buffers of {_MOST_BUFFER + 1:,} flits and more": tables.machine.ni_buffer_flits > _MOST_BUFFER,
    }
    for what, is_so in refused.items():
        if is_so:
            raise NotPacedError(f"lockstep is not for {what}")


def _check_passing(tables: Tables) -> None:
    """Raise NotPacedError where a message passes through an endpoint, whose interface does not see messages waiting at its
    ports."""
    topology, sent = tables.topology, tables.transfers()
    is_endpoint = topology.rank >= 0
    for row, src, dst, route in zip(*(sent[name].tolist() for name in ("row", "src", "dst", "route")), strict=True):
        passed = [] if route == DIRECT else topology.dst[list(tables.routes[route][:-1])].tolist()
        if any(is_endpoint[passed]):
            node = next(node for node in passed if is_endpoint[node])
            raise NotPacedError(
                f"a message from node {src} to node {dst} (step {tables.step[row]}) passes through node {node}, whose interface "
                "does not see it at its ports; in lockstep only switches pass messages on"
            )


def _events(tables: Tables, engine: LaneEngine) -> set[tuple[int, int, int, int, int, int]]:
    """All events as (cycle, node, kind, place among the events of that kind, number, iteration)."""
    columns, period = engine.rows.rows, period_of(tables)
    cycles = columns["message_cycles"][
        columns["row_messages_begin"][:-1]
    ].tolist()  # of each row, whose messages have equal lengths
    lines = _lines(tables)
    starts = _first_lanes(tables, engine)
    done: dict[int, int] = dict.fromkeys(tables.topology.endpoints.tolist(), 0)
    events = set()
    for row, iteration, destination, fired, first, _, usable, message in engine.core.trace():
        node, number = engine.rows.node_of(row)
        line = lines[row, destination]
        slot = int(tables.step[row]) + iteration * period
        events.add((fired, node, 0, slot, number, iteration))
        if message in starts:  # a local transfer takes no lane
            events.add((first, node, 1, starts[message], starts[message], -1))
            events.add((first + cycles[row] - 1, node, 2, starts[message], starts[message], -1))
        events.add((usable, destination, 3, line, line, iteration))
        done[node] = max(done[node], fired + 1)
        done[destination] = max(done[destination], usable)
    return events | {(cycle, node, 4, 0, 0, -1) for node, cycle in done.items()}


def _lines(tables: Tables) -> dict[tuple[int, int], int]:
    """A map (row, destination) -> line of the message in the destination's list of arrivals."""
    sent = tables.transfers()
    number = local_number(tables.arrival_node)[np.searchsorted(tables.arrival_keys(), tables.transfer_keys())]
    return dict(zip(zip(sent["row"].tolist(), sent["dst"].tolist(), strict=True), number.tolist(), strict=True))


def _first_lanes(tables: Tables, engine: LaneEngine) -> dict[int, int]:
    """The outgoing lane of its node that each message takes first."""
    topology = tables.topology
    place: dict[str, int] = {}
    for node, lanes in lanes_of(tables, "src").items():
        for number, (pair, lane) in enumerate(lanes):
            place[f"{node}>{int(topology.pair_dst[pair])} lane {lane}"] = number
    uses = engine.link_uses()
    taken: dict[int, tuple[int, str]] = {}
    for message, lane, start, _ in uses.messages:
        name = uses.names[lane]
        taken[message] = min(taken.get(message, (start, name)), (start, name))
    return {message: place[name if " lane " in name else f"{name} lane 0"] for message, (_, name) in taken.items()}


def trace_files(tables: Tables, format: str) -> dict[str, bytes]:
    """The golden trace, for a format that has one; nothing for any other. InputError for an unknown format."""
    return {TRACE_FILE: golden_trace(tables)} if load_formats()[format].has_trace else {}


def check_trace(tables: Tables, path: Path) -> None:
    """Raise TableFormatError, naming the line, where the golden trace in a folder is not that of a run of the tables in it; nothing
    where the folder has none."""
    if not path.is_file():
        return
    given, due = read_bytes(path).split(b"\n"), golden_trace(tables).split(b"\n")
    for number, (stated, right) in enumerate(zip_longest(given, due), 1):
        if stated != right:
            shown = ("nothing" if line is None else repr(line.decode(errors="replace")) for line in (stated, right))
            raise TableFormatError("{}: line {} is {}; a run of these tables has {}".format(path, number, *shown))
