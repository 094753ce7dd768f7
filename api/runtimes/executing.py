"""Execution of schedules by real processes with real data."""

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from certree.api import parsing
from certree.api.errors import ExecutionError, InvalidScheduleError
from certree.api.inputs import schedule_of
from certree.api.settings import message_size
from certree.hw.runtimes.ranks.duties import duties_of
from certree.hw.runtimes.ranks.local import MAX_RANKS, Tamper, execute_locally
from certree.hw.runtimes.ranks.numbers import OPERATIONS, TYPES
from certree.hw.runtimes.ranks.reference import digest, error, results
from certree.models.common.errors import InputError, unknown_name
from certree.models.schedule.collective import CollectiveKind
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.symmetric import AnySchedule, written_out
from certree.verify.checker import verify_schedule

DEFAULT_SECONDS = "60s"
MAX_ITERATIONS = 10_000
_TWICE = (CollectiveKind.ALL_REDUCE,)
_WHOLE = (CollectiveKind.BROADCAST, CollectiveKind.REDUCE)


@dataclass(frozen=True)
class Executed:
    """An execution: `seconds` of every iteration (of the slowest rank), and whether the results are right.

    `exact`: every result has the bits of the reference, which adds in the order of the schedule. `error`: the largest difference
    from exact arithmetic, over the bound for any order of additions. `bus_bandwidth`: bytes per second over the busiest port of a
    rank in the fastest iteration, as the tests of NCCL count them.
    """

    schedule: Schedule
    message_bytes: int
    type: str
    operation: str
    seconds: tuple[float, ...]
    exact: bool
    error: float

    @property
    def right(self) -> bool:
        """Whether the results are right."""
        return self.exact and self.error <= 1

    @property
    def bus_bandwidth(self) -> float:
        """Bytes per second."""
        ranks, kind = len(self.schedule.topology.endpoints), self.schedule.collective.kind
        share = Fraction(1) if kind in _WHOLE else Fraction(ranks - 1, ranks) * (2 if kind in _TWICE else 1)
        return float(share) * self.message_bytes / min(self.seconds)


def execute(
    source: str | Path | AnySchedule,
    *,
    local: int | None = None,
    size: int | str | None = None,
    type: str = "float32",
    operation: str = "sum",
    iterations: int = 5,
    time_limit: str | float | Fraction = DEFAULT_SECONDS,
    tamper: Tamper | None = None,
) -> Executed:
    """Execute a schedule with one process for each endpoint on this computer, every transfer a message through a socket.

    `local`: the number of processes, by default the endpoints; it must be theirs. `size`: of the message, by default what the
    schedule was made for; chunks are padded to whole elements. `type`: float32, float16, bfloat16 or int32; `operation`: sum, max
    or min, where the collective reduces. One iteration before the `iterations` warms up. `tamper`: loses messages, for tests.

    Raises InvalidScheduleError for a schedule that breaks rules, UnsupportedError for one with reducing switches or fine slots,
    ExecutionError, after at most the time limit and a few seconds, where a process ended or a message did not come: it has the
    error of every rank. Cost: all messages, `iterations` + 1 times; the memory of all buffers.

    >>> import certree.api as ct
    >>> ct.execute(ct.synthesize("ring:4", size="64KiB"), size="64KiB", type="bfloat16").exact
    True
    """
    for kind, name, known in (("type", type, TYPES), ("operation", operation, OPERATIONS)):
        if name not in known:
            raise InputError(unknown_name(kind, name, known))
    if not 1 <= iterations <= MAX_ITERATIONS:
        raise InputError(f"{iterations} iterations; allowed: 1 to {MAX_ITERATIONS}")
    schedule = written_out(schedule_of(source))
    ranks = len(schedule.topology.endpoints)
    if local not in (None, ranks):
        raise InputError(f"{local} processes; {schedule.topology.name} has {ranks} endpoints, and each is a process")
    if ranks > MAX_RANKS:
        raise InputError(f"{ranks} processes on this computer; allowed: up to {MAX_RANKS}")
    verdict = verify_schedule(schedule)
    if not verdict.valid:
        raise InvalidScheduleError(schedule, verdict)
    used = message_size(schedule, size, lambda _text: None)
    duties = duties_of(schedule, used, 2 if "16" in type else 4)
    seconds = float(parsing.seconds(time_limit))
    outcomes = execute_locally(duties, type, operation, iterations, seconds, tamper)
    if any(outcome.error for outcome in outcomes):
        raise ExecutionError(tuple(outcome.error for outcome in outcomes))
    exact, worst = True, 0.0
    for chunk, due in results(duties, type, operation):
        for rank, value in due.items():
            exact = exact and outcomes[rank].digests[chunk] == digest(value)
        for value in list(due.values())[:1]:
            worst = max(worst, error(duties, type, operation, chunk, value))
    times = tuple(max(outcome.seconds[at] for outcome in outcomes) for at in range(iterations))
    return Executed(schedule, used, type, operation, times, exact, worst)
