"""`compare` and `tune` of a demand: its own size, the methods that take it, with bounds and ratios; a schedule for each size."""

from fractions import Fraction

import pytest

import certree.api as ct
from certree.models.schedule.schedule import Schedule
from certree.synth.method import Tier, load_methods
from tests.synth.flows.demands import zipf


@pytest.fixture(scope="module")
def skewed():
    demand = ct.demand(zipf(4, 0, 1 << 14, hot=True), "switch:4")
    return ct.collective("alltoallv", demand=demand)


def test_compared(skewed) -> None:
    cells = ct.compare("switch:4", skewed).cells
    known = load_methods()
    assert [cell["method"] for cell in cells] == [*(name for name in known if known[name].takes_demand), "direct:steps=by-distance"]
    best = next(cell for cell in cells if cell["method"] == "auto")
    for cell in cells:
        assert cell["message_bytes"] == skewed.demand.granules * 16
        assert cell["valid"]
        assert cell["data_ok"]
        assert (cell["simulated_cycles"], cell["contention_cycles"], cell["late"]) == (cell["time_cycles"], 0, 0)
        assert cell["time_bound_cycles"] == best["time_bound_cycles"] <= best["time_cycles"] <= cell["time_cycles"]
        assert Fraction(cell["time_over_bound"]) == Fraction(cell["time_cycles"], cell["time_bound_cycles"])


def test_compared_on_workers(skewed) -> None:
    methods = ["direct", "flows"]
    assert ct.compare("switch:4", skewed, methods=methods, workers=2).cells == ct.compare("switch:4", skewed, methods=methods).cells


def test_another_size(skewed) -> None:
    with pytest.raises(ct.InputError, match=r"the demand is for \d+ bytes on machine multitree, and has no other size"):
        ct.compare("switch:4", skewed, sizes=["1KiB"])


def test_members(tmp_path) -> None:
    """Methods that take members run for the endpoints that take part, with their bounds; and there is a schedule for each size."""
    some = ct.collective("all-reduce", members=(0, 1, 3, 4))
    cells = {cell["method"]: cell for cell in ct.compare("mesh:2x3", some, sizes=["4KiB"]).cells}
    assert set(cells) == {name for name in load_methods() if load_methods()[name].takes_members}
    timed = {name: cell for name, cell in cells.items() if cell.get("time_cycles")}
    assert len(timed) >= 5
    for name, cell in timed.items():
        assert (cell["valid"], cell["data_ok"], cell["simulated_cycles"]) == (True, True, cell["time_cycles"])
        assert cell["time_bound_cycles"] <= timed["auto"]["time_cycles"]
        is_compared = load_methods()[name].tier is not Tier.ORDERS  # auto tries those only where an order is asked for
        assert not is_compared or timed["auto"]["time_cycles"] <= cell["time_cycles"]
    tuned = ct.tune("mesh:2x3", tmp_path / "tuned", some, smallest="4KiB", largest="64KiB", factor=16, workers=1)
    made = [ct.load(tuned.folder / row["file"]) for row in tuned.ranges]
    assert [schedule.collective.members for schedule in made] == [(0, 1, 3, 4)] * len(made)


def test_tuned(skewed, tmp_path) -> None:
    found = ct.tune("switch:4", tmp_path / "tuned", skewed, smallest="1KiB", largest="256KiB", factor=16, workers=1)
    assert found.table["granules"] == skewed.demand.granules
    before = None
    for row in found.ranges:
        made = ct.load(found.folder / row["file"])
        assert isinstance(made, Schedule)
        assert made.collective.demand is not None
        assert ct.verify(made).valid
        assert row["to"] == made.collective.demand.granules * 16 == row["time_bytes"]
        assert before is None or row["from"] == before["to"] + 1
        assert Fraction(row["time_over_bound"]) >= 1
        before = row
    assert len(found.ranges) == 3


def test_scaled_demands_grow(skewed) -> None:
    last = None
    for granules in (1, 7, 100, 5000, 20000):
        demand = skewed.demand.scaled(granules)
        sizes = [block[2] for block in demand.blocks]
        assert granules <= demand.granules < granules + len(sizes)
        assert last is None or all(small <= large for small, large in zip(last, sizes, strict=True))
        last = sizes
