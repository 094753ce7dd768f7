"""Runs of joint schedules: all collectives at once, with real data, cycle by cycle."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree.extras.joint.model.joint_schedule import JointSchedule
from certree.extras.joint.run.joint_rows import JointProgram, JointRows, tables_of
from certree.hw import _core
from certree.hw.core_calls import run_to_end
from certree.hw.engines.core_program import first_cells, first_wrong
from certree.hw.engines.router_transparency import meeting_effect, router_effect
from certree.models.common.errors import UnsupportedError
from certree.models.tables.tables import Tables

ENGINES = ("fast", "lanes")
_BUDGET = 1 << 22
_REPORTED = 8


@dataclass(frozen=True)
class JointRun:
    """What a run did. `cycles`: from the common start until all has landed, `closed_form_cycles` as the schedule says. `late`: rows
    that had to wait; `contention_cycles`: cycles for which messages waited for a lane. `wrong`: the first wrong result in words.
    `router_effect`: what the routers of the machine, which are left out, may add; None where they add nothing."""

    engine: str
    cycles: int
    closed_form_cycles: int
    contention_cycles: int
    late: int
    messages: int
    wrong: str | None
    stall: tuple[str, ...]
    router_effect: str | None

    @property
    def data_ok(self) -> bool:
        """Whether all results are there and right."""
        return self.wrong is None and not self.stall

    @property
    def holds(self) -> bool:
        """Whether the run is as the schedule says: right data, in time, without contention."""
        return self.data_ok and not self.late and not self.contention_cycles and self.cycles == self.closed_form_cycles


def run_joint(joint: JointSchedule, engine: str = "fast", progress: Callable[[int], None] | None = None) -> JointRun:
    """Run the tables of all collectives at once, on lanes without routers; UnsupportedError for other engines than `fast` and
    `lanes`, and where a collective has no tables. O(hops of all messages · log)."""
    if engine not in ENGINES:
        raise UnsupportedError(f"engine {engine}: not for joint schedules; those that run them: {', '.join(ENGINES)}")
    tables = tables_of(joint)
    rows = JointRows(joint, tables)
    program = JointProgram(joint, rows, tables)
    if engine == "lanes":
        program.check_stages()
    cells = _first_cells(tables)
    core = _core.Run(program.scalars, program.columns, engine, "slotted", cells, False, None)
    run_to_end(core, _BUDGET, progress)
    counted = core.statistics()
    stall = _stall(rows, core.waiting()) if core.is_deadlocked else ()
    return JointRun(
        engine,
        counted["cycles"],
        joint.cycles,
        counted["contention_cycles"],
        counted["late"],
        counted["messages"],
        _first_wrong(joint, tables, rows.base, cells),
        stall,
        _router_effect(tables, counted["contention_cycles"], counted["late"]),
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
    }


def _factor(number: int) -> np.uint64:
    """By which the data of a collective are multiplied: odd, so that it can be undone, and another one for each collective."""
    return np.uint64(2 * number + 3)


def _first_cells(tables: Sequence[Tables]) -> NDArray[np.uint64]:
    """The initial data of every node: for each collective its own, times its factor, so that data of another one are wrong."""
    return np.ascontiguousarray(np.concatenate([first_cells(one) * _factor(number) for number, one in enumerate(tables)], axis=1))


def _first_wrong(joint: JointSchedule, tables: Sequence[Tables], base: NDArray[np.int64], cells: NDArray[np.uint64]) -> str | None:
    """The first wrong result in words. Sums and copies keep the factor; it is taken out modulo 2^64."""
    for number, (part, one) in enumerate(zip(joint.parts, tables, strict=True)):
        undone = np.uint64(pow(int(_factor(number)), -1, 1 << 64))
        wrong = first_wrong(one, np.ascontiguousarray(cells[:, base[number] : base[number + 1]]) * undone)
        if wrong is not None:
            return f"{part.name}: rank {wrong[0]} has a wrong value for chunk {wrong[1]}"
    return None


def _router_effect(tables: Sequence[Tables], contention: int, late: int) -> str | None:
    for one in tables:
        effect = router_effect(one, "message", in_time=True) or meeting_effect(one, "slotted", contention, late)
        if effect is not None:
            return effect
    return None


def _stall(rows: JointRows, waiting: Sequence[tuple[int, int, int, int]]) -> tuple[str, ...]:
    lines = []
    for node, row, _, arrival in waiting[:_REPORTED]:
        place = f"in {rows.describe_row(row)}" if row >= 0 else "at its end"
        lines.append(f"node {node} {place} waits for {rows.describe_arrival(arrival) if arrival >= 0 else 'its step'}")
    more = len(waiting) - _REPORTED
    return (*lines, f"and {more} more nodes wait") if more > 0 else tuple(lines)
