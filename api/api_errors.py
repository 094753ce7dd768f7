"""Errors in addition to those of `certree.models.common.errors`, raised where several folders work together."""

from typing import Any

from certree.models.common.errors import CertreeError
from certree.models.schedule.symmetric.symmetric_schedule import AnySchedule
from certree.verify.deadlock.freedom import Freedom
from certree.verify.verdict import Verdict, Violation


class DisagreementError(CertreeError):
    """Two parts of certree contradict each other: a method's schedule is invalid, a bound is not proved. A bug in certree."""


class InvalidScheduleError(CertreeError):
    """An invalid schedule where a valid one is needed. It has the attributes `schedule` and `verdict`."""

    exit_code = 1

    def __init__(self, schedule: AnySchedule, verdict: Verdict) -> None:
        first = verdict.violations[0]
        super().__init__(f"the schedule is invalid: {first.rule}: {first.message}")
        self.schedule, self.verdict = schedule, verdict


class DeadlockError(CertreeError):
    """Packets whose routes may deadlock in the routers of the machine. It has the attribute `freedom`, with the circle."""

    exit_code = 1

    def __init__(self, freedom: Freedom) -> None:
        super().__init__(
            f"packets may deadlock on {freedom.topology.name}, machine {freedom.machine.name}: {freedom.explanation()}"
        )
        self.freedom = freedom


class InvalidBundleError(CertreeError):
    """A bundle with evidence that is wrong, where a valid one is needed."""

    exit_code = 1


class SearchInterrupted(KeyboardInterrupt):
    """Ctrl-C ended a search; `best` is the best result so far, checked as always, or None."""

    def __init__(self, best: Any) -> None:
        super().__init__("interrupted")
        self.best = best


class InvalidProgramError(CertreeError):
    """A program of a runtime that is wrong, where a valid one is needed. It has the attribute `violation`, the first one."""

    exit_code = 1

    def __init__(self, violation: Violation) -> None:
        super().__init__(f"the program is invalid: {violation.rule}: {violation.message}")
        self.violation = violation


class ExecutionError(CertreeError):
    """An execution in which a process ended or a message did not come. It has the attribute `ranks`, the error of each. `text`:
    the message where all ranks are in one process."""

    exit_code = 1

    def __init__(self, ranks: tuple[str, ...], text: str | None = None) -> None:
        super().__init__(text or "; ".join(f"rank {rank}: {error or 'no error'}" for rank, error in enumerate(ranks)))
        self.ranks = ranks
