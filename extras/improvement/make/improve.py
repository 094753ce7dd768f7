"""Improvement of schedules, each verified and certified before it is returned."""

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

from certree.api import parsing
from certree.api.api_errors import InvalidScheduleError, SearchInterrupted
from certree.api.evidence import certified_or_fail
from certree.api.inputs import schedule_of
from certree.api.parsing import Network
from certree.api.settings import setting
from certree.api.synthesis import require_one_budget
from certree.extras.improvement.make.improvement import improve as improved
from certree.models.common.errors import UnsupportedError
from certree.models.machine.machine import Machine
from certree.models.schedule.collective import Collective
from certree.models.schedule.symmetric.symmetric_schedule import AnySchedule
from certree.synth.deadlock_free_routes import with_channels
from certree.synth.method import Request
from certree.verify.checker import verify_schedule


def improve(
    source: str | Path | AnySchedule,
    *,
    topology: Network | None = None,
    collective: str | Collective | None = None,
    root: int | None = None,
    route: str | None = None,
    size: int | str | None = None,
    machine: str | Path | Machine | None = None,
    effort: int | None = None,
    time_limit: str | float | Fraction | None = None,
    seed: int = 0,
    progress: Callable[[str], None] | None = None,
) -> AnySchedule:
    """A schedule that takes fewer cycles than a valid one at that size, with other slots, orders, trees, delays or repeats.

    Parameters
    ----------
    source : str, path or schedule
        A valid schedule.
    topology, collective, root, route
        As in `verify`.
    size, machine
        By default what the schedule was made for, or 64 MiB and multitree where that is not known.
    effort, time_limit, seed, progress
        As in `synthesize`.

    Returns
    -------
    Schedule or SymmetricSchedule
        Verified and certified, made for that size and machine; where nothing faster is found, it has the transfers of the input.

    Raises
    ------
    InvalidScheduleError
        For a schedule that breaks rules.
    SearchInterrupted
        With the best schedule so far, on Ctrl-C.

    Examples
    --------
    >>> import certree.api as ct
    >>> slow = ct.synthesize("ring:4", method="ring", size="1KiB")
    >>> ct.improve(slow).steps < slow.steps
    True
    """
    require_one_budget(effort, time_limit)
    given = schedule_of(source, topology, collective, root, route)
    verdict = verify_schedule(given)
    if not verdict.valid:
        raise InvalidScheduleError(given, verdict)
    monitor = parsing.monitor(time_limit, progress)
    used = setting(given, size, machine)
    request = Request(
        given.topology, given.collective, used.message_bytes, used.machine, effort=effort or 1, seed=seed, monitor=monitor
    )
    interrupted, best = False, given
    try:
        best = improved(given, request)
    except UnsupportedError as error:
        monitor.report(f"kept as it is: {error}")
    except KeyboardInterrupt:
        interrupted, best = True, monitor.best or given
    certified, _ = certified_or_fail(request.remember(with_channels(best, used.machine)), search=not interrupted)
    if interrupted:
        raise SearchInterrupted(certified)
    return certified
