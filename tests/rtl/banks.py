"""Tables that take over from others while interfaces run (`docs/reference/tables.md`, "Banks"): pairs, and a third image each.

All images are written with fields that are wide enough for each, and the interface is made for all. The third one comes into the
bank of the first. What is expected is the run of `certree simulate OLD --then NEW`, twice: the golden trace of the first tables,
then that of others by the clocks that these start with. In lockstep (B8) each run has a time of its own: that of its start, when
all interfaces have taken over.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path

import numpy as np

from certree.hw.formats.bit_layout import Field, Widths
from certree.hw.formats.readmemh import ReadmemhFormat
from certree.hw.formats.systemverilog import tables_documents
from certree.hw.formats.systemverilog.sizes import Sizes, sizes_of
from certree.hw.formats.systemverilog.testbench import reference_files
from certree.hw.golden import golden_run
from certree.hw.switching import opening_cycles
from certree.hw.tables.lowering import lower
from certree.models.machine.clocks import Clocks
from certree.models.schedule.collective import CollectiveKind
from certree.models.schedule.schedule import Schedule
from certree.models.tables.table_columns import LOCKSTEP, NIL
from certree.models.tables.tables import Tables
from tests.hw.counted import blocks
from tests.hw.trees import MULTITREE, tree_schedule
from tests.rtl.model import build_model, numbers_text
from tests.rtl.model import run_model as run

NEXT, LAST, TRACE, SKEW = "next", "last", "switched.csv", "skew.hex"
_ALL_REDUCE, _BROADCAST = CollectiveKind.ALL_REDUCE, CollectiveKind.BROADCAST
_EPOCH = 65_535  # the next one is 0
_KINDS = ("fire", "first", "last", "count", "done")
#: constants that the interface is compiled with and that all tables have to share
_SHARED = ("CHUNK_GRANULES", "MESSAGE_FLITS", "STRIDE", "IN_FLIGHT", "TX_LANES", "RX_LANES", "START_CYCLES")


@dataclass(frozen=True)
class Pair:
    """Tables, those that follow them, third ones if any, and how many cycles every second interface starts late.

    `is_hasty`, in lockstep: each interface is started as soon as it has taken over, not when all have.
    """

    before: Tables
    after: Tables
    skew: int = 0
    is_hasty: bool = False
    last: Tables | None = None

    @property
    def images(self) -> tuple[Tables, ...]:
        """All tables, in order."""
        return (self.before, self.after, *([] if self.last is None else [self.last]))


def _pair(
    network: str,
    trees: int,
    kinds: tuple[CollectiveKind, CollectiveKind],
    size: int,
    skew: int = 0,
    repeats: tuple[int, int, int] = (3, 3, 3),
) -> Callable[[], Pair]:
    """`size`: of the message of three iterations."""

    def made() -> Pair:
        schedules = [
            tree_schedule(network, kind, trees, delay=2 - place % 2, repeats=repeats[place], seed=3 + place)
            for place, kind in enumerate((*kinds, kinds[0]))
        ]
        return _of(schedules, size // 3, skew)

    return made


def _blocks() -> Pair:
    """All-to-alls along other paths, in tables of `blocks`."""
    return _of([blocks("mesh:2x2", CollectiveKind.ALL_TO_ALL, 2, 1, 3, seed) for seed in (5, 6, 7)], 3000, 0)


def _switched_blocks() -> Pair:
    """All-to-alls through switches: nothing passes through endpoints, as lockstep needs it."""
    return _of([blocks("fattree:2x2", CollectiveKind.ALL_TO_ALL, 1, 2, 2, seed) for seed in (1, 2, 3)], 2000, 0)


def _of(schedules: Sequence[Schedule], size: int, skew: int) -> Pair:
    """`size`: bytes of the message of each iteration."""
    before, after, last = (
        replace(lower(schedule, size * schedule.repeats, MULTITREE), epoch=(_EPOCH + place) % (1 << 16))
        for place, schedule in enumerate(schedules)
    )
    return Pair(before, after, skew, last=last)


def _in_lockstep(slotted: Callable[[], Pair]) -> Callable[[], Pair]:
    def made() -> Pair:
        pair = slotted()
        before, after, last = (replace(tables, control=LOCKSTEP) for tables in pair.images)
        return replace(pair, before=before, after=after, last=last)

    return made


SLOTTED_PAIRS = {
    "mesh-2x2-then-broadcast": _pair("mesh:2x2", 2, (_ALL_REDUCE, _BROADCAST), 6000, repeats=(3, 2, 4)),
    "mesh-2x2-then-others-late": _pair("mesh:2x2", 2, (_BROADCAST, _ALL_REDUCE), 24_000, skew=7),
    "fattree-2x2-then-others": _pair("fattree:2x2", 2, (_ALL_REDUCE, _ALL_REDUCE), 6000),
    "torus-4x4-then-others": _pair("torus:4x4", 4, (_ALL_REDUCE, _ALL_REDUCE), 24_000),
    "mesh-2x2-blocks-then-others": _blocks,
    "dgx1-then-others": _pair("dgx1", 4, (_ALL_REDUCE, _ALL_REDUCE), 24_000, skew=3),
}
_BLOCKS, _SWITCHED_BLOCKS = "mesh-2x2-blocks-then-others", "fattree-2x2-blocks-then-others"  # the first not paced
_PACED = {name: pair for name, pair in SLOTTED_PAIRS.items() if name != _BLOCKS} | {_SWITCHED_BLOCKS: _switched_blocks}
LOCKSTEP_PAIRS = {f"{name}-lockstep": _in_lockstep(pair) for name, pair in _PACED.items()}
PAIRS = SLOTTED_PAIRS | LOCKSTEP_PAIRS


def hasty_pair() -> Pair:
    """All-reduces in lockstep that nodes end hundreds of cycles apart, and a host that does not wait for the others."""
    return replace(_in_lockstep(_pair("mesh:2x2", 2, (_ALL_REDUCE, _ALL_REDUCE), 240_000))(), is_hasty=True, last=None)


def joint(*images: Tables) -> list[Sizes]:
    """The sizes of tables for one interface: the largest of each; AssertionError where they differ in what it is made for."""
    stated = [Widths.of(tables) for tables in images]
    widths = Widths(*(max(getattr(one, field.name) for one in stated) for field in fields(Widths)))
    sizes = [sizes_of(tables, widths) for tables in images]
    # Work cells are behind those of all iterations, whose number may differ where there are none.
    has_work = any(one["MEMORY_GRANULES"] > one["WORK_BASE"] for one in sizes)
    assert all(one[name] == sizes[0][name] for one in sizes for name in (*_SHARED, *(["WORK_BASE"] if has_work else [])))
    layout = [
        Field(same[0].name, max(field.bits for field in same), same[0].nullable)
        for same in zip(*(one.fields for one in sizes), strict=True)
    ]
    words = -(-max(sum(field.bits for field in entry) for entry in (layout, widths.arrival(), widths.ports())) // 32)
    own = ("SLOT_CYCLES", "PERIOD", "REPEATS", "BOUNDARY", "DELAY", "STAGES")  # settings of the header, not of the interface
    largest = {
        same[0].name: max(constant.value for constant in same) for same in zip(*(one.constants for one in sizes), strict=True)
    }
    largest["WINDOW_WORDS"] = 1 << (words - 1).bit_length()
    return [
        replace(
            one,
            fields=layout,
            constants=tuple(
                replace(constant, value=constant.value if constant.name in own else largest[constant.name])
                for constant in one.constants
            ),
        )
        for one in sizes
    ]


def export_pair(pair: Pair, folder: Path) -> None:
    """The interface, all images, the numbers for the driver, and what is expected; compiled."""
    images = joint(*pair.images)
    folders = [folder, folder / NEXT, folder / LAST][: len(images)]
    for sizes, target in zip(images, folders, strict=True):
        target.mkdir(parents=True)
        more = sizes.widths.children - sizes.tables.children.shape[1]
        padded = np.pad(sizes.tables.children, ((0, 0), (0, max(0, more))), constant_values=NIL)
        others = ReadmemhFormat().files(replace(sizes.tables, children=padded), sizes.widths)
        for name, data in (others | tables_documents(sizes, others) | reference_files(sizes)).items():
            (target / name).write_bytes(data)
    clocks = _clocks(pair)
    nodes = pair.before.topology.endpoints.tolist()
    (folder / SKEW).write_text("".join(f"{clocks.skew[node]:x}\n" for node in nodes))
    late, numbers = 0, [f"HASTY {int(pair.is_hasty)}\n"] * (len(images) - 1)
    if pair.before.control == LOCKSTEP:
        for tables, target in zip(pair.images, folders, strict=True):
            (target / TRACE).write_bytes(golden_run(tables, clocks)[0])
    else:
        trace, late, opening = _switched_trace(pair.images, clocks)
        (folder / TRACE).write_text(trace)
        opens = [" ".join(str(cycles[node]) for node in nodes) for cycles in opening]
        numbers = [f"OPENS {cycles}\nENDS {trace.count(',done,')}\n" for cycles in opens]
    for sizes, target, more_numbers in zip(images[1:], folders[1:], numbers, strict=True):
        (target / "numbers.txt").write_text(numbers_text(sizes) + more_numbers)
    (folder / "late.txt").write_text(str(late))
    build_model(images[0], folder)


def _switched_trace(images: Sequence[Tables], clocks: Clocks) -> tuple[str, int, list[list[int]]]:
    """The golden trace of tables that follow each other in slots, its late rows, and by node when each but the first open."""
    columns, events, opens = "", list[str](), list[list[int]]()
    late = shift = 0  # cycles from the start until time 0 of the run of these tables
    for place, tables in enumerate(images):
        trace, late_rows = golden_run(tables, clocks)
        columns, *lines = trace.decode().splitlines()
        late += late_rows
        if place + 1 < len(images):
            opening = opening_cycles(tables, clocks)
            lines = [line for line in lines if _is_shown(line, opening)]
            opens.append([shift + cycle for cycle in opening])
            clocks = Clocks(tuple(cycle - min(opening) for cycle in opening), clocks.drift)
        moved = [line.partition(",") for line in lines]
        events += [f"{int(cycle) + shift},{rest}" for cycle, _, rest in moved]
        if place + 1 < len(images):
            shift += min(opening) - tables.machine.ni_start_cycles
    return "\n".join([columns, *sorted(events, key=_in_trace)]) + "\n", late, opens


def run_pair(folder: Path) -> tuple[bool, str]:
    """Whether the run of a compiled pair is what is expected, and what the driver said."""
    after = [name for name in (NEXT, LAST) if (folder / name).exists()]
    done = run(folder, TRACE, int((folder / "late.txt").read_text()), SKEW, after)
    return done.passed, done.text


def _clocks(pair: Pair) -> Clocks:
    nodes = pair.before.topology.endpoints.tolist()
    skew = [0] * len(pair.before.topology.kind)
    for place, node in enumerate(nodes):
        skew[node] = pair.skew * (place % 2)
    return Clocks(tuple(skew), Clocks.equal(len(skew)).drift)


def _is_shown(line: str, opening: Sequence[int]) -> bool:
    """Whether interfaces show an event of a trace: not the end of a node in the very cycle in which others open there. `opening`:
    that cycle, by node."""
    cycle, node, kind, *_ = line.split(",")
    return kind != "done" or int(cycle) < opening[int(node)]


def _in_trace(line: str) -> tuple[int, int, int]:
    """What events are sorted by in a golden trace."""
    cycle, node, kind, *_ = line.split(",")
    return int(cycle), int(node), _KINDS.index(kind)
