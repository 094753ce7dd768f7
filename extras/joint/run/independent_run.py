"""Runs of collectives whose schedules know nothing of each other, and whose messages meet in routers.

Each collective has an interface of its own at every node, with its table, memory and reduction unit; they share the ports of the
node and everything behind them. A row fires when its slot opens, or later, when what it waits for has arrived. A collective that
waits for others begins when these have ended in this very run.
"""

from collections.abc import Callable
from dataclasses import replace

from certree.extras.joint.model.joint_schedule import JointSchedule, Part
from certree.extras.joint.run.joint_rows import JointRows, tables_of
from certree.extras.joint.run.joint_run import JointRun, run_through_routers
from certree.models.fine.slots import fine_times


def run_independent(independent: JointSchedule, progress: Callable[[int], None] | None = None) -> JointRun:
    """Run schedules that know nothing of each other (`certree.extras.joint.make.alone`) at once, through routers.
    `closed_form_cycles` is when they would end if no messages met.

    UnsupportedError for what the router model does not cover. O(flits · hops), once more for each collective that waits for others:
    whatever begins later changes nothing before, so its start is an end in the run without it.
    """
    begun = [part for part in independent.parts if not part.entry.after]
    waiting = [part for part in independent.parts if part.entry.after]
    while True:
        joint = replace(independent, parts=tuple(begun))
        tables = tables_of(joint)
        run = run_through_routers(joint, JointRows(joint, tables, apart=True), tables, progress)
        assert run.ends is not None
        if not waiting or run.stall:
            return run
        ends, start = run.ends, independent.machine.ni_start_cycles
        ready = [
            (max(ends[name] for name in part.entry.after) - start, number)
            for number, part in enumerate(waiting)
            if all(name in ends for name in part.entry.after)
        ]
        release, number = min(ready)
        begun.append(_begun(waiting.pop(number), release))


def _begun(part: Part, release: int) -> Part:
    """A collective whose first row fires in this cycle or later."""
    return replace(part, begin=max(part.begin, release - int(fine_times(part.schedule).fire.min(initial=0))))
