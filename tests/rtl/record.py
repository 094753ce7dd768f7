"""The page of co-simulations, `docs/benchmarks/co-simulation.md`, of what `make rtl` prints:

CCACHE_DISABLE=1 python -m tests.rtl small grid random large lockstep banks | python -m tests.rtl.record

Rows of cases that are not in what is read stay as they were, so that the run can be made in parts: each row has its day.
"""

import re
import sys
from datetime import UTC, datetime
from pathlib import Path

from certree.extras.tla.check.paced.apart import most_apart
from certree.hw.formats.bit_layout import Widths
from certree.hw.formats.systemverilog.sizes import sizes_of
from tests.rtl.banks import PAIRS
from tests.rtl.cases import CASES, GRID, LARGE, LOCKSTEP_CASES, LOCKSTEP_SMALL, RANDOM, SMALL, late_clocks, slow_clocks
from tests.rtl.counters.apart import reached_in

PAGE = Path(__file__).parents[2] / "docs" / "benchmarks" / "co-simulation.md"
_LINE = re.compile(r"(pass|FAIL) +([\w-]+): (.*) \((\d+) CPU s\)")
_RUN = re.compile(r"([\d]+) events, ([\d]+) differences; ([\d]+) cycles; ([\d]+) late rows")
_HEAD = """# Co-simulation of the interface

The [reference network interface](../how-to/hardware.md) against the C++ simulator of slotted runs, event by event and cycle by
cycle: rows fired, first and last flit of each message, arrivals counted, sums written, the end of each node; then the data in all
memories. Each case is run twice, the second time with every second interface 7 cycles late, against a golden trace of clocks with
that skew. Assertions are on in all runs. A driver in C++ with one Verilator model for each node (`tests/rtl/driver`) runs all
cases, the testbench in SystemVerilog those marked * as well. Cases named `random` are trees on random networks of 3 to 6
endpoints, with and without switches, links of different lengths and of one or two lanes. CPU seconds are those of a whole case,
compilation without optimization and without ccache included, on a shared 2-core machine. Each row is of the interface as it was
on the day in its last column.

    CCACHE_DISABLE=1 python -m tests.rtl small grid random large lockstep banks | python -m tests.rtl.record
"""
_LOCKSTEP = """## A timestep counter

Interfaces with a timestep counter in place of slots (`certree export --control lockstep`) against paced runs of the simulator. Each
case is run three times: with equal clocks, with every second interface 7 cycles late, and with some interfaces 40 cycles late and
every second clock slower by an eighth (*slow*). *Steps apart* says how far the counters of two nodes, of which one sends to the
other, were apart in these runs at most, as far as the rows that had fired tell: a counter shows no less than the step of its last
row, and no more than that of its next one. After *of* comes the bound, which holds at any timing while both have rows to fire;
`certree model-check schedule FILE --run paced` prints it for all pairs between which a message can travel, which may be more. No
number is stated where no two such nodes have rows, for messages of several sizes, and for fine slots, since there the bound and the
counters number rows in different ways.

`CONTRACT.md` of the folder states that bound. From the same chains of waits comes the size of the staging area: where the reduction
unit is slower than a lane, it holds all chunks of the lane that can have been sent and not be added, at any timing. In the case
`many-sums` these are 8 of the 32 that a lane brings in the run. There are cells and counters of arrivals for all iterations; the
queue of a lane depends on the machine and on the rows of its own node.
"""
_BANKS = """## Take-over by new tables

Each run has three images. The second is loaded while the first runs, and opens at the boundary
([Banks](../reference/tables.md#banks)) with a new message. The third is loaded into the bank of the first, with other trees or
paths. Each image has three iterations, except in `mesh-2x2-then-broadcast` (3, 2 and 4) and `fattree-2x2-blocks-then-others` (two
each). The C++ driver compares with what `certree simulate OLD --then NEW` computes. In lockstep there is no boundary: interfaces
take over when they are done, the driver starts them again when all have, and compares with a paced run of each of the tables.
"""
_COLUMNS = (
    "case", "nodes", "collective", "delay", "iterations", "lanes", "events", "cycles", "late start: cycles", "late rows",
    "differences", "CPU s", "run on",
)  # fmt: skip
_LOCKSTEP_COLUMNS = (*_COLUMNS[:8], "late start: cycles", "slow: cycles", "steps apart", "differences", "CPU s", "run on")
_PAIR_COLUMNS = ("pair", "nodes", "first", "then", "every second late by", "events", "cycles", "differences", "CPU s", "run on")


