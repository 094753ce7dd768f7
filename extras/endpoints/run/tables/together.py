"""Several collectives in one run of tables: their chunks are iterations of one table, which nodes begin in one order."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate

from certree.extras.endpoints.model.endpoint import Endpoint, System
from certree.extras.endpoints.model.named_system import Cut
from certree.extras.endpoints.run.endpoint_program import Payload
from certree.extras.endpoints.run.tables.iterations import TAKES, least_bytes
from certree.extras.endpoints.run.tables.joint_machine import chunks_of, joint_machine, joint_tables
from certree.extras.endpoints.run.tables.table_endpoints import Asked, TableEndpoints
from certree.extras.endpoints.run.tables.table_runs import fastest_run
from certree.hw.engines.runs import Options, Run
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.timing import ceil_div
from certree.models.tables.tables import Tables


@dataclass(frozen=True)
class Together:
    """A run of several collectives, the tables that ran, and by collective the cycle in which it was over at the last node; no
    `ends` where the run stalled."""

    run: Run
    tables: Tables
    ends: tuple[int, ...]


def run_together(
    schedule: Schedule,
    endpoint: Endpoint,
    system: System,
    payloads: Sequence[Payload],
    *,
    lifo: bool = False,
    without_routers: bool = False,
    progress: Callable[[int], None] | None = None,
) -> Together:
    """Run a collective of each payload on `joint_machine`, all by one schedule, each asked for in the cycle of its payload.

    Chunks have at most the bytes of the system, and the fewest with which each payload has as many as with these, to which its
    chunks are padded: those of one payload have equal parts. Nodes begin chunks in one order: that of asking, or with `lifo` the
    latest collective first; each chunk the steps of a period after the one before it, as in `run_joint`, which this is for one
    payload, to the cycle. A system that bounds another one tries the chunks of all, and its last end is never later than theirs;
    ends of single collectives may be.

    Errors as `simulate` and `joint_tables`. Cost as of a run of tables of as many iterations.
    """
    runs, least = [], least_bytes(TAKES.lowered(schedule), joint_machine(endpoint))
    parts = {one: max(_part(payload.size, one) for payload in payloads) for one in chunks_of(endpoint, system)}
    for chunk in sorted({max(part, min(one, least)) for one, part in parts.items()}):
        bounds = (0, *accumulate(ceil_div(payload.size, chunk) for payload in payloads))
        tables = joint_tables(schedule, endpoint, bounds[-1] * chunk)
        asked = Asked(bounds, tuple(payload.start for payload in payloads), lifo)
        model = TableEndpoints(endpoint, system, Fraction(0), cut=Cut(chunk, pads=True), asked=asked)
        run, used = fastest_run(tables, Options("paced", without_routers=without_routers, endpoint=model, progress=progress))
        runs.append(Together(run, tables, used.ends))
    return min(runs, key=lambda one: one.run.cycles)


def _part(size: int, most: int) -> int:
    """The number of bytes of equal parts of at most that many."""
    return ceil_div(size, ceil_div(size, most))
