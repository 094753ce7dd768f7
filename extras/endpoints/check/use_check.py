"""Traces of runs with endpoints against the order of uses of a cell (sentence A14 of `docs/reference/tables.md`)."""

from collections import defaultdict, deque
from pathlib import Path

import numpy as np

from certree.models.common.errors import InputError
from certree.models.schedule.schedule_columns import Op
from certree.models.tables.tables import Tables
from certree.models.traces.lines import trace_lines
from certree.verify.tables.dependencies import Moves

_FIRST = (-1, "")  # before everything


def require_uses(trace: Path, tables: Tables) -> int:
    """How many messages of a trace come into a cell that has an earlier use. Each of them is usable behind the rows that read the
    cell in steps before it lands, and behind what lands there before it: before a copy everything, before a sum the last copy.

    It names these rows and messages from the tables alone, and counts nothing as `run/tables/earlier_uses.py` does. Raises
    InputError for a message that is usable earlier; lines must be messages of the tables (`require_messages`). Tables whose rows
    name what they wait for (`trees`) have nothing to keep, and return 0. O(lines log lines)."""
    if not tables.is_counted:
        return 0
    sent = tables.transfers()
    first = np.searchsorted(tables.node, np.arange(len(tables.topology.kind)))
    node = tables.node[sent["row"]]
    row, target = (sent["row"] - first[node]).tolist(), sent["dst"].tolist()
    places = {name: place for place, name in enumerate(zip(node.tolist(), row, target, strict=True))}
    lands, cell = Moves.of(tables).landing(tables).tolist(), tables.transfer_keys().tolist()
    read, step = tables.cells(tables.node, tables.flow, tables.src_buffer).tolist(), tables.step.tolist()
    is_copy, of_row = (sent["op"] == Op.COPY).tolist(), sent["row"].tolist()
    uses: defaultdict[tuple[int, int], list[tuple[int, int, int, str, bool]]] = defaultdict(list)
    for number, fields in trace_lines(trace, "simulate"):
        if "endpoint" in fields:
            continue
        iteration = fields.whole("iteration")
        place = places[fields.whole("node"), fields.whole("row"), fields.whole("destination")]
        one, usable = of_row[place], fields.whole("usable")
        # what lands in a step is read from that step on
        uses[read[one], iteration].append((step[one], 1, fields.whole("fired"), f"the row of line {number}", False))
        uses[cell[place], iteration].append((lands[place], 0, usable, f"line {number}", is_copy[place]))
    return sum(_after(trace, of_cell) for of_cell in uses.values())


def _after(trace: Path, uses: list[tuple[int, int, int, str, bool]]) -> int:
    """The number of messages that have an earlier use of their cell; all uses as (step, 1 for rows, cycle, words, whether it is a
    copy)."""
    latest_read, latest, latest_copy, found = _FIRST, _FIRST, _FIRST, 0
    landed: deque[tuple[int, str, bool, int]] = deque()  # in the step at hand, in any order among themselves
    for step, is_row, cycle, words, is_copy in sorted(uses):
        while landed and landed[0][3] < step:
            at, whose, copies, _ = landed.popleft()
            latest = max(latest, (at, whose))
            latest_copy = max(latest_copy, (at, whose)) if copies else latest_copy
        if is_row:
            latest_read = max(latest_read, (cycle, words))
            continue
        before = max(latest_read, latest if is_copy else latest_copy)
        found += before != _FIRST
        if cycle <= before[0]:
            raise InputError(
                f"{trace}: {words} is usable in cycle {cycle}, and must come after {before[1]}, which uses its cell in cycle "
                f"{before[0]}"
            )
        landed.append((cycle, words, is_copy, step))
    return found
