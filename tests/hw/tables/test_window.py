"""Windows in fine slots: the least one with which every row is read in time."""

from dataclasses import replace

import pytest

from certree.hw.formats.systemverilog.images import slot_rows
from certree.hw.formats.systemverilog.window import window_rows
from certree.hw.tables.lowering import lower
from certree.models.tables.tables import Tables
from tests.hw.made import MULTITREE, made


@pytest.fixture(scope="module")
def fine() -> Tables:
    tables = lower(made("retime", "mesh:2x2", 4096, MULTITREE, **{"from": "paced"}), 4096, MULTITREE)
    assert tables.fine_slots
    return tables


def test_rows_that_follow_each_other_slowly_need_a_window_of_one(fine: Tables) -> None:
    assert window_rows(fine, slot_rows(fine)) == 1


@pytest.mark.parametrize(("cycles", "needed"), [(3, 1), (2, 9), (1, None)])
def test_rows_one_after_the_other(fine: Tables, cycles: int, needed: int | None) -> None:
    """26 rows that wait for nothing, each due N cycles after the one before; to read one takes 3. With a window of w, row 25
    is in it 1 + 3 · (25 - w) cycles after row 0 has fired."""
    rows, count = slot_rows(fine), 26
    nothing = rows.slot[:1].repeat(count) * 0
    rows = replace(rows, node=nothing, slot=nothing + range(count), stage=nothing, wait_lines=nothing)
    assert window_rows(replace(fine, slot_cycles=cycles), rows) == needed
