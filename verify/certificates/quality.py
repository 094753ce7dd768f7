"""The quality of a schedule: bandwidth time and steps, the best re-checked bounds, and the gaps."""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from certree.models.fine.slots import fine_times
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.symmetric.symmetric import AnySchedule
from certree.verify.bounds.cheap import cheap_bounds
from certree.verify.bounds.witness import QUANTITIES, Bound, Instance, best_bounds
from certree.verify.rules.contention import repeats_for_ever
from certree.verify.verdict import Quality


def sustained_time(schedule: AnySchedule) -> Fraction:
    """Coefficient of M/B as the message grows: the period where the schedule can repeat for ever, otherwise all rounds, divided by
    the chunks that the message is cut into (`models.schedule.collective`).

    A schedule may state a period that is free of contention only because it has too few iterations for them to collide. Longer
    messages cannot use that period, so such a schedule counts as one long schedule.
    """
    if schedule.slot_cycles is not None:
        return _fine_time(schedule if isinstance(schedule, Schedule) else schedule.timed)
    if schedule.period is not None and repeats_for_ever(schedule):
        return Fraction(schedule.period, schedule.message_chunks)
    rounds = int(schedule.rounds.sum(dtype=np.int64)) if schedule.period is None else schedule.total_steps
    return Fraction(rounds, schedule.message_chunks * schedule.repeats)


def _fine_time(schedule: Schedule) -> Fraction:
    """With fine slots: the cycles of a period, or of a run that does not repeat, over those that the payload of an iteration takes
    on a unit link."""
    times = fine_times(schedule)
    cycles = int(times.landing.max(initial=1)) if times.period is None else times.period
    return Fraction(cycles, schedule.message_chunks * (times.chunk_bytes // times.machine.flit_bytes))


def quality_of(schedule: AnySchedule, bounds: Sequence[Bound] = ()) -> Quality:
    """The quality of a valid schedule by the given bounds, re-checked (WitnessError), and the cheap ones."""
    instance = Instance.of(schedule)
    best = best_bounds(instance, [*bounds, *cheap_bounds(instance)])
    values = {"bandwidth": sustained_time(schedule), "latency": Fraction(schedule.steps)}
    return Quality(
        bandwidth_time=values["bandwidth"],
        bandwidth_bound=best["bandwidth"][0],
        latency_steps=schedule.steps,
        latency_bound=int(best["latency"][0]),
        optimal_in=tuple(name for name in QUANTITIES if values[name] == best[name][0]),
        gap={name: values[name] / best[name][0] - 1 for name in QUANTITIES},
        witnesses=tuple(best[name][1] for name in QUANTITIES),
        scale=schedule.topology.scale,
    )
