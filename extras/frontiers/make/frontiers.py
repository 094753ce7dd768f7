"""Exact frontiers of small networks: all Pareto-optimal (chunks, steps, rounds), with a proof for every candidate ruled out."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from certree.api import parsing
from certree.api.api_errors import DisagreementError, SearchInterrupted
from certree.api.inputs import schedule_of
from certree.api.parsing import Network
from certree.api.workers import Workers
from certree.models.common.errors import InputError
from certree.models.common.extras import provided
from certree.models.common.shown import Shown
from certree.models.schedule.collective import Collective
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.schedule_file import schedule_from_document
from certree.models.schedule.symmetric.symmetric_schedule import AnySchedule
from certree.models.tables.tables import Tables
from certree.verify.certificates.optimum import CLAIMED, question_of, require_delay_1
from certree.verify.exact.question import Point, Question
from certree.verify.frontier.answers import why_not
from certree.verify.frontier.document import FrontierVerdict, check_frontier

if TYPE_CHECKING:
    from certree.synth.exact.frontier_search import FrontierSearch
    from certree.synth.monitor import Monitor


@dataclass(frozen=True, repr=False)
class FoundFrontier(Shown):
    """Result of a frontier search: the verdict on its document, and the points of the published algorithms by method."""

    verdict: FrontierVerdict
    methods: Mapping[str, Point]

    def title(self) -> str:
        """The collective and the network."""
        return self.verdict.title()

    def facts(self) -> dict[str, object]:
        """The facts of the verdict."""
        return self.verdict.facts()

    @property
    def points(self) -> list[Point]:
        """(chunks per endpoint, steps, rounds) of the best schedules, fewest chunks first."""
        return [tuple(entry["point"]) for entry in self.verdict.document["points"]]

    def schedule(self, point: Point) -> Schedule:
        """The schedule of a point; InputError where there is no such point."""
        for entry in self.verdict.document["points"]:
            if tuple(entry["point"]) == tuple(point):
                return schedule_from_document(entry["schedule"], f"point {point}")
        raise InputError(f"the frontier has no point {tuple(point)}; it has {', '.join(map(str, self.points)) or 'none'}")

    @property
    def complete(self) -> bool:
        """Whether every other candidate up to the number of chunks asked for is ruled out by a proof."""
        return bool(self.verdict.document["complete"])


def frontier(
    network: Network,
    collective: str | Collective = "all-reduce",
    *,
    root: int | None = None,
    max_chunks: int = 6,
    effort: int = 1,
    time_limit: str | float | Fraction | None = None,
    memory: int | None = None,
    scratch: int | None = None,
    unaided: bool = False,
    schedules: Mapping[str, str | Path | AnySchedule | Tables] = MappingProxyType({}),
    solver: str = "auto",
    workers: int | Workers = 1,
    progress: Callable[[str], None] | None = None,
) -> FoundFrontier:
    """All Pareto-optimal (chunks, steps, rounds) of a small network, each with a schedule, and a proof for every other candidate.

    Delay 1; endpoints do not forward within a step.

    Parameters
    ----------
    network, collective, root
        As in `synthesize`.
    max_chunks : int
        Most chunks per endpoint.
    effort : int
        Deterministic search budget.
    time_limit : str, float or Fraction, optional
        Seconds, or a text such as "60s"; the result then depends on the computer.
    memory : int, optional
        Chunks that an endpoint can store.
    scratch : int, optional
        Extra buffers of one chunk per endpoint.
    unaided : bool
        Whether the search does not start from the published algorithms, from symmetric schedules or, for sums, from the schedules
        of the copying collective backwards in time.
    schedules : dict
        Others to start from, by name; `methods` of the result has their points.
    solver : {"auto", "cadical", "cp-sat", "z3"}
        What it calls impossible counts only with a proof, which CaDiCaL writes.
    workers : int or Workers
        Answer the questions to the solver, with the same result whatever their number.
    progress : callable, optional
        Receives lines of progress.

    Returns
    -------
    FoundFrontier
        `verdict.document` holds all schedules and proofs, checked as `verify` checks them.

    Raises
    ------
    InputError
        For anything malformed.
    UnsupportedError
        For networks that are too large.
    SearchInterrupted
        With what was found so far, on Ctrl-C.

    Examples
    --------
    >>> import certree.api as ct
    >>> ct.frontier("ring:4", "all-gather", max_chunks=2).points
    [(1, 2, 2), (2, 2, 3)]
    """
    from certree.synth.exact.frontier_search import FrontierSearch
    from certree.synth.exact.seeds import backwards, known_schedules, mirrored, symmetric_schedules

    topology, wanted = parsing.topology(network), parsing.collective(collective, root)
    wanted.require_fits(topology)
    wanted.require_everyone("frontiers")
    monitor, asked = parsing.monitor(time_limit, progress), parsing.solver(solver)
    known = {} if unaided else known_schedules(topology, wanted, monitor)
    for name, source in schedules.items():
        known[name] = _rated(name, source, Question(topology, wanted, 1, 1, 1, memory, scratch), max_chunks)
    seeds = [] if unaided else list(symmetric_schedules(topology, wanted, max_chunks, monitor))
    interrupted = False
    if not unaided and (other := mirrored(topology, wanted)) is not None and memory is scratch is None:
        starts = symmetric_schedules(*other, max_chunks, monitor)
        copying = FrontierSearch(*other, max_chunks, effort, monitor, known_schedules(*other, monitor), seeds=starts, solver=asked)
        try:
            _run(copying, monitor, Workers.of(workers))
        except KeyboardInterrupt:
            interrupted = True
        seeds += [backwards(schedule, topology, wanted) for schedule in copying.result.points.values()]
    search = FrontierSearch(topology, wanted, max_chunks, effort, monitor, known, memory, scratch, seeds, asked)
    try:
        if not interrupted:
            _run(search, monitor, Workers.of(workers))
    except KeyboardInterrupt:
        interrupted = True
    verdict = check_frontier(search.result.document(), "the frontier")
    if not verdict.valid:
        first = verdict.violations[0]
        raise DisagreementError(f"the frontier that was found is invalid: {first.rule}: {first.message}")
    found = FoundFrontier(verdict, search.known)
    if interrupted:
        raise SearchInterrupted(found)
    return found


def _rated(name: str, source: str | Path | AnySchedule | Tables, question: Question, max_chunks: int) -> Schedule:
    """A schedule that a frontier names; InputError where the machine of the question cannot run it."""
    schedule = CLAIMED.lowered(schedule_of(source))
    require_delay_1(schedule)
    point = question_of(schedule).point
    reason = f"it has {point[0]} chunks, more than {max_chunks}" if point[0] > max_chunks else why_not(question.at(point), schedule)
    if reason is not None:
        raise InputError(f"{name}: {reason}")
    return schedule


def _run(search: "FrontierSearch", monitor: "Monitor", workers: Workers) -> None:
    """Run the search in this process, or with the workers."""
    if workers.is_one:
        search.run()
    else:
        provided("frontier points on workers")(search, monitor, workers)
