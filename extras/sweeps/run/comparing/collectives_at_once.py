"""Comparison of a joint schedule with its collectives one after the other, and with schedules that know nothing of each other."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from certree.api.parsing import Network
from certree.api.reports.text import counted
from certree.api.settings import silent
from certree.extras.joint.check.joint_checks import verify_joint
from certree.extras.joint.make.alone import alone
from certree.extras.joint.make.joining import joint
from certree.extras.joint.model.collective_list import Entry
from certree.extras.joint.run.independent_run import run_independent
from certree.extras.joint.run.joint_run import JointRun, run_joint
from certree.models.common.errors import UnsupportedError
from certree.models.common.shown import Shown
from certree.models.machine.machine import Machine
from certree.models.network.topology import Topology

JOINT, IN_TURN = "joint schedule", "one after the other"
INDEPENDENT, ANY_TIMING = "independent", "independent, at any timing"


@dataclass(frozen=True, repr=False)
class ComparedCollectives(Shown):
    """Several collectives at once, in three ways: a JSON object for each, as `certree compare --workload --json` has them.
    `least`: cycles that every schedule of these collectives takes. `holds`: whether the joint schedule and one after the other run
    as they say, where they run."""

    topology: Topology
    machine: Machine
    collectives: int
    least: int
    cells: tuple[dict[str, Any], ...]
    holds: bool

    def title(self) -> str:
        """How many collectives on which network."""
        return f"{counted(self.collectives, 'collectives')} at once on {self.topology.name}"

    def facts(self) -> dict[str, object]:
        """Simulated cycles of each, or why there are none; what is wrong, where data are, one fired too early, or all wait."""
        return {cell["how"]: _why_not(cell) or cell["simulated_cycles"] for cell in self.cells}


def compare_collectives(
    network: Network,
    collectives: str | Path | Sequence[Entry],
    *,
    machine: str | Path | Machine | None = None,
    effort: int = 1,
    seed: int = 0,
    progress: Callable[[str], None] | None = None,
) -> ComparedCollectives:
    """Simulated cycles of several collectives at once, by a joint schedule, one after the other, and independent of each other.

    Independent ones use the schedule that is fastest when each is alone, start as soon as they may, and meet in routers; where late
    rows spoil the data there, a further cell has schedules that are right at any timing. All run flit by flit through the routers
    of the machine, with real data.

    Parameters
    ----------
    network, collectives, machine, effort, seed, progress
        As in `joint`.

    Returns
    -------
    ComparedCollectives
        A cell whose run the router model does not cover has `not_simulated`.

    Raises
    ------
    InputError, UnsupportedError
        As `joint`.

    Examples
    --------
    >>> import certree.api as ct
    >>> pair = [ct.Entry("a", ct.collective("broadcast", 0), 1024), ct.Entry("b", ct.collective("broadcast", 1), 1024)]
    >>> ct.compare_collectives("ring:3", pair).facts()
    {'joint schedule': 223, 'one after the other': 446, 'independent': 223}
    """
    tell, known = progress or silent, dict[Hashable, Any]()
    made = joint(network, collectives, machine=machine, effort=effort, seed=seed, known=known, progress=tell)
    in_turn, independent = alone(network, collectives, machine=machine, effort=effort, seed=seed, known=known, progress=tell)
    least = verify_joint(made).least
    assert least is not None
    cells, holds = [], True
    for how, planned in ((JOINT, made), (IN_TURN, in_turn)):
        tell(f"simulating: {how}")
        done = _tried(partial(run_joint, planned, "flit"))
        holds = holds and (isinstance(done, str) or done.holds)
        cells.append(_cell(how, done, closed_form_cycles=planned.cycles))
    tell(f"simulating: {INDEPENDENT}")
    cells.append(_cell(INDEPENDENT, _tried(partial(run_independent, independent))))
    if cells[-1].get("wrong") is not None:
        _, safe = alone(
            network, collectives, machine=machine, effort=effort, seed=seed, any_timing=True, known=known, progress=tell
        )
        tell(f"simulating: {ANY_TIMING}")
        cells.append(_cell(ANY_TIMING, _tried(partial(run_independent, safe))))
    return ComparedCollectives(made.topology, made.machine, len(made.parts), least.cycles, tuple(cells), holds)


def _why_not(cell: Mapping[str, Any]) -> str | None:
    """Why the cycles of a run do not count, if they do not."""
    texts = (cell.get("not_simulated"), *cell.get("stall", ()), cell.get("wrong"), *cell.get("early", ()))
    return next((text for text in texts if text is not None), None)


def _tried(run: Callable[[], JointRun]) -> JointRun | str:
    """A run, or why there is none."""
    try:
        return run()
    except UnsupportedError as error:
        return str(error)


def _cell(how: str, done: JointRun | str, **planned: int) -> dict[str, Any]:
    """The cell of a run, or the reason why there is none. `planned`: the fields of the schedule."""
    if isinstance(done, str):
        return {"how": how, **planned, "not_simulated": done}
    counts = {name: getattr(done, name) for name in ("contention_cycles", "late", "data_ok", "wrong")}
    ended = {} if done.stall else {"simulated_cycles": done.cycles, "ends": dict(done.ends or {})}
    return {"how": how, **planned, **ended, **counts, "early": list(done.early), "stall": list(done.stall)}
