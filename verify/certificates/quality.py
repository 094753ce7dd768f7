"""The quality of a schedule: bandwidth time and steps, the best re-checked bounds, and the gaps."""

from collections.abc import Sequence
from fractions import Fraction

from certree.models.fine.slots import fine_times
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.symmetric.symmetric_schedule import AnySchedule
from certree.verify.bounds.cheap import cheap_bounds
from certree.verify.bounds.classes import OF_SUMS, is_general, is_shared
from certree.verify.bounds.instance import Instance
from certree.verify.bounds.witness import QUANTITIES, Bound, best_of, check_bound, with_class
from certree.verify.rules.contention import repeats_for_ever
from certree.verify.verdict import Quality


def sustained_time(schedule: AnySchedule) -> Fraction:
    """The bandwidth time, a coefficient of M/B as the message grows: the period where the schedule can repeat for ever, otherwise
    all rounds, divided by the chunks that the message is cut into (`models.schedule.collective`).

    A schedule may state a period that is free of contention only because it has too few iterations for them to collide. Longer
    messages cannot use that period, so such a schedule counts as one long schedule.
    """
    if schedule.has_fine_slots:
        return _fine_time(schedule if isinstance(schedule, Schedule) else schedule.timed)
    if schedule.period is not None and repeats_for_ever(schedule):
        return Fraction(schedule.period, schedule.message_chunks)
    return Fraction(schedule.run_rounds, schedule.message_chunks * schedule.repeats)


def _fine_time(schedule: Schedule) -> Fraction:
    """The bandwidth time with fine slots: the cycles of a period, or of a run that does not repeat, over those that the payload of
    an iteration takes on a unit link."""
    times = fine_times(schedule)
    cycles = times.period or int(times.landing.max(initial=1))
    flits = schedule.message_chunks * (times.chunk_bytes // times.machine.flit_bytes)
    return Fraction(cycles, flits) / schedule.topology.scale


def quality_of(schedule: AnySchedule, bounds: Sequence[Bound] = (), *, counts_steps: bool | None = None) -> Quality:
    """The quality of a valid schedule by the given bounds, re-checked (WitnessError), and the cheap ones.

    `counts_steps`: whether its steps are compared with a bound; by default they are, except fine slots, which are not whole.
    """
    instance = Instance.of(schedule)
    checked = [(check_bound(instance, bound), bound) for bound in [*bounds, *cheap_bounds(instance)]]
    best, values = best_of(checked), {"bandwidth": sustained_time(schedule) * schedule.topology.scale / instance.topology.scale}
    if counts_steps or (counts_steps is None and not schedule.has_fine_slots):
        values["latency"] = Fraction(schedule.steps)
    general = best_of([one for one in checked if is_general(instance, one[1])]) if is_shared(instance) else {}
    return Quality(
        bandwidth_time=values["bandwidth"],
        bandwidth_bound=best["bandwidth"][0],
        latency_steps=schedule.steps if "latency" in values else None,
        latency_bound=int(best["latency"][0]) if "latency" in values else None,
        optimal_in=tuple(name for name in values if values[name] == best[name][0]),
        gap={name: values[name] / best[name][0] - 1 if name in values else None for name in QUANTITIES},
        witnesses=tuple(with_class(instance, best[name][1]) for name in values),
        any_shares=with_class(instance, general["bandwidth"][1]) if general else None,
        any_sums=best_of([one for one in checked if one[1]["kind"] not in OF_SUMS])["bandwidth"][0],
        scale=int(instance.topology.scale),
    )
