"""Execution of schedules by real processes with real data."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, NoReturn

from certree.api import parsing
from certree.api.api_errors import ExecutionError, InvalidScheduleError
from certree.api.inputs import schedule_of
from certree.api.settings import message_size
from certree.extras.runtimes.run.duties import Duties, duties_of, reducing_switches
from certree.extras.runtimes.run.executors import Task, load_executors
from certree.extras.runtimes.run.local import MAX_RANKS, Outcome, Tamper, execute_locally
from certree.extras.runtimes.run.numbers import OPERATIONS, TYPES
from certree.extras.runtimes.run.reference import digest, error, in_order, results
from certree.models.common.errors import InputError, unknown_name
from certree.models.schedule.collective import Collective, CollectiveKind
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.symmetric.symmetric_schedule import AnySchedule, written_out
from certree.verify.checker import verify_schedule
from certree.verify.order.additions import additions_of
from certree.verify.order.expressions import read_expression

DEFAULT_SECONDS = "60s"
MAX_ITERATIONS = 10_000
_GRACE = 1.0  # seconds


@dataclass(frozen=True)
class Executed:
    """An execution: `seconds` of every iteration (of the slowest rank), and whether the results are right.

    `exact`: every result has the bits of the reference, which adds in the order of the schedule. `error`: the largest difference
    from exact arithmetic, over the bound for any order of additions. `in_order`: whether every result has the bits of the one order
    in which the schedule adds, evaluated as an expression; None where its slots do not fix one. `mpi_seconds`: of MPI's own
    all-reduce, where MPI executed one. `more`, `words`: what another executor reports besides. `bus_bandwidth`: bytes per second
    over the busiest port of a rank in the fastest iteration, as the tests of NCCL count them.
    """

    schedule: Schedule
    message_bytes: int
    type: str
    operation: str
    seconds: tuple[float, ...]
    exact: bool
    error: float
    mpi_seconds: float | None = None
    in_order: bool | None = None
    more: Mapping[str, Any] = field(default_factory=dict)
    words: str = ""

    @property
    def right(self) -> bool:
        """Whether the results are right."""
        return self.exact and self.error <= 1 and self.in_order is not False

    @property
    def bus_bandwidth(self) -> float:
        """Bytes per second."""
        collective = self.schedule.collective
        share = collective.bus_share(len(collective.members_of(self.schedule.topology)))
        return float(1 if share is None else share) * self.message_bytes / min(self.seconds)


def execute(
    source: str | Path | AnySchedule,
    *,
    local: int | None = None,
    on: str | None = None,
    devices: int | None = None,
    size: int | str | None = None,
    type: str = "float32",
    operation: str = "sum",
    iterations: int = 5,
    time_limit: str | float | Fraction = DEFAULT_SECONDS,
    tamper: Tamper | None = None,
) -> Executed:
    """Execute a schedule with one process for each endpoint on this computer, every transfer a message through a socket.

    Switches that reduce have a process each, too. One iteration before the `iterations` warms up. Cost: all messages, `iterations`
    + 1 times; the memory of all buffers.

    Parameters
    ----------
    source : str, path or schedule
        A valid schedule.
    local : int, optional
        The number of processes, by default that of all these; no other is allowed.
    on : str, optional
        An executor that `certree list` names, such as jax, instead of processes.
    devices : int, optional
        How many devices the executor makes, by default one for each endpoint.
    size : int or str, optional
        The message, by default what the schedule was made for; chunks are padded to whole elements.
    type : {"float32", "float16", "bfloat16", "int32"}
        The type of the data.
    operation : {"sum", "max", "min"}
        What is done where the collective reduces.
    iterations : int
        How often it is timed.
    time_limit : str, float or Fraction
        Seconds, or a text such as "60s", after which processes are ended.
    tamper : callable, optional
        Loses messages, for tests.

    Returns
    -------
    Executed

    Raises
    ------
    InvalidScheduleError
        For a schedule that breaks rules.
    ExecutionError
        After at most the time limit and a few seconds, where a process ended or a message did not come: it has the error of every
        rank.

    Examples
    --------
    >>> import certree.api as ct
    >>> ct.execute(ct.synthesize("ring:4", size="64KiB"), size="64KiB", type="bfloat16").exact
    True
    """
    prepared = _Prepared.of(source, size, type, operation, iterations)
    ranks = prepared.duties.ranks
    if on is not None:
        if local is not None or tamper is not None:
            raise InputError(f"processes on this computer, and executor {on}: one of the two")
        return prepared.executed_on(on, devices, iterations, float(parsing.seconds(time_limit)))
    if devices is not None:
        raise InputError(f"{devices} devices; they are for an executor: {', '.join(load_executors())}")
    if local not in (None, ranks):
        raise InputError(f"{local} processes; {prepared.who}, and each is a process")
    if ranks > MAX_RANKS:
        raise InputError(f"{ranks} processes on this computer; allowed: up to {MAX_RANKS}")
    seconds = float(parsing.seconds(time_limit))
    outcomes = execute_locally(prepared.duties, type, operation, iterations, seconds, tamper)
    if any(outcome.error for outcome in outcomes):
        raise ExecutionError(tuple(outcome.error for outcome in outcomes))
    return prepared.compared(outcomes)


def execute_with_mpi(
    source: str | Path | AnySchedule,
    *,
    rank_map: Sequence[int] | None = None,
    size: int | str | None = None,
    type: str = "float32",
    operation: str = "sum",
    iterations: int = 5,
    time_limit: str | float | Fraction = DEFAULT_SECONDS,
    fail: Callable[[str], None],
) -> Executed | None:
    """Execute a schedule with the processes that `mpirun` started; the result in rank 0, None in the others.

    `rank_map`: for each rank of MPI the rank of the schedule (the number of its endpoint), by default the same. `fail` receives the
    fault of this rank when the time is over; then all processes are aborted. The rest as in `execute`; ToolMissingError without
    mpi4py.
    """
    from certree.extras.runtimes.run.mpi import MpiRun, check_size, world

    prepared = _Prepared.of(source, size, type, operation, iterations)
    communicator, ranks = world(), prepared.duties.ranks
    check_size(communicator, ranks, prepared.who)
    mapped = list(range(ranks)) if rank_map is None else list(rank_map)
    if sorted(mapped) != list(range(ranks)):
        raise InputError(f"rank map {','.join(map(str, mapped))}; allowed: each of 0 to {ranks - 1} once")

    def end(fault: str) -> NoReturn:
        fail(fault)
        time.sleep(_GRACE)  # the other ranks wait for the same deadline
        communicator.Abort(1)
        raise SystemExit(1)

    run = MpiRun(communicator, prepared.duties, type, operation, time.monotonic() + float(parsing.seconds(time_limit)), mapped, end)
    outcomes = run.execute(iterations)
    own = run.all_reduce_seconds(prepared.message_bytes, iterations) if prepared.is_all_reduce else None
    return None if outcomes is None else replace(prepared.compared(outcomes), mpi_seconds=own)


@dataclass(frozen=True)
class _Prepared:
    """A valid schedule and what its ranks have to do."""

    schedule: Schedule
    duties: Duties
    message_bytes: int
    type: str
    operation: str

    @staticmethod
    def of(source: str | Path | AnySchedule, size: int | str | None, type: str, operation: str, iterations: int) -> "_Prepared":
        """Check what was asked for."""
        for kind, name, known in (("type", type, TYPES), ("operation", operation, OPERATIONS)):
            if name not in known:
                raise InputError(unknown_name(kind, name, known))
        if not 1 <= iterations <= MAX_ITERATIONS:
            raise InputError(f"{iterations} iterations; allowed: 1 to {MAX_ITERATIONS}")
        schedule = written_out(schedule_of(source))
        verdict = verify_schedule(schedule)
        if not verdict.valid:
            raise InvalidScheduleError(schedule, verdict)
        used = message_size(schedule, size, lambda _text: None)
        return _Prepared(schedule, duties_of(schedule, used, 2 if "16" in type else 4), used, type, operation)

    @property
    def who(self) -> str:
        """The nodes that have a process each, in words."""
        switches = len(reducing_switches(self.schedule))
        more = " and a switch that reduces" if switches == 1 else f" and {switches} switches that reduce" if switches else ""
        return f"{self.schedule.topology.name} has {len(self.schedule.topology.endpoints)} endpoints{more}"

    @property
    def is_all_reduce(self) -> bool:
        """Whether MPI has the same collective: an all-reduce of all processes by addition."""
        if self.duties.ranks > len(self.schedule.topology.endpoints):
            return False
        return self.schedule.collective == Collective(CollectiveKind.ALL_REDUCE) and self.operation == "sum"

    def executed_on(self, name: str, devices: int | None, iterations: int, seconds: float) -> Executed:
        """Execute with another executor than processes, and compare."""
        executor = load_executors()[name]()
        task = Task(self.schedule, self.duties, self.message_bytes, self.type, self.operation, iterations, seconds, devices)
        found = executor.execute(task)
        return replace(self.compared(found.outcomes), more=found.more, words=found.words)

    def compared(self, outcomes: Sequence[Outcome]) -> Executed:
        """Compare what the ranks reported with the reference."""
        exact, worst, found = True, 0.0, additions_of(self.schedule)
        order = None if found is None else found.certain
        ranks = self.schedule.collective.ranks_of(self.schedule.topology)
        expression = None if order is None else read_expression(order, ranks)
        is_in_order = None if expression is None else True
        for chunk, due in results(self.duties, self.type, self.operation):
            for rank, value in due.items():
                exact = exact and outcomes[rank].digests[chunk] == digest(value)
            if expression is not None:
                wanted = digest(in_order(self.duties, expression, self.type, self.operation, chunk))
                is_in_order = is_in_order and all(outcomes[rank].digests[chunk] == wanted for rank in due)
            for value in list(due.values())[:1]:
                worst = max(worst, error(self.duties, self.type, self.operation, chunk, value))
        times = tuple(map(max, zip(*(outcome.seconds for outcome in outcomes), strict=True)))
        return Executed(self.schedule, self.message_bytes, self.type, self.operation, times, exact, worst, in_order=is_in_order)
