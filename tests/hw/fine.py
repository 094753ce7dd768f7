"""Schedules with fine slots to draw from, and their runs from tables by every engine."""

from dataclasses import replace
from random import Random

from certree.hw.engines.runs import Options
from certree.hw.run import run
from certree.models.fine.slots import fine_times
from certree.models.schedule.made_for import MadeFor
from certree.models.schedule.schedule import Schedule
from certree.models.tables.tables import Tables
from certree.verify.checker import verify_schedule
from tests.hw.engines.reference import ReferenceMachine
from tests.verify.build import REDUCE, build
from tests.verify.fine_moved import MACHINE, drawn

ROOMY = replace(MACHINE, name="roomy", vc_buffer_flits=64)


def without_waits(rng: Random) -> Schedule | None:
    """A drawn schedule (tests.verify.fine_moved) that never waits at a router; None where it is invalid."""
    made = drawn(rng)
    made = replace(made, waits=None, made_for=replace(made.made_for, machine=ROOMY))
    return made if verify_schedule(made).valid else None


def into_one(rng: Random) -> Schedule:
    """A reduce on a switch: the others send to the root in any cycle, and wait at the switch for those that came before, or came
    at the same time from a lower node."""
    nodes, granules = rng.randint(3, 6), rng.randint(1, 4)
    others, ser = [node for node in range(nodes) if node], MACHINE.head_flits + granules
    fire, free, waits = {node: rng.randrange(12) for node in others}, 0, {}
    for node in sorted(others, key=lambda node: (fire[node], node)):
        waits[node] = max(0, free - fire[node])
        free = max(free, fire[node]) + ser
    rows = sorted((0, REDUCE, fire[node], node, 0) for node in others)
    made = build(f"switch:{nodes}", "reduce", rows, roots=[0], collective_root=0)
    link = {ends: number for number, ends in enumerate(zip(made.topology.src.tolist(), made.topology.dst.tolist(), strict=True))}
    return replace(
        made, route=range(len(rows)), routes=[(link[row[3], nodes], link[nodes, 0]) for row in rows],
        waits=tuple((waits[row[3]],) for row in rows), slot_cycles=1, made_for=MadeFor(granules * MACHINE.flit_bytes, ROOMY),
    )  # fmt: skip


def takes_its_closed_form(tables: Tables) -> None:
    """The reference and the engines that can take the closed form to the cycle: no row is late, no message waits but as planned."""
    cycles = fine_times(tables.schedule).cycles
    reference = ReferenceMachine(tables).run()
    assert (reference.cycles, reference.late, reference.data_ok) == (cycles, 0, True)
    for engine in ("fast", "lanes", "flit") if tables.waits is None else ("fast", "lanes"):
        done = run(tables, Options(engine=engine, without_routers=engine != "flit"))
        assert (done.cycles, done.closed_form_cycles, done.late, done.data_ok) == (cycles, cycles, 0, True), engine
        assert done.contention_cycles == reference.contention_cycles
        assert tables.waits is not None or not done.contention_cycles
