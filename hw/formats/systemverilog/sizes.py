"""Widths, depths and times of an interface for given tables: the constants of `certree_ni_pkg.sv` and `certree_tables.h`."""

from dataclasses import dataclass

import numpy as np

from certree.hw.formats.bit_layout import Field, Widths
from certree.hw.formats.systemverilog.images import SlotRows, lanes_of, period_of, slot_fields, slot_rows
from certree.hw.formats.systemverilog.staging import staged_chunk_bits
from certree.hw.formats.systemverilog.window import MOST_ROWS, lane_queue, lockstep_rows, window_rows
from certree.models.fine.slots import landing_steps
from certree.models.schedule.timing import reduction_cycles, serialization_cycles
from certree.models.tables.paced_steps import estimated_step_cycles
from certree.models.tables.table_columns import EPOCH_BITS, LOCKSTEP, Profile, RowOp
from certree.models.tables.table_memory import layout
from certree.models.tables.tables import Tables

LANE_QUEUE = 2  # messages that wait at a lane, in tables that are never late none
IDENTIFIER = 0x4354_0002  # of the register map
_CYCLE_BITS = 16  # of a skew, at least
_ELEMENTS = (64, 32, 16, 8)  # bits of an integer that the reduction unit adds: the largest that a granule is made of


@dataclass(frozen=True)
class Constant:
    """A number with a name and what it means."""

    name: str
    value: int
    meaning: str


@dataclass(frozen=True)
class Sizes:
    """Tables, their rows in firing order, the fields of such a row, and all constants. `is_in_time`: the reference interface
    reads all rows in time."""

    tables: Tables
    widths: Widths
    rows: SlotRows
    fields: list[Field]
    constants: tuple[Constant, ...]
    is_in_time: bool

    def __getitem__(self, name: str) -> int:
        return next(constant.value for constant in self.constants if constant.name == name)


def log2(values: int) -> int:
    """The number of bits that count `values` distinct values; at least 1."""
    return max(1, (values - 1).bit_length())


def _most(owner: np.ndarray) -> int:
    return int(np.bincount(owner).max(initial=0)) if len(owner) else 0


