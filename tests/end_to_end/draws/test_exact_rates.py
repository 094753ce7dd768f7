"""Draws: no schedule in any unit is better than a bound of the network that was described; one that is would be found."""

from collections import Counter
from fractions import Fraction
from pathlib import Path

import pytest

from certree.models.network.topology import Topology
from tests.end_to_end.draws.exact_rates import FORMS, Draw, check_all, check_draw, drawn

DRAWS = 100
FIRST = 10  # draws of the first test, which is quick; the others have 30 each
PARTS = (range(FIRST), *(range(at, at + 30) for at in range(FIRST, DRAWS, 30)))
MUTANTS = range(DRAWS, DRAWS + 20)


@pytest.mark.parametrize("seeds", PARTS, ids=[str(seeds.start) for seeds in PARTS])
def test_no_schedule_is_below_a_bound(seeds: range) -> None:
    compared: Counter[str] = Counter()
    wrong = [line for seed in seeds for line in check_draw(seed, compared)]
    assert not wrong, "\n".join(wrong)
    assert compared["schedules"] >= len(seeds) * 4 // 5, compared
    for what in ("closed form with load", "bandwidth time with cut", "slotted run with flow", "paced run with flow"):
        assert compared[what] >= len(seeds) // 10, compared
    for what in ("in another unit than their network", "with lanes of a fraction"):
        assert compared[f"schedules {what}"] >= len(seeds) // 10, compared
    read = ("schedule files", "tables", "bounds of verify and bound the same")
    assert min(compared[what] for what in read) >= len(seeds) // 4, compared
    met = [form for form in FORMS if compared[f"schedules on a network {form}"]]
    assert len(met) >= min(len(FORMS), len(seeds) // 4), compared


def test_bounds_of_rates_that_are_rounded_down_are_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Where bounds are computed with capacities in whole units, some schedule in another unit is below each kind of bound."""
    draws: list[tuple[Draw, Path]] = []
    for seed in MUTANTS:
        folder = tmp_path / str(seed)
        folder.mkdir()
        draws.append((drawn(seed, folder), folder))
    for name in ("exact", "roomy"):
        monkeypatch.setattr(Topology, name, property(lambda topology: topology))
    found = [line for draw, folder in draws for line in check_all(draw, folder, Counter())]
    for what in ("bandwidth time", "closed form", "slotted run"):
        assert any(f"  {what}" in line and "is below" in line for line in found), found
    assert any("verify prints" in line for line in found), found


def test_draws_differ_in_what_bounds_may_overlook(tmp_path: Path) -> None:
    met: Counter[str] = Counter()
    for seed in range(60):
        folder = tmp_path / str(seed)
        folder.mkdir()
        network = drawn(seed, folder).topology
        met["parts of a unit"] += network.rounded is not None
        met["whole units"] += network.rounded is None
        met["lanes of a fraction"] += isinstance(network.scale, Fraction)
        met["one direction"] += not network.is_full_duplex
        met["parallel links"] += len(network.pair_capacity) < len(network.src)
        met["several lanes"] += int(network.capacity.max()) > 1
        met["switches"] += not network.is_direct
        met["no bandwidth"] += network.bandwidth is None
    assert len(met) == 8
    assert min(met.values()) >= 3, met
