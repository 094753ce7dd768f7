"""Pairs of tables of which the second takes over from the first while interfaces run (`docs/reference/tables.md`, "Banks").

Both images are written with fields that are wide enough for either, and the interface is made for both. What is expected is the run
of `certree simulate OLD --then NEW`: the golden trace of the first tables, then that of the second by the clocks that these start
with. In lockstep (B8) the second run has a time of its own: that of its start, when all interfaces have taken over.
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

NEXT, TRACE, SKEW = "next", "switched.csv", "skew.hex"
_ALL_REDUCE, _BROADCAST = CollectiveKind.ALL_REDUCE, CollectiveKind.BROADCAST
_EPOCH = 65_535  # the next one is 0
_KINDS = ("fire", "first", "last", "count", "done")
#: constants that the interface is compiled with and that both tables have to share
_SHARED = ("CHUNK_GRANULES", "MESSAGE_FLITS", "STRIDE", "WORK_BASE", "IN_FLIGHT", "TX_LANES", "RX_LANES", "START_CYCLES")


@dataclass(frozen=True)
class Pair:
    """Tables, those that follow them, and how many cycles every second interface starts late.

    `is_hasty`, in lockstep: each interface is started as soon as it has taken over, not when all have.
    """

    before: Tables
    after: Tables
    skew: int = 0
    is_hasty: bool = False


def _pair(network: str, trees: int, kinds: tuple[CollectiveKind, CollectiveKind], size: int, skew: int = 0) -> Callable[[], Pair]:
    def made() -> Pair:
        schedules = [
            tree_schedule(network, kind, trees, delay=2 - place, repeats=3, seed=3 + place) for place, kind in enumerate(kinds)
        ]
        return _of(schedules, size, skew)

    return made


def _blocks() -> Pair:
    """All-to-alls along other paths, in tables of `blocks`."""
    return _of([blocks("mesh:2x2", CollectiveKind.ALL_TO_ALL, 2, 1, 3, seed) for seed in (5, 6)], 9000, 0)


def _switched_blocks() -> Pair:
    """All-to-alls through switches: nothing passes through endpoints, as lockstep needs it."""
    return _of([blocks("fattree:2x2", CollectiveKind.ALL_TO_ALL, 1, 2, 2, seed) for seed in (1, 2)], 4000, 0)


def _of(schedules: Sequence[Schedule], size: int, skew: int) -> Pair:
    before, after = (
        replace(lower(schedule, size, MULTITREE), epoch=(_EPOCH + place) % (1 << 16)) for place, schedule in enumerate(schedules)
    )
    return Pair(before, after, skew)


def _in_lockstep(slotted: Callable[[], Pair]) -> Callable[[], Pair]:
    def made() -> Pair:
        pair = slotted()
        return replace(pair, before=replace(pair.before, control=LOCKSTEP), after=replace(pair.after, control=LOCKSTEP))

    return made


SLOTTED_PAIRS = {
    "mesh-2x2-then-broadcast": _pair("mesh:2x2", 2, (_ALL_REDUCE, _BROADCAST), 6000),
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
    return replace(_in_lockstep(_pair("mesh:2x2", 2, (_ALL_REDUCE, _ALL_REDUCE), 240_000))(), is_hasty=True)


def joint(one: Tables, other: Tables) -> tuple[Sizes, Sizes]:
    """The sizes of two tables for one interface: the larger of each; AssertionError where they differ in what it is made for."""
    pairs = [(getattr(Widths.of(one), field.name), getattr(Widths.of(other), field.name)) for field in fields(Widths)]
    widths = Widths(*map(max, pairs))
    sizes = [sizes_of(tables, widths) for tables in (one, other)]
    assert all(sizes[0][name] == sizes[1][name] for name in _SHARED)
    layout = [Field(a.name, max(a.bits, b.bits), a.nullable) for a, b in zip(sizes[0].fields, sizes[1].fields, strict=True)]
    words = -(-max(sum(field.bits for field in entry) for entry in (layout, widths.arrival(), widths.ports())) // 32)
    own = ("SLOT_CYCLES", "PERIOD", "REPEATS", "BOUNDARY", "DELAY", "STAGES")  # settings of the header, not of the interface
    largest = {a.name: max(a.value, b.value) for a, b in zip(sizes[0].constants, sizes[1].constants, strict=True)}
    largest["WINDOW_WORDS"] = 1 << (words - 1).bit_length()
    made = [
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
    return made[0], made[1]


def export_pair(pair: Pair, folder: Path) -> None:
    """The interface, both images, the numbers for the driver, and what is expected; compiled."""
    before, after = joint(pair.before, pair.after)
    for sizes, target in ((before, folder), (after, folder / NEXT)):
        target.mkdir(parents=True)
        more = sizes.widths.children - sizes.tables.children.shape[1]
        padded = np.pad(sizes.tables.children, ((0, 0), (0, max(0, more))), constant_values=NIL)
        others = ReadmemhFormat().files(replace(sizes.tables, children=padded), sizes.widths)
        for name, data in (others | tables_documents(sizes, others) | reference_files(sizes)).items():
            (target / name).write_bytes(data)
    clocks = _clocks(pair)
    (folder / SKEW).write_text("".join(f"{clocks.skew[node]:x}\n" for node in pair.after.topology.endpoints.tolist()))
    if pair.before.control == LOCKSTEP:
        (folder / NEXT / "numbers.txt").write_text(numbers_text(after) + f"HASTY {int(pair.is_hasty)}\n")
        for tables, target in ((pair.before, folder), (pair.after, folder / NEXT)):
            (target / TRACE).write_bytes(golden_run(tables, clocks)[0])
        (folder / "late.txt").write_text("0")
        build_model(before, folder)
        return
    opening = opening_cycles(pair.before, clocks)
    start = pair.after.machine.ni_start_cycles
    opens = [opening[node] for node in pair.after.topology.endpoints.tolist()]
    first, late = golden_run(pair.before, clocks)
    later = Clocks(tuple(cycle - min(opening) for cycle in opening), clocks.drift)
    second, later_late = golden_run(pair.after, later)
    shown = _shown(first.decode(), opening)
    events = _merged(shown, second.decode(), min(opening) - start)
    (folder / TRACE).write_text(events)
    numbers = f"OPENS {' '.join(map(str, opens))}\nENDS {events.count(',done,')}\n"
    (folder / NEXT / "numbers.txt").write_text(numbers_text(after) + numbers)
    (folder / "late.txt").write_text(str(late + later_late))
    build_model(before, folder)


def run_pair(folder: Path) -> tuple[bool, str]:
    """Whether the run of a compiled pair is what is expected, and what the driver said."""
    done = run(folder, TRACE, int((folder / "late.txt").read_text()), SKEW, NEXT)
    return done.passed, done.text


def _clocks(pair: Pair) -> Clocks:
    nodes = pair.before.topology.endpoints.tolist()
    skew = [0] * len(pair.before.topology.kind)
    for place, node in enumerate(nodes):
        skew[node] = pair.skew * (place % 2)
    return Clocks(tuple(skew), Clocks.equal(len(skew)).drift)


def _shown(trace: str, opening: Sequence[int]) -> str:
    """The events of the first tables that interfaces show: not the end of a node in the very cycle in which others open there.
    `opening`: that cycle, by node."""
    columns, *lines = trace.splitlines()

    def is_shown(line: str) -> bool:
        cycle, node, kind, *_ = line.split(",")
        return kind != "done" or int(cycle) < opening[int(node)]

    return "\n".join([columns, *filter(is_shown, lines)]) + "\n"


def _merged(first: str, second: str, shift: int) -> str:
    """The events of both runs in the order of a golden trace, those of the second N cycles later."""
    columns, *lines = first.splitlines()
    moved = [line.partition(",") for line in second.splitlines()[1:]]
    events = lines + [f"{int(cycle) + shift},{rest}" for cycle, _, rest in moved]

    def key(line: str) -> tuple[int, int, int]:
        cycle, node, kind, *_ = line.split(",")
        return int(cycle), int(node), _KINDS.index(kind)

    return "\n".join([columns, *sorted(events, key=key)]) + "\n"
