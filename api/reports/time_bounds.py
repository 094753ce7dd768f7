"""Time bounds in reports, in cycles and in seconds, and times divided by them."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from certree.api.evidence import found_time_bounds
from certree.api.reports.text import clock_times
from certree.models.machine.machine import Machine
from certree.models.machine.speeds import contradiction
from certree.models.schedule.made_for import MadeFor
from certree.models.schedule.symmetric.symmetric_schedule import AnySchedule
from certree.verify.bounds.classes import is_shared
from certree.verify.bounds.instance import Instance
from certree.verify.bounds.timed import best_general_time
from certree.verify.verdict import Quality

TIME_BOUND, ANY_SHARES = "time_bound_cycles", "_any_shares"  # a key, and the end of those of bounds for any shares


def in_cycles_and_seconds(cycles: int | None, message_bytes: int, machine: Machine) -> dict[str, Any]:
    """`time_bound_cycles`, and `time_bound_seconds` as an exact text; both None where there is no bound."""
    return {TIME_BOUND: cycles, "time_bound_seconds": clock_times(cycles, message_bytes, machine)["seconds"]}


def time_bound(schedule: AnySchedule, quality: Quality | None, message_bytes: int, machine: Machine) -> dict[str, Any]:
    """`time_bound_cycles` that every run of a schedule with the same shares takes, as the certificate proves them for this message
    and machine or by a search, and `time_bound_seconds`; for an all-gather or reduce-scatter also `time_bound_cycles_any_shares`.
    None for an invalid schedule, and where the network contradicts the machine."""
    own, any_shares = _cycles(schedule, quality, message_bytes, machine)
    found = in_cycles_and_seconds(own, message_bytes, machine)
    return found | {TIME_BOUND + ANY_SHARES: any_shares} if is_shared(schedule) else found


def _cycles(schedule: AnySchedule, quality: Quality | None, message_bytes: int, machine: Machine) -> tuple[int | None, int | None]:
    """The bound for the shares of the schedule, and that for any shares."""
    if quality is None or contradiction(schedule.topology, machine) is not None:
        return None, None
    proved = quality.time
    if proved is not None and proved.made_for == MadeFor(message_bytes, machine) and (proved.any_shares or not is_shared(schedule)):
        return proved.cycles, proved.any_shares
    instance = Instance.of(schedule)
    found = found_time_bounds(instance, quality.bandwidth_witnesses, message_bytes, machine)
    return int(found[0]["value"]), best_general_time(instance, found)


def over_bounds(cycles: int | None, bounds: Mapping[str, Any]) -> dict[str, str | None]:
    """A time divided by each of the bounds of `time_bound`, exact; None without the two."""
    found = {"time_over_bound" + end: bounds[TIME_BOUND + end] for end in ("", ANY_SHARES) if TIME_BOUND + end in bounds}
    return {name: None if cycles is None or bound is None else str(Fraction(cycles, bound)) for name, bound in found.items()}