def row(line: str) -> list[str] | None:
    """The row of one line that `tests.rtl` printed; None for any other line. ValueError for a case that failed."""
    found = _LINE.fullmatch(line.strip())
    if found is None or found[2] not in CASES:
        return None
    runs = _RUN.findall(found[3])
    if found[1] == "FAIL" or not runs:
        raise ValueError(line)
    tables = CASES[found[2]]()
    lanes = sizes_of(tables, Widths.of(tables))["TX_LANES"]
    facts = (len(tables.topology.endpoints), tables.collective.kind.value, tables.delay, tables.repeats, lanes)
    differences, is_small = sum(int(run[1]) for run in runs), found[2] in SMALL or found[2] in LOCKSTEP_SMALL
    (events, _, cycles, _), (_, _, late_cycles, late), *slow = runs[-3:] if found[2] in LOCKSTEP_CASES else runs[-2:]
    last = f"{int(slow[0][2]):,}" if slow else late
    shown = (*facts, f"{int(events):,}", f"{int(cycles):,}", f"{int(late_cycles):,}", last, differences, found[4], _today())
    return [found[2] + "*" * is_small, *map(str, shown)]


def _with_apart(cells: list[str]) -> list[str]:
    """The row of a case in lockstep with how far counters are apart, which golden traces tell."""
    tables = CASES[cells[0].rstrip("*")]()
    if (bound := most_apart(tables)) is None:
        return [*cells[:10], "-", *cells[-3:]]
    reached = max(reached_in(tables, clocks) for clocks in (None, late_clocks(tables), slow_clocks(tables)))
    return [*cells[:10], f"{reached} of {bound}", *cells[-3:]]


def pair_row(line: str) -> list[str] | None:
    """The row of a pair of tables, as `row`."""
    found = _LINE.fullmatch(line.strip())
    if found is None or found[2] not in PAIRS:
        return None
    runs = _RUN.findall(found[3])
    if found[1] == "FAIL" or not runs:
        raise ValueError(line)
    pair, (events, differences, cycles, _) = PAIRS[found[2]](), runs[0]
    facts = (len(pair.before.topology.endpoints), pair.before.collective.kind.value, pair.after.collective.kind.value, pair.skew)
    return [*map(str, (found[2], *facts, f"{int(events):,}", f"{int(cycles):,}", differences, found[4], _today()))]


def _today() -> str:
    return datetime.now(UTC).date().isoformat()


def _kept() -> list[list[str]]:
    """The rows of the page."""
    lines = PAGE.read_text().splitlines() if PAGE.exists() else []
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("| ")]


def _table(columns: tuple[str, ...], rows: list[list[str]]) -> list[str]:
    return [f"| {' | '.join(cells)} |" for cells in (columns, ["---"] * len(columns), *rows)]


def main() -> int:
    """Write the page; ValueError where a case failed."""
    lines, found = list(sys.stdin), {cells[0].rstrip("*"): cells for cells in _kept()}
    found |= {cells[0].rstrip("*"): cells for read in (row, pair_row) for line in lines if (cells := read(line))}
    rows, counters, pairs = (
        [found[name] for name in names if name in found] for names in ([*SMALL, *GRID, *RANDOM, *LARGE], LOCKSTEP_CASES, PAIRS)
    )
    counters = [_with_apart(cells) for cells in counters]
    left = ", ".join(sorted({*CASES, *PAIRS} - found.keys()))
    total = sum(int(entry[6].replace(",", "")) for entry in rows), sum(int(entry[-2]) for entry in rows)
    foot = f"{len(rows)} cases, {total[0]:,} events in runs without skew, no difference; {total[1]:,} CPU seconds."
    foot += f" Not in this record: {left}." if left else ""
    parts = [_HEAD, *_table(_COLUMNS, rows), "", foot, "", _LOCKSTEP, *_table(_LOCKSTEP_COLUMNS, counters), ""]
    PAGE.write_text("\n".join([*parts, _BANKS, *_table(_PAIR_COLUMNS, pairs), ""]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
