"""Draws of networks, schedules, machines, sizes and clocks: whatever decides about them must agree.

Asked are the checker of schedules, that of tables, the freedom of deadlock, the closed form, the engines `lanes`, `fast` and
`flit`, and where a draw is small enough TLC with the TLA+ model of the tables. `python -m tests.end_to_end.draws.differential FIRST
COUNT EVERY` runs that many draws and prints what was compared; TLC is asked about every EVERY-th draw, 0 for none, several in one
process of Java. A draw that fails is made smaller as long as it fails, and printed as an entry for `ONCE_WRONG` in
`test_differential.py`.
"""

import sys
import time
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction

from certree.api.reports.run_report import holds
from certree.extras.tla.check.table_model import extent_of_success, model_check_tables
from certree.extras.tla.check.tlc import Result
from certree.hw.engines.runs import Options, Run
from certree.hw.engines.schedule_run import SimulatedSchedule
from certree.hw.run import run
from certree.hw.tables.lowering import lower
from certree.models.common.errors import UnsupportedError
from certree.models.schedule.timing import schedule_cycles, slotted
from certree.models.tables.tables import Tables
from certree.verify.checker import verify_schedule
from certree.verify.deadlock.freedom import Freedom, deadlock_of_schedule
from certree.verify.order.agreement import race_of_tables
from certree.verify.order.races import race_of
from certree.verify.tables.table_checker import verify_tables
from tests.end_to_end.draws.recipe import Recipe, drawn
from tests.end_to_end.draws.smaller import smallest
from tests.end_to_end.draws.together import model_check_together

MOST_MODEL_CHECKED = 5  # endpoints
MOST_FLIT_HOPS = 400_000
TOGETHER = 20  # models in a process of Java


def check_draw(recipe: Recipe, *, tlc: bool = False) -> Counter[str]:
    """Ask everything about a draw and compare; AssertionError says who disagrees. Counts of what was compared."""
    schedule, machine, size, where = recipe.schedule, recipe.used_machine, recipe.size, recipe.text
    found = Counter({"draws": 1})
    assert verify_schedule(schedule).valid, f"{where}: the checker refuses what a method made"
    freedom = deadlock_of_schedule(schedule, machine, size)
    assert not freedom.free or freedom.fault() is None, f"{where}: {freedom.fault()}"
    plan, timing = slotted(schedule, size, machine)
    expected = schedule_cycles(plan, timing, machine)
    try:
        source: Tables | SimulatedSchedule = lower(schedule, size, machine)
    except UnsupportedError:
        source = SimulatedSchedule.of(schedule, size, machine)
        found["without tables"] += 1
    race = race_of_tables(source) if isinstance(source, Tables) else race_of(source.schedule)
    assert (race is None) == (race_of(plan) is None), f"{where}: tables and schedule disagree on what relies on slots"
    found["relies on slots" if race else "any timing"] += 1
    if isinstance(source, Tables):
        verdict = verify_tables(source)
        broken = {"deadlock": not freedom.free, "late": race is not None and freedom.agreement is not None}
        refused = {rule for rule, is_broken in broken.items() if is_broken}
        assert set(verdict.counts) == refused, f"{where}: tables are refused: {set(verdict.counts)}, expected {refused}"
        found["tables checked"] += 1
        found["tables refused: late"] += "late" in refused
    try:
        on_lanes = run(source, Options(engine="lanes"))
    except UnsupportedError as error:
        found[f"not simulated: {str(error).split(':')[0][:40]}"] += 1
        return found
    right = (expected, expected, True, 0, 0)
    assert _facts(on_lanes) == right, f"{where}: lanes {_facts(on_lanes)}, expected {right}"
    found["lanes and closed form"] += 1
    fast = run(source, Options(engine="fast", without_routers=True))
    assert _facts(fast) == right, f"{where}: fast {_facts(fast)}, lanes {right}"
    found["fast engine and lanes"] += 1
    late = run(source, Options(engine="lanes", clocks=recipe.clocks))
    if race is None:
        assert late.data_ok, f"{where}: wrong data with skew"
    found[f"lanes with skew, {'any timing' if race is None else 'slots'}: data " + ("right" if late.data_ok else "wrong")] += 1
    if on_lanes.flit_hops <= MOST_FLIT_HOPS:
        found += _through_routers(source, recipe, freedom, race is None, on_lanes.cycles, where)
    if tlc and isinstance(source, Tables) and is_for_tlc(source, freedom):
        checked = model_check_tables(source, 120.0)
        assert checked.result in (Result.SUCCESS, Result.UNKNOWN), f"{where}: TLC: {checked.message}"
        found[f"TLC: {checked.result}"] += 1
    return found


def is_for_tlc(tables: Tables, freedom: Freedom) -> bool:
    """Whether TLC is asked about tables: those of few endpoints and of trees, free of deadlock."""
    return not tables.is_counted and len(tables.topology.endpoints) <= MOST_MODEL_CHECKED and freedom.free