def sizes_of(tables: Tables, widths: Widths) -> Sizes:
    """All constants; where messages differ in size, as for demands, the largest counts. O(rows log rows)."""
    machine, rows, memory = tables.machine, slot_rows(tables), layout(tables)
    period = period_of(tables)
    size = int(tables.size.max(initial=1)) if tables.has_sizes else tables.chunk_bytes // machine.flit_bytes
    flits = serialization_cycles(size * machine.flit_bytes, machine, tables.topology.scale)
    chunk_cycles = reduction_cycles(tables.chunk_bytes, machine)
    stages = int(rows.stage.max(initial=0)) + 1
    local = int((rows.lane == 0).all(axis=1).any())
    most_count = int(tables.arrival_count.max(initial=1)) * -(-tables.repeats // tables.in_flight)
    arrivals, most_rows, routes = (max(2, n) for n in (_most(tables.arrival_node), _most(tables.node), len(tables.routes)))
    transmit, receive = (max(1, *map(len, lanes_of(tables, side).values())) for side in ("src", "dst"))
    writes = receive + local
    bundle = max(1, *tables.topology.pair_capacity[np.isin(tables.topology.pair_src, tables.topology.endpoints)].tolist())
    is_lockstep, buffer = tables.control == LOCKSTEP, int(machine.ni_buffer_flits * tables.topology.scale)
    slot_cycles = estimated_step_cycles(flits, buffer) if is_lockstep else tables.slot_cycles
    least = int(tables.size.min(initial=size)) if tables.has_sizes else size
    least = serialization_cycles(least * machine.flit_bytes, machine, tables.topology.scale)
    staged = staged_chunk_bits(tables, writes, chunk_cycles, least)
    if is_lockstep:
        left = lane_queue(buffer, least)
        window = lockstep_rows(tables, rows, transmit, left, least)
        queue = max(LANE_QUEUE, min(left, most_rows * tables.repeats))
    else:
        window, queue = window_rows(tables, rows), LANE_QUEUE
    cells = memory.work_base + memory.in_flight * memory.work_stride
    words = max(sum(field.bits for field in fields) for fields in (slot_fields(rows, widths), widths.arrival(), widths.ports()))
    boundary = (
        0
        if is_lockstep
        else (tables.repeats - 1) * (tables.period or 0) + int(landing_steps(tables.schedule).max(initial=tables.delay))
    )
    slots = max((tables.repeats + stages + 1) * period, boundary)
    cycle_bits = max(_CYCLE_BITS, (2 * slot_cycles).bit_length(), (2 * machine.ni_start_cycles).bit_length())
    counted = np.zeros(len(tables.topology.kind), np.int64)
    np.add.at(counted, tables.arrival_node, tables.arrival_count)
    names = [
        ("PROFILE", list(Profile).index(tables.profile), "0 trees, 1 blocks, 2 buffers"),
        *((f"OP_{op.name}", int(op), "op code") for op in RowOp),
        ("NODES", len(tables.topology.kind), "topology ids run from 0 to NODES - 1"),
        ("NIS", len(tables.topology.endpoints), "network interfaces (endpoints)"),
        ("FLOWS", tables.chunks, "chunks of an iteration, K"),
        ("PERIOD", period, "slots from iteration to iteration; without repetition: slots of the table"),
        ("REPEATS", tables.repeats, "iterations"),
        ("STAGES", stages, "iterations of one table that can be in progress at once"),
        ("DELAY", tables.delay, "data sent in slot s can be used from slot s + DELAY on"),
        ("IS_LOCKSTEP", int(is_lockstep), "1: a timestep counter in place of slots (E6), whose steps are meant by slots"),
        ("SLOT_CYCLES", slot_cycles, "cycles of a slot; in lockstep, of a step without rows (E8)"),
        ("NI_BUFFER_FLITS", buffer, "in lockstep, flits that a lane may have left when a step begins (E7)"),
        ("BOUNDARY", boundary, "slots until all that the last iteration sent has counted; other tables may open (B4)"),
        ("HEAD_FLITS", machine.head_flits, "header flits of a message"),
        ("MESSAGE_FLITS", flits, "flits of the longest message, header included; one for each cycle"),
        ("CHUNK_GRANULES", size, "granules of the largest chunk; a granule is what one flit carries, and the unit of addresses"),
        ("HAS_SIZES", int(tables.has_sizes), "1: chunks differ in size (D7), and a message states its granules"),
        ("GRANULE_BYTES", machine.flit_bytes, "bytes of a granule"),
        ("GRANULE_BITS", 8 * machine.flit_bytes, "bits of a granule"),
        ("ELEMENT_BITS", next(bits for bits in _ELEMENTS if 8 * machine.flit_bytes % bits == 0), "bits of an integer"),
        ("STRIDE", memory.stride, "granules from a chunk to that of the next iteration, below WORK_BASE"),
        ("WORK_BASE", memory.work_base, "first granule of the work cells"),
        ("WORK_STRIDE", memory.work_stride, "granules of the work cells of one iteration"),
        ("IN_FLIGHT", tables.in_flight, "W, iterations whose work cells and counters are kept apart"),
        ("ADDS_IN_ORDER", int(tables.additions is not None), "1: chunks are added in the order that the manifest states (A13)"),
        ("MEMORY_GRANULES", cells, "granules of a node that tables use"),
        ("REDUCE_START_CYCLES", machine.reduce_start_cycles, "cycles from complete to the start of the reduction"),
        ("REDUCE_CHUNK_CYCLES", chunk_cycles, "cycles that a chunk occupies the reduction unit"),
        ("SUM_GRANULES", -(-size // max(1, chunk_cycles - 1)), "granules that the reduction unit adds in a cycle"),
        ("START_CYCLES", machine.ni_start_cycles, "cycles from the common start to the opening of slot 0"),
        ("ROWS", most_rows, "rows of the node with most rows, at least 2"),
        ("ARRIVALS", arrivals, "expected arrivals of the node with most, at least 2"),
        ("ROUTES", routes, "source routes, at least 2"),
        ("WINDOW_ROWS", window or MOST_ROWS, "rows that are read ahead, at least all of a node that fire in one slot"),
        ("LANE_QUEUE", queue, "messages that wait at a lane"),
        ("TX_LANES", transmit, "lanes out of the node with most of them"),
        ("RX_LANES", receive, "lanes into the node with most of them"),
        ("COPY_UNITS", local, "1: rows move data within a node (R5), through its copy unit"),
        ("READ_PORTS", transmit + local, "lanes and copy units that read the memory of a node"),
        ("WRITE_PORTS", writes, "lanes and copy units that write to it; the copy unit comes first"),
        ("RX_LANE_BITS", log2(writes), "bits of the number of one of these"),
        ("BUNDLE_LANES", bundle, "most lanes from a node to one neighbour"),
        ("COUNT_PORTS", -(-receive // max(1, flits - 1)), "messages whose headers come together and count in memory in one cycle"),
        ("NODE_BITS", widths.node, "bits of a node id; nil is all ones"),
        ("FLOW_BITS", widths.flow, "bits of a flow"),
        ("BUFFER_BITS", max(1, widths.buffer), "bits of a buffer"),
        ("SIZE_BITS", widths.size, "bits of the granules of a chunk"),
        ("WAIT_COUNT_BITS", max(1, widths.wait), "bits of the arrivals that a row of `blocks` and `buffers` waits for"),
        ("LINE_COUNT_BITS", max(1, widths.count), "bits of the arrivals of a line in an iteration"),
        ("CELL_COUNT_BITS", (most_count + 1).bit_length(), "bits of a counter of `blocks` and `buffers`"),
        ("TURN_BITS", log2(tables.in_flight), "bits of an iteration modulo W"),
        ("TABLE_ADDR_BITS", widths.addr, "bits of an address of iteration 0"),
        ("STAGED_CHUNK_BITS", staged, "bits of the number of a chunk of a lane in the staging area"),
        ("STAGED_BITS", log2(size), "bits of a granule of a place of the staging area"),
        ("ADDR_BITS", 1 + max((cells - 1).bit_length(), log2(writes) + staged + log2(size)), "bits of an address; top: is staged"),
        ("ROUTE_INDEX_BITS", widths.route, "bits of the number of a route; nil is all ones"),
        ("ROUTE_DEPTH_BITS", log2(routes), "bits of an address of the route memory"),
        ("ROUTE_BITS", sum(field.bits for field in widths.ports()), "bits of a source route"),
        ("PORT_BITS", widths.port, "bits of a port in a source route; all ones eject"),
        ("HOPS", widths.hops, "ports of a source route, the eject at its end included"),
        ("ROW_INDEX_BITS", log2(most_rows), "bits of the number of a row at its node"),
        ("LINE_BITS", rows.line_bits, "bits of the number of an expected arrival at its node"),
        ("WAIT_LINES_BITS", _bits(slot_fields(rows, widths), "wait_lines"), "bits of how many lines a row waits for"),
        ("SLOT_BITS", _bits(slot_fields(rows, widths), "slot"), "bits of a slot of the period"),
        ("STAGE_BITS", _bits(slot_fields(rows, widths), "stage"), "bits of a stage"),
        ("ITERATION_BITS", log2(tables.repeats), "bits of an iteration"),
        ("COUNT_BITS", (tables.repeats + 1).bit_length(), "bits of a counter of arrivals"),
        ("ABSOLUTE_SLOT_BITS", slots.bit_length(), "bits of a slot counted from the start"),
        ("CYCLE_BITS", cycle_bits, "bits of SKEW and SLOT_CYCLES"),
        ("LATE_ROWS_BITS", 16, "bits of LATE_ROWS"),
        ("ROW_NUMBER_BITS", log2(most_rows) + 1, "bits of ROWS"),
        ("LINE_NUMBER_BITS", rows.line_bits + 1, "bits of ARRIVALS"),
        ("ROUTE_NUMBER_BITS", log2(routes) + 1, "bits of ROUTES"),
        ("EPOCH_BITS", EPOCH_BITS, "bits of an epoch"),
        ("FIRED_BITS", (most_rows * tables.repeats).bit_length(), "bits of the number of all firings of a node"),
        ("TOTAL_BITS", (int(counted.max()) * tables.repeats).bit_length() + 1, "bits of the number of all arrivals of a node"),
        ("FLIT_INDEX_BITS", (flits + 1).bit_length(), "bits of the number of a flit in its message"),
        ("BACKLOG_BITS", ((queue + 2) * flits).bit_length(), "bits of the flits that a lane has left to send"),
        ("WINDOW_WORDS", 1 << (-(-words // 32) - 1).bit_length(), "words of 32 bits of an entry in the table windows"),
    ]  # fmt: skip
    constants = tuple(Constant(*entry) for entry in names)
    return Sizes(tables, widths, rows, slot_fields(rows, widths), constants, window is not None)


def _bits(fields: list[Field], name: str) -> int:
    return next(field.bits for field in fields if field.name == name)
