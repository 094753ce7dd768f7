"""Times of collectives on endpoints by tables on the joint machine: each alone, or all in one run where they may meet."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import ceil

from certree.api.parsing import Entry, option_texts
from certree.api.reports.text import counted
from certree.extras.endpoints.model.endpoint import Endpoint, System
from certree.extras.endpoints.run.endpoint_program import Payload
from certree.extras.endpoints.run.endpoint_runs import made_schedule
from certree.extras.endpoints.run.tables.joint_machine import joint_tables
from certree.extras.endpoints.run.tables.joint_results import hops_of, results_of_tables, results_together, too_long
from certree.models.common.errors import CertreeError, UnsupportedError
from certree.models.network.topology import Topology
from certree.models.schedule.collective import Collective, CollectiveKind
from certree.models.tables.tables import Tables


class WrongDataError(CertreeError):
    """A simulated collective ended with wrong data."""

    exit_code = 1


class NoTablesError(Exception):
    """Why the collectives of a run have no tables, where messages may run in their place."""


@dataclass(frozen=True)
class Single:
    """A collective of all endpoints of a network, of N bytes; `entry`: the method and its options, None: that of ACE."""

    network: Topology
    kind: CollectiveKind
    bytes: int
    entry: Entry | None

    @property
    def key(self) -> tuple[str, str, int, str | None]:
        """The key of its tables: all that they depend on, except for the endpoint."""
        return self.network.digest, str(self.kind), self.bytes, None if self.entry is None else self.entry.text


@dataclass
class TableTimes:
    """The time of collectives by tables, each run once. Raises UnsupportedError for those that have none."""

    endpoint: Endpoint
    system: System
    without_routers: bool
    tables: dict[tuple[str, str, int, str | None], Tables] = field(default_factory=dict)
    known: dict[tuple[str, str, int, str | None], int] = field(default_factory=dict)

    def require_short(self, every: Iterable[Single], *, meet: bool) -> None:
        """Raise UnsupportedError where runs of all of these together take longer than tables of one collective that run unasked.
        `meet`: they may be under way at a time, so that each is in a run, equal ones too."""
        hops, count, known = 0, 0, dict[tuple[str, str, int, str | None], int]()
        for one in every:
            if one.key not in known:
                tables = self._tables(one)
                known[one.key] = hops_of(tables, self.endpoint, [self.system], without_routers=self.without_routers)
            elif not meet:
                continue
            hops, count = hops + known[one.key], count + 1
        if (words := too_long(hops, without_routers=self.without_routers)) is not None:
            raise UnsupportedError(f"{counted(count, 'collectives' if meet else 'different collectives')}: {words}")

    def ends(self, asked: Sequence[tuple[Fraction, Single]], *, together: bool, lifo: bool = False) -> list[Fraction]:
        """Seconds from the first asking to the end of each of (seconds after the first asking, collective), in the order of asking.

        `together`: all of them are in one run (`run_together`), whether they meet or not, with `lifo` the latest first; otherwise
        each runs alone, where the workload has no two under way at a time. One collective takes the same time in either; several
        that do not meet differ by padding, as in one run all have chunks of the same bytes, and through routers by the state in
        which one leaves the arbiters. UnsupportedError where those in one run differ in more than their bytes."""
        clock, every = self.endpoint.interface.clock_hertz, [one for _, one in asked]
        starts = [ceil(begin * clock) for begin, _ in asked]
        if together:
            found = self._ends_together(starts, every, lifo)
        else:
            found = [start + self._cycles(one) for start, one in zip(starts, every, strict=True)]
        return [Fraction(end) / clock for end in found]

    def _ends_together(self, starts: Sequence[int], asked: Sequence[Single], lifo: bool) -> list[int]:
        first = max(asked, key=lambda one: one.bytes)
        for one in asked:
            if (one.network.digest, one.kind, one.entry) != (first.network.digest, first.kind, first.entry):
                raise UnsupportedError(
                    f"{one.kind} is asked for next to {first.kind}; collectives in one run of tables are of one kind"
                )
        payloads = [Payload(one.bytes, start) for one, start in zip(asked, starts, strict=True)]
        (done,) = results_together(
            self._tables(first).schedule, self.endpoint, [self.system], payloads, None,
            lifo=lifo, without_routers=self.without_routers,
        )  # fmt: skip
        if not done.data_ok or not done.conserved:
            raise WrongDataError(f"{first.kind} on {first.network.name}: tables end with wrong data, or in a deadlock")
        return list(done.ends)

    def _tables(self, one: Single) -> Tables:
        if one.key not in self.tables:
            method, options = (None, {}) if one.entry is None else (one.entry.method, one.entry.options)
            made = made_schedule(one.network, Collective(one.kind), method, option_texts(options), one.bytes)
            self.tables[one.key] = joint_tables(made.schedule, self.endpoint, one.bytes)
        return self.tables[one.key]

    def _cycles(self, one: Single) -> int:
        if one.key not in self.known:
            (done,) = results_of_tables(self._tables(one), self.endpoint, [self.system], None, without_routers=self.without_routers)
            if not done.data_ok or not done.conserved:
                raise WrongDataError(f"{one.kind} on {one.network.name}: tables end with wrong data, or in a deadlock")
            self.known[one.key] = done.cycles
        return self.known[one.key]
