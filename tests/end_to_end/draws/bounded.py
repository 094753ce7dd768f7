"""Draws of schedules of every method: none is better than a bound whose class it belongs to.

Networks, machines and requests are those of `every_method`. For each valid schedule bounds are searched for its own instance, and
for equal shares, delay 1 and no routes through endpoints, of which those count whose class the schedule belongs to. Compared are
bandwidth time, steps, the time in closed form, and the cycles of simulated runs, slotted and paced.
`python -m tests.end_to_end.draws.bounded FIRST COUNT` draws COUNT networks, with seeds from FIRST on, and prints what was compared;
each violation is printed with its seed.
"""

import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from certree.api.api_errors import InvalidScheduleError
from certree.api.evidence import found_bounds, found_time_bounds
from certree.api.reports.schedule_report import closed_form
from certree.hw.engines.runs import Options
from certree.hw.run import run, tables_or_plan
from certree.models.common.errors import InputError, UndecidedError, UnsupportedError
from certree.models.schedule.symmetric.symmetric_schedule import AnySchedule
from certree.synth.bounds.find import find_bounds
from certree.synth.method import load_methods
from certree.verify.bounds.classes import EQUAL_SHARES, STATED_SHARES, restrictions
from certree.verify.bounds.instance import Instance
from certree.verify.bounds.witness import Bound
from certree.verify.certificates.quality import sustained_time
from certree.verify.checker import verify_schedule
from tests.end_to_end.draws.every_method import Case, cases

#: what bounds on each quantity bound: names and numbers
Values = Mapping[str, Sequence[tuple[str, Fraction]]]


def belongs(schedule: AnySchedule, terms: Sequence[str], *, own: bool) -> bool:
    """Whether a schedule belongs to a class. `own`: the bound is for the shares of this schedule."""
    instance = Instance.of(schedule)
    met = {
        EQUAL_SHARES: instance.shares_are_equal,
        STATED_SHARES: own,
        "no routes through endpoints": not instance.passing,
        "whole steps": schedule.slot_cycles is None,
        "one order": own,
        "sums made once": own,
    }
    return all(met[term] if term in met else schedule.delay >= int(term.removeprefix("delay ")) for term in restrictions(terms))


@dataclass(frozen=True)
class Claim:
    """A bound that was found. `value`: M/B of a full link, steps or cycles. `is_own`: it is for the shares of the schedule."""

    bound: Bound
    value: Fraction
    is_own: bool


def claims(bounds: Iterable[Bound], scale: int | Fraction, *, is_own: bool) -> list[Claim]:
    """Bounds on a network in units of 1/`scale` full links."""
    return [Claim(one, Fraction(one["value"]) * (scale if one["quantity"] == "bandwidth" else 1), is_own) for one in bounds]


def violations(case: Case, schedule: AnySchedule, compared: Counter[str]) -> Iterator[str]:
    """The bounds that a valid schedule is better than; `compared` counts bounds by quantity and kind."""
    size, machine = case.request.message_bytes, case.request.machine
    own, usual = Instance.of(schedule), Instance(schedule.topology, schedule.collective)
    found: list[Claim] = []
    for instance, bounds in ((own, found_bounds(schedule)), (usual, find_bounds(usual.topology, usual.collective))):
        of_bandwidth = [one for one in bounds if one["quantity"] == "bandwidth"]
        timed = found_time_bounds(instance, of_bandwidth, size, machine)
        found += claims([*bounds, *timed], instance.topology.scale, is_own=instance is own)
    return below(schedule, found, values(case, schedule), compared)


def values(case: Case, schedule: AnySchedule) -> Values:
    """What bounds on each quantity bound, with names: bandwidth time in M/B of a full link, steps, cycles."""
    return {
        "bandwidth": [("bandwidth time", sustained_time(schedule) * schedule.topology.scale)],
        "latency": [("steps", Fraction(schedule.steps))],
        "time": [(name, Fraction(cycles)) for name, cycles in runs(case, schedule)],
    }


def below(schedule: AnySchedule, found: Iterable[Claim], reached: Values, compared: Counter[str]) -> Iterator[str]:
    """The claims for a class that the schedule belongs to and whose bound it is better than."""
    for claim in found:
        bound = claim.bound
        if belongs(schedule, bound["class"], own=claim.is_own):
            for name, value in reached[bound["quantity"]]:
                compared[f"{name} with {bound['kind']}"] += 1
                if value < claim.value:
                    yield f"{name} {value} is below the {bound['kind']} bound {claim.value}, {', '.join(bound['class'])}"


def runs(case: Case, schedule: AnySchedule) -> Iterator[tuple[str, int]]:
    """The time in closed form and those of simulated runs, as far as there are such."""
    size, machine = case.request.message_bytes, case.request.machine
    cycles = closed_form(schedule, size, machine)["time_cycles"]
    if cycles is not None:
        yield "closed form", cycles
    for mode in ("slotted", "paced"):
        try:
            result = run(tables_or_plan(schedule, size, machine), Options(mode=mode))
        except (InputError, UnsupportedError, UndecidedError, InvalidScheduleError):
            continue
        if result.data_ok:
            yield f"{mode} run", result.cycles


def check(case: Case, compared: Counter[str]) -> list[str]:
    """The violations of one request; none where the method refuses, or makes the schedule as published and that is invalid."""
    try:
        made = load_methods()[case.method](case.request)
    except (InputError, UndecidedError):
        compared["requests refused"] += 1
        return []
    if not verify_schedule(made).valid:
        compared["schedules invalid"] += 1
        return []
    compared["schedules"] += 1
    compared[f"schedules of {case.method}"] += 1
    return list(violations(case, made, compared))


def report(first: int, count: int, check_draw: Callable[[int, Counter[str]], Iterable[str]]) -> int:
    """Run draws and print what was compared; the lines that the check of a seed gives are violations. The exit code is 1 where
    there are any."""
    compared, found = Counter[str](), 0
    for seed in range(first, first + count):
        for line in check_draw(seed, compared):
            found += 1
            sys.stdout.write(f"{line}\n")
    sys.stdout.write("".join(f"{number:>8,} {name}\n" for name, number in sorted(compared.items())))
    sys.stdout.write(f"{found:>8,} violations\n")
    return min(1, found)


def check_draw(seed: int, compared: Counter[str]) -> Iterator[str]:
    """The violations of all requests on the network of a seed, each with its request."""
    return (f"{case.text}\n  {line}" for case in cases(seed) for line in check(case, compared))


if __name__ == "__main__":
    sys.exit(report(int(sys.argv[1]), int(sys.argv[2]), check_draw))
