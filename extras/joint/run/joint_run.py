"""Runs of joint schedules: all collectives at once, with real data, cycle by cycle."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from certree.extras.joint.check.shared_routers import joint_effect
from certree.extras.joint.model.joint_schedule import JointSchedule
from certree.extras.joint.run.joint_data import Cells, first_data, wrong_data
from certree.extras.joint.run.joint_routers import RouterProgram
from certree.extras.joint.run.joint_rows import JointProgram, JointRows, tables_of
from certree.hw import _core
from certree.hw.core_calls import run_to_end
from certree.hw.engines.router_transparency import meeting_effect
from certree.hw.routers.packet_injection import BUDGET
from certree.models.common.errors import UnsupportedError
from certree.models.tables.tables import Tables

ENGINES = ("fast", "lanes", "flit")
_BUDGET = 1 << 22
_REPORTED = 8
_FIRED, _USABLE = 3, -2  # of a record of a trace: when its row fired, and when its message counted


@dataclass(frozen=True)
class JointRun:
    """The results of a run. `cycles`: from the common start until all has landed, `closed_form_cycles` as the schedule says.
    `late`: rows that had to wait; `contention_cycles`: cycles for which messages waited for a lane. `ends`: by collective when all
    of its data had landed, of runs through routers, and `early` which fired before one that they are after had ended, in words.
    `wrong`: the first wrong result in words. `router_effect`: what the routers of the machine, which are left out, may add; None
    where they add nothing."""

    engine: str
    cycles: int
    closed_form_cycles: int
    contention_cycles: int
    late: int
    messages: int
    wrong: str | None
    stall: tuple[str, ...]
    router_effect: str | None
    ends: Mapping[str, int] | None = None
    early: tuple[str, ...] = ()

    @property
    def data_ok(self) -> bool:
        """Whether all results are there and right."""
        return self.wrong is None and not self.stall

    @property
    def holds(self) -> bool:
        """Whether the run is as the schedule says: right data, in order and in time, without contention."""
        in_time = not self.early and not self.late and self.cycles == self.closed_form_cycles
        return self.data_ok and in_time and not self.contention_cycles


def run_joint(joint: JointSchedule, engine: str = "fast", progress: Callable[[int], None] | None = None) -> JointRun:
    """Run the tables of all collectives at once: with engine `fast` or `lanes` on lanes without routers, with `flit` through
    routers. UnsupportedError for other engines, and where a collective has no tables. O(hops of all messages · log), and where
    flits are moved one by one O(flits · hops)."""
    if engine not in ENGINES:
        raise UnsupportedError(f"engine {engine}: not for joint schedules; those that run them: {', '.join(ENGINES)}")
    tables = tables_of(joint)
    rows = JointRows(joint, tables)
    if engine == "flit":
        return run_through_routers(joint, rows, tables, progress)
    cells = first_data(rows, tables)
    program = JointProgram(joint, rows, tables)
    if engine == "lanes":
        program.check_stages()
    core = _core.Run(program.scalars, program.columns, engine, "slotted", cells, False, None)
    run_to_end(core, _BUDGET, progress)
    counted = core.statistics()
    effect = joint_effect(joint) or _meeting_effect(tables, counted["contention_cycles"], counted["late"])
    return _result(joint, rows, tables, engine, core, cells, effect)


def run_through_routers(
    joint: JointSchedule, rows: JointRows, tables: Sequence[Tables], progress: Callable[[int], None] | None
) -> JointRun:
    """Run rows of all collectives through routers, flit by flit; `joint` may be one in which messages meet."""
    cells = first_data(rows, tables)
    core = RouterProgram(joint, rows, tables, cells, traced=True).core
    run_to_end(core, BUDGET, progress)
    ends = np.array([joint.machine.ni_start_cycles + part.begin for part in joint.parts], np.int64)
    row, fired, usable = np.array([(one[0], one[_FIRED], one[_USABLE]) for one in core.trace()], np.int64).reshape(-1, 3).T
    np.maximum.at(ends, rows.tag_of_row[row], usable)
    first = np.full(len(joint.parts), np.iinfo(np.int64).max)
    np.minimum.at(first, rows.tag_of_row[row], fired)
    by_name = dict(zip([part.name for part in joint.parts], ends.tolist(), strict=True))
    early = tuple(_early(joint, first.tolist(), by_name))
    return replace(_result(joint, rows, tables, "flit", core, cells, None), ends=by_name, early=early)


def _early(joint: JointSchedule, first: Sequence[int], ends: Mapping[str, int]) -> Iterator[str]:
    """Rows that fired before the end of a collective that theirs is after: slots open whatever is late."""
    for part, cycle in zip(joint.parts, first, strict=True):
        for other in part.entry.after:
            if cycle < ends[other]:
                yield f"{part.name} fired in cycle {cycle:,}, before {other} ended in cycle {ends[other]:,}"


def _result(
    joint: JointSchedule, rows: JointRows, tables: Sequence[Tables], engine: str, core: Any, cells: Cells, effect: str | None
) -> JointRun:
    counted = core.statistics()
    stall = _stall(rows, core.waiting()) if core.is_deadlocked else ()
    return JointRun(
        engine,
        counted["cycles"],
        joint.cycles,
        counted["contention_cycles"],
        counted["late"],
        counted["messages"],
        wrong_data(rows, tables, cells),
        stall,
        effect,
    )


def joint_run_document(joint: JointSchedule, done: JointRun) -> dict[str, Any]:
    """The document of a run, of the kind `joint-run`."""
    return {
        "topology": joint.topology.name,
        "machine": joint.machine.name,
        "engine": done.engine,
        "seconds": str(Fraction(done.cycles, joint.machine.clock_hz)),
        "data_ok": done.data_ok,
        "stall": list(done.stall),
        **{name: getattr(done, name) for name in ("cycles", "closed_form_cycles", "contention_cycles", "late", "messages")},
        **{name: getattr(done, name) for name in ("router_effect", "wrong")},
        **({} if done.ends is None else {"ends": dict(done.ends), "planned_ends": joint.ends, "early": list(done.early)}),
    }


def _meeting_effect(tables: Sequence[Tables], contention: int, late: int) -> str | None:
    """The effect of routers where messages met on lanes, which happens in no valid joint schedule."""
    return next(filter(None, (meeting_effect(one, "slotted", contention, late) for one in tables)), None)


def _stall(rows: JointRows, waiting: Sequence[tuple[int, int, int, int]]) -> tuple[str, ...]:
    """The waits of nodes in a run in which nothing can move any more: the first few."""
    lines, nodes = [], len(rows.joint.topology.kind)
    for node, row, _, arrival in waiting[:_REPORTED]:
        place = f"in {rows.describe_row(row)}" if row >= 0 else "at its end"
        lines.append(f"node {node % nodes} {place} waits for {rows.describe_arrival(arrival) if arrival >= 0 else 'its step'}")
    more = len(waiting) - _REPORTED
    return (*lines, f"and {more} more nodes wait") if more > 0 else tuple(lines)
