"""Fine slots that repeat: iterations that begin sooner after each other, of this and of shorter iterations."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from certree.extras.improvement.make.orders import reordered
from certree.models.fine.slots import FineTimes, fine_times
from certree.models.schedule.made_for import MadeFor
from certree.models.schedule.schedule import Schedule
from certree.synth.method import Request
from certree.synth.monitor import Monitor
from certree.verify.checker import verify_schedule

TRIED = 64  # periods that the checker looks at in one unit of effort, for each iteration


def closer(source: Schedule, request: Request, origin: Mapping[str, Any]) -> Iterator[tuple[Schedule, str]]:
    """A schedule with fine slots that repeats, with the shortest period found for its own iteration, and for those that `reordered`
    finds of one. A period is long enough for what the fullest link carries, and right by the checker. O(periods · check).
    """
    for one, what in [(source, "its iteration"), *_iterations(source, request, origin)]:
        repeated = replace(one, period=source.period, repeats=source.repeats, made_for=source.made_for, certificate=None)
        found = _shortest(repeated, request)
        if found is not None:
            provenance = request.provenance("improve", {}, moves="period", **origin)
            yield replace(found, provenance=provenance), f"{what}, one every {found.period} slots"


def _iterations(source: Schedule, request: Request, origin: Mapping[str, Any]) -> Iterator[tuple[Schedule, str]]:
    """One iteration in other orders: with chunks as long as there."""
    size = fine_times(source).chunk_bytes * source.message_chunks
    single = replace(source, period=None, repeats=1, made_for=MadeFor(size, request.machine), certificate=None)
    yield from reordered(single, replace(request, message_bytes=size, monitor=Monitor(request.monitor.deadline)), origin)


def _shortest(schedule: Schedule, request: Request) -> Schedule | None:
    """The schedule with the least period that is tried and right; None where not even its own is."""
    period, times, left = schedule.period or schedule.steps, fine_times(schedule), TRIED * request.effort
    for candidate in range(_least_period(times), period + 1):
        if request.monitor.expired or not left:
            break
        if _links_are_free(times, candidate * times.slot):
            left -= 1
            made = replace(schedule, period=candidate)
            if verify_schedule(made).valid:
                return made
    return None


def _links_are_free(times: FineTimes, period: int) -> bool:
    """Whether messages of all iterations, one every `period` cycles, find a lane on every pair of nodes. O(uses log uses)."""
    uses, capacity = times.reservations, times.schedule.topology.pair_capacity
    length = times.length[uses.row]
    begin = uses.entry % period
    wraps = begin + length > period
    pair = np.concatenate((uses.pair, uses.pair[wraps]))
    begins = np.concatenate((begin, begin[wraps] - period))
    ends = begins + np.concatenate((length, length[wraps]))
    at, change = np.concatenate((begins, ends)), np.repeat([1, -1], len(pair))
    order = np.lexsort((change, at, np.tile(pair, 2)))
    busy = np.cumsum(change[order])
    return bool((length <= period).all() and (busy <= capacity[np.tile(pair, 2)[order]]).all())


def _least_period(times: FineTimes) -> int:
    """The slots that the fullest link, and the fullest reduction unit, need for an iteration."""
    uses, capacity = times.reservations, times.schedule.topology.pair_capacity
    load = np.zeros(len(capacity), np.int64)
    np.add.at(load, uses.pair, times.length[uses.row])
    cycles = max(int((-(-load // capacity)).max(initial=1)), int(times.work.max(initial=1)))
    return max(1, -(-cycles // times.slot))
