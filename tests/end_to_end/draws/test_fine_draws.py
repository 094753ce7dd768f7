"""Draws of methods for small messages, whose tables have fine slots and several buffers, and of machines that run them: checkers,
closed form and engines agree."""

from collections import Counter
from collections.abc import Iterable
from random import Random

import pytest

import certree.api as ct
from certree.hw.engines.runs import Options
from certree.hw.run import run
from certree.hw.tables.lowering import lower
from certree.models.common.errors import InputError
from certree.models.machine.clocks import Clocks
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.symmetric.symmetric_schedule import written_out
from certree.verify.deadlock.freedom import deadlock_of_tables
from certree.verify.order.agreement import race_of_tables
from certree.verify.tables.table_checker import verify_tables
from tests.end_to_end.draws.recipe import Recipe, drawn

NETWORKS = (
    "ring:4",
    "ring:5",
    "mesh:2x2",
    "mesh:2x3",
    "mesh:3x3",
    "torus:3x3",
    "torus:2x4",
    "hypercube:3",
    "full:4",
    "fattree:2x2",
    "switch:4",
)
METHODS = ("one-shot", "two-shot", "exchange", "mixed-shot", "recursive-doubling", "single-pass")
LATEST = 3000  # cycles by which a clock starts late


def made(seed: int) -> tuple[Schedule, Recipe] | None:
    """A schedule and the machine of a recipe, None where the method makes none for it; it may be made for another machine."""
    rng, recipe = Random(seed), drawn(seed)
    method = rng.choice(METHODS)
    collective = "all-to-all" if method == "single-pass" else "all-reduce"
    machine = recipe.used_machine if rng.random() < 1 / 2 else None
    try:
        found = ct.synthesize(rng.choice(NETWORKS), collective, method=method, size=rng.choice((64, 1000, 4096)), machine=machine)
        schedule = written_out(found)
        lower(schedule, recipe.size, recipe.used_machine)
    except (InputError, ct.InvalidScheduleError):
        return None
    return schedule, recipe


def check(seed: int) -> Counter[str]:
    """Ask all that decide; AssertionError says who disagrees. Counts of what was compared."""
    given = made(seed)
    if given is None:
        return Counter()
    schedule, recipe = given
    tables, where = lower(schedule, recipe.size, recipe.used_machine), f"seed {seed}, {schedule.topology.name}"
    freedom, race = deadlock_of_tables(tables), race_of_tables(tables)
    told = {"deadlock"} if not freedom.free else set()
    told |= {"late"} if race is not None and freedom.agreement is not None else set()
    assert set(verify_tables(tables).counts) == told, where
    lanes, fast = (run(tables, Options(engine=engine, without_routers=engine == "fast")) for engine in ("lanes", "fast"))
    right = (lanes.closed_form_cycles, 0, 0, True)
    for result in (lanes, fast):
        assert (result.cycles, result.contention_cycles, result.late, result.data_ok) == right, f"{where}: {result}"
    found = Counter({"draws": 1, "several buffers": schedule.buffers > 1, "fine slots": tables.fine_slots})
    if not freedom.free:
        return found + Counter({"refused": 1})
    if freedom.agreement is None:
        routers = run(tables, Options(engine="flit"))
        assert (routers.cycles, routers.contention_cycles, routers.late, routers.data_ok) == right, f"{where}: {routers}"
        found["routers and lanes"] += 1
    elif race is None:
        rng, nodes = Random(seed), len(schedule.topology.kind)
        skew = tuple(rng.choice((0, rng.randint(0, LATEST))) for _ in range(nodes))
        late = run(tables, Options(engine="flit", clocks=Clocks(skew, Clocks.equal(nodes).drift)))
        assert late.data_ok, f"{where}: {late}"
        found["right at any timing"] += 1
    return found


def total(seeds: Iterable[int]) -> Counter[str]:
    return sum((check(seed) for seed in seeds), Counter())


@pytest.mark.parametrize("seeds", [range(20), pytest.param(range(20, 500), marks=pytest.mark.slow)])
def test_all_that_decide_agree(seeds: range) -> None:
    found = total(seeds)
    for what in ("draws", "several buffers", "fine slots", "routers and lanes"):
        assert found[what], found
