"""Schedules certified against the best that exists: optimal in (chunks, steps, rounds), or with fine slots in cycles; beaten by a
better schedule; or open."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

from certree.api import parsing
from certree.api.api_errors import DisagreementError, SearchInterrupted
from certree.api.checks.checking import certify, verify
from certree.api.evidence import certified_or_fail
from certree.api.parsing import Network
from certree.api.runs.simulation import simulate
from certree.api.settings import setting
from certree.models.common.errors import CertreeError, UnsupportedError
from certree.models.common.shown import Shown
from certree.models.fine.slots import fine_times
from certree.models.machine.machine import Machine
from certree.models.schedule.collective import Collective
from certree.models.schedule.made_for import MadeFor
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.symmetric.symmetric_schedule import AnySchedule, written_out
from certree.models.tables.tables import Tables
from certree.synth.monitor import Monitor
from certree.verify.certificates.optimum import CLAIMED, require_delay_1
from certree.verify.exact.question import Point
from certree.verify.exact.refutations.refutation import Document
from certree.verify.verdict import Verdict

_CLAIMS = {"optimum", "fewest_cycles"}  # of certificates
_SEARCHED = {"method": "exact-search"}  # of schedules that a solver found


@dataclass(frozen=True, repr=False)
class Exactness(Shown):
    """Result of `certify_exact`.

    `schedule` has its certificate, `verdict` is that of `verify`. `exact`: "optimal" where the certificate proves that no schedule
    with at most as many chunks, steps and rounds per chunk has fewer of any; "beaten" where `better` is such a schedule, at
    `better_point`; "open" otherwise. `point`: (chunks, steps, rounds) of the schedule; None for one that the machine of frontiers
    cannot run. With fine slots everything is in cycles for the size and machine of the schedule, and `least` has those that every
    schedule takes, as far as proved. `cycles` and `better_cycles`: simulated, for the size and machine `used`; None where a
    schedule cannot be run, or there is none. `tried`: what was done, in words.
    """

    schedule: AnySchedule
    verdict: Verdict
    exact: str
    point: Point | None
    used: MadeFor
    better: Schedule | None = None
    better_point: Point | None = None
    cycles: int | None = None
    better_cycles: int | None = None
    least: int | None = None
    tried: tuple[str, ...] = ()

    def title(self) -> str:
        """The collective, the network, and the answer."""
        return f"{self.schedule.collective.words} on {self.schedule.topology.name}, {self.exact}"

    def facts(self) -> dict[str, object]:
        """The points and the simulated cycles."""
        known = {
            "point": self.point,
            "better": self.better_point,
            "least cycles": self.least,
            "cycles": self.cycles,
            "cycles of the better one": self.better_cycles,
        }
        return {name: value for name, value in known.items() if value is not None}

    def report(self, better: str | None) -> dict[str, Any]:
        """The keys that `certify --exact` adds to those of a schedule, or replaces; `better`: the file of the better schedule."""
        known = self.cycles is not None and self.better_cycles is not None
        certificate = {} if self.better is None else self.better.certificate or {}
        return {
            "exact": self.exact,
            "exact_point": None if self.point is None else list(self.point),
            "exact_cycles": self.least,
            "better": better,
            "better_point": None if self.better_point is None else list(self.better_point),
            "better_exact": "optimal" if _CLAIMS & set(certificate) else None,
            "simulated_cycles": self.cycles,
            "better_cycles": self.better_cycles,
            "cycles_saved": (self.cycles or 0) - (self.better_cycles or 0) if known else None,
            "tried": list(self.tried),
        }


def certify_exact(
    source: str | Path | AnySchedule | Tables,
    *,
    topology: Network | None = None,
    collective: str | Collective | None = None,
    root: int | None = None,
    route: str | None = None,
    size: int | str | None = None,
    machine: str | Path | Machine | None = None,
    effort: int = 1,
    time_limit: str | float | Fraction | None = None,
    solver: str = "auto",
    progress: Callable[[str], None] | None = None,
) -> Exactness:
    """A valid schedule of a small network with its certificate, and whether it is optimal.

    It is optimal where no schedule has fewer chunks, steps or rounds per chunk, and none of these more; with fine slots where none
    takes fewer cycles. The machine is that of frontiers: delay 1, and endpoints do not forward within a step; with fine slots that
    of the schedule.

    Parameters
    ----------
    source, topology, collective, root, route, size, machine
        As in `certify`.
    effort : int
        A deterministic search budget.
    time_limit : str, float or Fraction, optional
        Seconds, or a text such as "60s". The result then depends on the computer.
    solver : {"auto", "cadical", "cp-sat", "z3"}
        Its answer that something is impossible counts only with a proof, which CaDiCaL writes.
    progress : callable, optional
        Receives lines of progress.

    Returns
    -------
    Exactness

    Raises
    ------
    InvalidScheduleError
        For a schedule that breaks rules.
    SearchInterrupted
        On Ctrl-C, with what was found so far.

    Examples
    --------
    >>> import certree.api as ct
    >>> ct.certify_exact(ct.synthesize("ring:5", method="multitree"))
    <Exactness all-reduce on ring:5, optimal: point (5, 4, 4)>
    """
    from certree.synth.exact.optimum_search import OptimumSearch

    certified = certify(source, topology=topology, collective=collective, root=root, route=route, size=size, machine=machine)
    used, monitor = setting(certified, size, machine), parsing.monitor(time_limit, progress)
    if certified.has_fine_slots:
        return _in_cycles(certified, used, effort, monitor, parsing.solver(solver))
    try:
        schedule = CLAIMED.lowered(certified)
        require_delay_1(schedule)
        search = OptimumSearch(schedule, effort, monitor, partial(_cost, used), parsing.solver(solver))
    except UnsupportedError as error:
        return Exactness(certified, verify(certified), "open", None, used, tried=(str(error),))
    interrupted = _is_interrupted(search.run)
    found = search.result
    if found.claim is not None:
        certified = _claiming(schedule, "optimum", found.claim)
    result = Exactness(certified, verify(certified), found.status, found.question.point, used, tried=tuple(found.tried))
    if found.better is not None:
        noted = replace(found.better, made_for=certified.made_for, provenance=found.better.provenance or _SEARCHED)
        better = _claiming(noted, "optimum", found.better_claim)
        cycles, better_cycles = _cycles(certified, used), _cycles(better, used)
        result = replace(result, better=better, better_point=found.better_point, cycles=cycles, better_cycles=better_cycles)
    if interrupted:
        raise SearchInterrupted(result)
    return result


def _is_interrupted(run: Callable[[], None]) -> bool:
    """Whether Ctrl-C ends a search that is run here. It then has what was found so far."""
    try:
        run()
    except KeyboardInterrupt:
        return True
    return False


def _in_cycles(certified: AnySchedule, used: MadeFor, effort: int, monitor: Monitor, solver: str) -> Exactness:
    """The answer for a schedule with fine slots, in cycles for its size and machine."""
    from certree.synth.exact.fewest_cycles_search import FewestCyclesSearch

    schedule = written_out(certified)
    try:
        search = FewestCyclesSearch(schedule, effort, monitor, solver)
    except UnsupportedError as error:
        return Exactness(certified, verify(certified), "open", None, used, tried=(str(error),))
    interrupted = _is_interrupted(search.run)
    found, better = search.result, search.result.better
    if found.claim is not None:
        certified = _claiming(schedule, "fewest_cycles", found.claim)
    if better is not None:
        better = _claiming(better, "fewest_cycles", found.better_claim)
    result = Exactness(
        certified,
        verify(certified),
        found.status,
        None,
        used,
        better,
        cycles=fine_times(schedule).cycles,
        better_cycles=None if better is None else fine_times(better).cycles,
        least=found.least,
        tried=tuple(found.tried),
    )
    if interrupted:
        raise SearchInterrupted(result)
    return result


def _claiming(schedule: Schedule, name: str, claim: Document | None) -> Schedule:
    """The schedule with a certificate, in which the claim of that name stands with its proofs."""
    certified, verdict = certified_or_fail(schedule.with_certificate(None if claim is None else {name: claim}))
    if claim is not None and (verdict.quality is None or getattr(verdict.quality, name) is None):
        raise DisagreementError("the proof of an optimum that was found is not valid")
    assert isinstance(certified, Schedule)
    return certified


def _cost(used: MadeFor, schedule: Schedule) -> tuple[bool, int]:
    """A sort key: the fastest of better schedules comes first, and those that cannot be run come last."""
    cycles = _cycles(schedule, used)
    return cycles is None, cycles or 0


def _cycles(schedule: AnySchedule, used: MadeFor) -> int | None:
    """The number of cycles of a slotted run; None where there is none."""
    try:
        return simulate(schedule, size=used.message_bytes, machine=used.machine).cycles
    except CertreeError:
        return None
