"""Schedules at sizes that they were not made for, and the ranges of sizes in which each one is the fastest."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from typing import Any

from certree.api.reports.text import run_times
from certree.api.reports.time_bounds import in_cycles_and_seconds, over_bounds, time_bound
from certree.models.common.errors import UnsupportedError
from certree.models.fine.timed_schedule import timed
from certree.models.machine.machine import Machine
from certree.models.schedule.symmetric.symmetric_schedule import AnySchedule
from certree.verify.bounds.instance import Instance
from certree.verify.certificates.quality import quality_of

#: crossovers next to a schedule with fine slots, which is booked anew for each size, are found to this part of the size
PRECISION = 32


@dataclass(frozen=True, eq=False)
class Found:
    """A schedule, the method that made it, and the size that it was made for."""

    schedule: AnySchedule
    method: str
    message_bytes: int

    @property
    def has_fine_slots(self) -> bool:
        """Whether its slots are for one size, so that it is booked anew for others."""
        return self.schedule.has_fine_slots

    @property
    def words(self) -> str:
        """The method, and the size that tells its schedules apart."""
        return f"{self.method} for {self.message_bytes} bytes"


@dataclass(frozen=True)
class Point:
    """A size of the grid: the fastest of the schedules, its cycles there, and the bounds on its time (`time_bound`)."""

    message_bytes: int
    found: Found
    cycles: int
    bounds: Mapping[str, Any]

    def document(self) -> dict[str, Any]:
        """The entry of the range in the table, without the file."""
        return {
            "message_bytes": self.message_bytes,
            "method": self.found.method,
            "time_cycles": self.cycles,
            **self.bounds,
            **over_bounds(self.cycles, self.bounds),
        }


@dataclass(frozen=True)
class Range:
    """Sizes in bytes, both ends included, for which one schedule is the fastest found. `is_exact`: whether the range begins at the
    very size from which on it is faster than the one before."""

    first: int
    last: int
    found: Found
    is_exact: bool


@lru_cache(maxsize=256)
def cycles_at(schedule: AnySchedule, message_bytes: int, machine: Machine) -> int | None:
    """Closed-form cycles of a schedule at a size; one with fine slots is booked anew for it. None where it has no time there."""
    try:
        return timed(schedule, message_bytes, machine).cycles
    except UnsupportedError:
        return None


def spread(points: Sequence[Point], machine: Machine) -> list[Point]:
    """The points, each with the schedule of a neighbour where that is as fast there: few schedules for many sizes. First those of
    smaller sizes are tried at larger ones, then the other way round."""
    result = list(points)
    for order in (range(1, len(result)), range(len(result) - 2, -1, -1)):
        for index in order:
            other = result[index - order.step].found
            here = result[index]
            if other is here.found:
                continue
            cycles = cycles_at(other.schedule, here.message_bytes, machine)
            if cycles is not None and cycles <= here.cycles:
                bounds = _bounds_of(other, here, machine)
                result[index] = replace(here, found=other, cycles=cycles, bounds=bounds)
    return result


def _bounds_of(found: Found, point: Point, machine: Machine) -> Mapping[str, Any]:
    """The bounds on the time of a schedule at the size of a point: those of the point, if its schedule has the same shares."""
    instances = [Instance.of(schedule) for schedule in (found.schedule, point.found.schedule)]
    if instances[0].shares == instances[1].shares:
        return point.bounds
    certificate = found.schedule.certificate
    quality = quality_of(found.schedule, [] if certificate is None else certificate["bounds"])
    return time_bound(found.schedule, quality, point.message_bytes, machine)


def ranges(points: Sequence[Point], machine: Machine, tell: Callable[[str], None]) -> list[Range]:
    """Ranges from the first point to the last."""
    result: list[Range] = []
    first, is_exact = points[0].message_bytes, True
    for here, there in pairwise(points):
        if here.found is there.found:
            continue
        begins, exact = crossover(here, there, machine)
        tell(f"from {begins} bytes on {there.found.words} is faster than {here.found.words}")
        result.append(Range(first, begins - 1, here.found, is_exact))
        first, is_exact = begins, exact
    return [*result, Range(first, points[-1].message_bytes, points[-1].found, is_exact)]


def separate(points: Sequence[Point]) -> list[Range]:
    """A range for each point, from the one before: of demands, whose schedules are for blocks of up to the sizes of the point."""
    first = [points[0].message_bytes, *(point.message_bytes + 1 for point in points[:-1])]
    return [Range(begin, point.message_bytes, point.found, True) for begin, point in zip(first, points, strict=True)]


def crossover(here: Point, there: Point, machine: Machine) -> tuple[int, bool]:
    """The least size above that of `here` at which the schedule of `there` is faster, by bisection, and whether it is exact to
    a granule; with fine slots it is to a PRECISION-th. Times are those of whole granules, and so is the size: one byte more than
    a multiple of them."""
    granule = machine.flit_bytes
    slow, fast = -(-here.message_bytes // granule), -(-there.message_bytes // granule)
    fine = here.found.has_fine_slots or there.found.has_fine_slots
    while fast - slow > (max(1, slow // PRECISION) if fine else 1):
        middle = (slow + fast) // 2
        one, other = (cycles_at(point.found.schedule, middle * granule, machine) for point in (here, there))
        if other is not None and (one is None or other < one):
            fast = middle
        else:
            slow = middle
    return (fast - 1) * granule + 1, fast - slow == 1


def entries(found: Sequence[Range], points: Sequence[Point], files: Mapping[Found, str], machine: Machine) -> list[dict[str, Any]]:
    """The ranges as a table has them: with the times at both ends, and those at the largest size of the grid in the range."""
    bounds = {point.message_bytes: point.bounds for point in points}
    rows = []
    for one in found:
        sizes = [point.message_bytes for point in points if one.first <= point.message_bytes <= one.last] or [one.last]
        size = one.found.message_bytes if one.found.message_bytes in sizes else sizes[-1]
        cycles = cycles_at(one.found.schedule, size, machine)
        bound = bounds.get(size) or in_cycles_and_seconds(None, size, machine)
        rows.append(
            {
                "from": one.first,
                "to": one.last,
                "from_is_exact": one.is_exact,
                "method": one.found.method,
                "file": files[one.found],
                "made_for_bytes": one.found.message_bytes,
                "fine_slots": one.found.has_fine_slots,
                "time_cycles": cycles,
                "time_bytes": size,
                **run_times(cycles, size, machine, one.found.schedule.collective, one.found.schedule.topology),
                **bound,
                **over_bounds(cycles, bound),
            }
        )
    return rows
