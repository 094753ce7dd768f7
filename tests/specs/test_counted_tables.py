"""Tables of `blocks` and `buffers`, model-checked: correct ones keep the promise of their collective, wrong ones break one."""

from dataclasses import replace

import numpy as np
import pytest

from certree.extras.tla.check.table_model import model_check_tables
from certree.hw.tables.lowering import lower
from certree.models.schedule.collective import Collective, CollectiveKind
from certree.models.schedule.schedule import Schedule
from certree.models.tables.table_columns import RowOp
from certree.models.tables.tables import Tables
from tests.hw.counted import blocks, exchanges
from tests.hw.trees import MULTITREE
from tests.verify.build import COPY, REDUCE, build

#: both keep their originals in buffer 1, and add what the other has there
KEEP = build(
    "full:2",
    "all-reduce",
    [(0, COPY, 0, 0, 0), (0, COPY, 0, 1, 1), (0, REDUCE, 1, 0, 1), (0, REDUCE, 1, 1, 0)],
    buffers=2,
    src_buffer=[0, 0, 1, 1],
    dst_buffer=[1, 1, 0, 0],
)


def one_shot(source: int) -> Schedule:
    """Three nodes, a round to each of the others: after the first one originals leave from buffer `source`."""
    first = [(0, COPY, 0, node, node) for node in range(3)] + [(0, REDUCE, 0, node, (node + 1) % 3) for node in range(3)]
    second = [(0, REDUCE, 1, node, (node + 2) % 3) for node in range(3)]
    into = [1] * 3 + [0] * 6
    return build("full:3", "all-reduce", first + second, buffers=2, src_buffer=[0] * 6 + [source] * 3, dst_buffer=into)


RIGHT = {
    "one shot": one_shot(source=1),
    "exchange on a square": exchanges(2, 1, 1, 0, 1),
    "exchange, iterations that overlap": exchanges(2, 1, 2, 0, 9),
    "originals in scratch buffers": KEEP,
    "all-to-all on a ring": blocks("ring:3", CollectiveKind.ALL_TO_ALL, 1, 1, 1, 1),
    "all-to-all on a line": blocks("mesh:1x3", CollectiveKind.ALL_TO_ALL, 1, 1, 1, 3),
    "gather, iterations that overlap": blocks("mesh:1x3", CollectiveKind.GATHER, 1, 3, 9, 2),
    "a stranger passes a sum on": build("mesh:1x3", Collective(CollectiveKind.ALL_REDUCE, members=(0, 2)), "0>1; 1+2; 2>1; 1>0"),
    "scatter": blocks("mesh:2x2", CollectiveKind.SCATTER, 1, 1, 1, 2),
}


@pytest.mark.parametrize("schedule", RIGHT.values(), ids=RIGHT)
def test_correct_tables_keep_the_promise(schedule: Schedule) -> None:
    result = model_check_tables(lower(schedule, 256, MULTITREE))
    assert (result.result, result.mode) == ("success", "exhaustive"), result.message


def changed(tables: Tables, column: str, row: int, value: object) -> Tables:
    values = getattr(tables, column).copy()
    values[row] = value
    return replace(tables, **{column: values})


SUMS, ORIGINALS = lower(RIGHT["exchange on a square"], 256, MULTITREE), lower(KEEP, 256, MULTITREE)
LINE = RIGHT["all-to-all on a line"]
PATHS = lower(RIGHT["all-to-all on a line"], 256, MULTITREE)
WAITS = int(np.flatnonzero(SUMS.wait > 0)[0])


@pytest.mark.parametrize(
    ("tables", "broken"),
    [
        (changed(SUMS, "wait", WAITS, 0), "EveryArrivalAwaited"),
        (changed(SUMS, "wait", WAITS, 2), "NoLateRow"),
        (changed(SUMS, "op", WAITS, RowOp.GATHER), "RightSum"),
        (replace(SUMS, slot_cycles=SUMS.slot_cycles - 1), "NoLateRow"),
        (changed(SUMS, "children", 0, [2]), "NoLateRow"),
        (changed(SUMS, "children", 0, [3]), "LinksExist"),
        (changed(SUMS, "arrival_count", 0, 3), "deadlock"),
        (changed(ORIGINALS, "dst_buffer", 0, 0), "NoLateRow"),
        (lower(one_shot(source=0), 256, MULTITREE), "ExactlyOnce"),
        (changed(PATHS, "wait", int(np.flatnonzero(PATHS.wait > 0)[0]), 0), "EveryArrivalAwaited"),
        (lower(replace(LINE, chunk_target=np.roll(LINE.chunk_target, 1)), 256, MULTITREE), "RightSum"),
    ],
)
def test_wrong_tables_break_a_property(tables: Tables, broken: str) -> None:
    result = model_check_tables(tables)
    assert broken in result.message, result.message
    assert result.result != "success"
