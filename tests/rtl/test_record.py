"""The page of co-simulations: each of its cases has as many events as its golden trace, and no differences."""

from certree.hw.golden import golden_trace
from tests.rtl.cases import CASES
from tests.rtl.record import PAGE


def test_events_are_those_of_the_golden_traces() -> None:
    lines = [line.strip("| ").split(" | ") for line in PAGE.read_text().splitlines() if line.startswith("| ")][2:]
    rows = {cells[0].rstrip("*"): cells for cells in lines}
    assert {cells[10] for cells in rows.values()} == {"0"}
    assert set(rows) <= set(CASES)
    small = [name for name in rows if "8x8" not in name]
    assert {name: int(rows[name][6].replace(",", "")) for name in small} == {
        name: golden_trace(CASES[name]()).count(b"\n") - 1 for name in small
    }