def tables_for_tlc(recipe: Recipe) -> Tables | None:
    """The tables of a draw, if TLC is asked about them."""
    if len(recipe.topology.endpoints) > MOST_MODEL_CHECKED:
        return None
    try:
        tables = lower(recipe.schedule, recipe.size, recipe.used_machine)
    except UnsupportedError:
        return None
    return tables if is_for_tlc(tables, deadlock_of_schedule(recipe.schedule, recipe.used_machine, recipe.size)) else None


def _facts(result: Run) -> tuple[int, int | None, bool, int, int]:
    return result.cycles, result.closed_form_cycles, result.data_ok, result.late, result.contention_cycles


def _through_routers(
    source: Tables | SimulatedSchedule, recipe: Recipe, freedom: Freedom, any_time: bool, cycles: int, where: str
) -> Counter[str]:
    """Runs through routers, with equal clocks and with skew: free ones end, those that are accepted with the right data, and where
    routers are transparent in as many cycles as on lanes."""
    found: Counter[str] = Counter()
    free, agrees = freedom.free, bool(freedom.agrees)
    for clocks in (None, recipe.clocks):
        try:
            result = run(source, Options(engine="flit", clocks=clocks))
        except UnsupportedError:
            return Counter({"not through routers": 1})
        if free:
            assert not result.deadlock, f"{where}: free of deadlock, but {result.deadlock}"
            accepted = any_time or (agrees and clocks is None)
            assert result.data_ok or not accepted, f"{where}: wrong data through routers"
            if accepted and clocks is None:
                assert holds(run(source)), f"{where}: accepted, but simulate fails"
                found["accepted, and simulate passes"] += 1
            data = "right" if result.data_ok else "wrong"
            found[f"through routers, free, {'accepted' if accepted else 'late'}: data {data}"] += 1
        else:
            found["through routers, refused: " + ("deadlock" if result.deadlock else "ends")] += 1
        if agrees and free and clocks is None:
            assert result.cycles == cycles, f"{where}: transparent routers take {result.cycles} cycles, lanes {cycles}"
            found["transparent routers and lanes"] += 1
    return found


def failure(recipe: Recipe, *, tlc: bool = False) -> str | None:
    """What goes wrong with a draw, by the name of the error and its text; None where nothing does."""
    try:
        check_draw(recipe, tlc=tlc)
    except Exception as error:  # any failure of a draw is a finding
        return f"{type(error).__name__}: {error}"
    return None


def main(first: int, count: int, every: int) -> None:
    """Run draws; those that fail are listed, and made smaller."""
    begin, total = time.monotonic(), Counter[str]()
    waiting: list[tuple[int, Tables]] = []
    for seed in range(first, first + count):
        recipe = drawn(seed)
        wrong = failure_counted(recipe, total)
        if wrong is not None:
            total += told(seed, recipe, wrong, tlc=False)
        elif every and seed % every == 0 and (tables := tables_for_tlc(recipe)):
            waiting.append((seed, tables))
        if len(waiting) == TOGETHER or (waiting and seed == first + count - 1):
            total += of_tlc(waiting)
            waiting = []
    lines = [f"{number:>8,} {name}" for name, number in sorted(total.items())]
    sys.stdout.write("\n".join([*lines, f"{Fraction(round((time.monotonic() - begin) * 10), 10)} s\n"]))


def failure_counted(recipe: Recipe, total: Counter[str]) -> str | None:
    """The failure that `failure` finds, without TLC; what was compared is added to the counts."""
    try:
        total += check_draw(recipe)
    except Exception as error:  # any failure of a draw is a finding
        return f"{type(error).__name__}: {error}"
    return None


def of_tlc(waiting: Sequence[tuple[int, Tables]]) -> Counter[str]:
    """TLC's answers about the tables of some draws, in one process; a wrong one is told."""
    small = [(seed, tables) for seed, tables in waiting if extent_of_success(tables)[0] == "exhaustive"]
    found = Counter({"TLC: too large for all states": len(waiting) - len(small)})
    for (seed, _), (result, _) in zip(small, model_check_together([tables for _, tables in small]), strict=True):
        found[f"TLC: {result}"] += 1
        if result is not Result.SUCCESS:
            found += told(seed, drawn(seed), f"TLC: {result}", tlc=True)
    return found


def told(seed: int, recipe: Recipe, wrong: str, *, tlc: bool) -> Counter[str]:
    """Print a draw that fails and the smallest that it can be made; counts the failure."""
    least = smallest(recipe, lambda other: failure(other, tlc=tlc) is not None)
    sys.stdout.write(f"seed {seed}: {wrong}\n  made smaller: {failure(least, tlc=tlc)}\n{least.entry()}\n")
    return Counter({"failures": 1})


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 0)
