"""Drawn schedules of every form, some of them changed in a place or two: half of them or so are wrong."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from random import Random
from typing import Any

import numpy as np

from certree.models.common.errors import CertreeError
from certree.models.network.action import Action
from certree.models.network.topology import Topology
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.symmetric.symmetric_schedule import AnySchedule, SymmetricSchedule
from tests.extras.opinion.on_trees import drawn_on_trees
from tests.fuzz.forms import FORMS
from tests.verify import fine_moved, moved

_ROWS = ("chunk", "op", "step", "src", "dst", "route", "src_buffer", "dst_buffer")


@cache
def _made(name: str) -> AnySchedule:
    return FORMS[name]()


#: what schedules are drawn from, by name
SOURCES: dict[str, Callable[[Random], AnySchedule]] = {
    "drawn-buffers": moved.drawn,
    "drawn-members": moved.drawn_among_members,
    "drawn-demand": moved.drawn_demand,
    "drawn-fine": fine_moved.drawn,
    "drawn-trees": drawn_on_trees,
    **{name: (lambda rng, name=name: _made(name)) for name in sorted(FORMS)},
}


def drawn(source: str, seed: int) -> AnySchedule:
    """A schedule from that source; three in four are changed in up to three places."""
    rng = Random(seed)
    schedule = SOURCES[source](rng)
    for _ in range(rng.choice((0, 1, 1, 3))):
        schedule = _changed(rng, schedule)
    return schedule


def _changed(rng: Random, schedule: AnySchedule) -> AnySchedule:
    """The schedule with a change that its constructor allows."""
    while True:
        try:
            if not isinstance(schedule, SymmetricSchedule):
                return rng.choice(_CHANGES)(rng, schedule)
            if rng.random() < 0.8:
                base = rng.choice(_CHANGES)(rng, schedule.base)
                return replace(schedule, base=base, made_for=base.made_for, certificate=None)
            moves = schedule.action.moves.copy()
            i, j = rng.sample(range(schedule.nodes), 2)
            moves[0, [i, j]] = moves[0, [j, i]]
            return replace(schedule, action=Action(moves), certificate=None)
        except (CertreeError, AttributeError, ValueError, IndexError, TypeError):
            continue


def _remade(schedule: Schedule, **fields: Any) -> Schedule:
    return replace(schedule, certificate=None, **fields)


def _entry(rng: Random, schedule: Schedule) -> Schedule:
    """Another entry in a row."""
    name = rng.choice(schedule.columns)
    column = getattr(schedule, name).copy()
    row = rng.randrange(len(column))
    high = {"chunk": schedule.chunks, "op": 2, "step": schedule.steps, "route": len(schedule.routes)}.get(name)
    if high is None:
        high = schedule.buffers if "buffer" in name else len(schedule.topology.kind)
    column[row] = rng.randrange(-1 if name == "route" else 0, high)
    return _remade(schedule, **{name: column})


def _later(rng: Random, schedule: Schedule) -> Schedule:
    """A row a little earlier or later, or all rows of a chunk, or from a step on."""
    step = schedule.step.copy()
    rows = rng.choice((
        np.arange(len(step)) == rng.randrange(len(step)),
        schedule.chunk == rng.randrange(schedule.chunks),
        step >= rng.randrange(schedule.steps),
    ))  # fmt: skip
    step[rows] += rng.choice((-3, -2, -1, -1, 1, 1, 2, 5, 17))
    more = max(0, int(step.max()) + 1 - schedule.steps)
    return _remade(schedule, step=step, rounds=[*schedule.rounds.tolist(), *[1] * more])


def _swapped(rng: Random, schedule: Schedule) -> Schedule:
    """Two rows with each other's entry."""
    name = rng.choice(schedule.columns)
    column = getattr(schedule, name).copy()
    i, j = rng.sample(range(len(column)), 2)
    column[[i, j]] = column[[j, i]]
    return _remade(schedule, **{name: column})


def _fewer_or_more(rng: Random, schedule: Schedule) -> Schedule:
    """Without a row, or with one twice."""
    rows = list(range(schedule.transfers))
    row = rng.randrange(len(rows))
    rows = [*rows[:row], *rows[row + 1 :]] if rng.random() < 0.5 else [*rows, row]
    return _remade(schedule, **{name: getattr(schedule, name)[rows] for name in schedule.columns})


def _whole(rng: Random, schedule: Schedule) -> Schedule:
    """Another delay, period, number of repeats or of buffers, length of a step or of a slot."""
    rounds = schedule.rounds.copy()
    rounds[rng.randrange(len(rounds))] += rng.choice((-1, 1))
    changes: tuple[dict[str, Any], ...] = (
        {"delay": schedule.delay + rng.choice((-1, 1))},
        {"repeats": rng.randint(1, 4)},
        {"period": (schedule.period or schedule.steps) + rng.choice((-2, -1, 0, 1)), "repeats": rng.randint(1, 4)},
        {"rounds": rounds},
        {"buffers": schedule.buffers + 1},
        {"slot_cycles": (schedule.slot_cycles or 0) + rng.choice((-1, 1))} if schedule.slot_cycles else {"delay": 2},
    )
    return _remade(schedule, **rng.choice(changes))


def _given(rng: Random, schedule: Schedule) -> Schedule:
    """Another root, target, size of a chunk, virtual channel, planned wait, or size of the message."""
    name = rng.choice(("chunk_root", "chunk_target", "chunk_granules", "virtual_channel", "waits", "made_for"))
    if name == "made_for":
        field = rng.choice(("link_latency_cycles", "router_cycles", "reduce_start_cycles", "vc_buffer_flits", "ni_cycles"))
        machine = replace(schedule.made_for.machine, **{field: rng.randint(1, 20)})
        size = max(1, schedule.made_for.message_bytes + rng.randint(-99, 99))
        return _remade(schedule, made_for=replace(schedule.made_for, machine=machine, message_bytes=size))
    if name == "waits":
        waits = [list(one) for one in (schedule.waits or [[0] * (len(route) - 1) for route in schedule.routes])]
        rng.choice([one for one in waits if one])[0] = rng.randrange(6)
        return _remade(schedule, waits=tuple(map(tuple, waits)))
    column = getattr(schedule, name)
    column = np.zeros(len(schedule.routes), np.int32) if column is None and name == "virtual_channel" else column.copy()
    column[rng.randrange(len(column))] = rng.randrange(len(schedule.topology.kind))
    return _remade(schedule, **{name: column})


def _network(rng: Random, schedule: Schedule) -> Schedule:
    """A link of another capacity or latency, doubled, or a switch that adds or no longer does."""
    topology = schedule.topology
    links = len(topology.src)
    columns = {name: getattr(topology, name).copy() for name in ("src", "dst", "capacity", "latency")}
    reducing, link, what = topology.reducing.copy(), rng.randrange(links), rng.randrange(4)
    if what == 0:
        columns["capacity"][link] = rng.randint(1, 3)
    elif what == 1:
        columns["latency"][link] = rng.randint(0, 9)
    elif what == 2:
        columns = {name: np.concatenate((column, column[link : link + 1])) for name, column in columns.items()}
    else:
        reducing ^= topology.kind == 1
    changed = Topology(topology.name, topology.kind, reducing=reducing, scale=topology.scale, **columns)
    return _remade(schedule, topology=changed)


_CHANGES = (_entry, _entry, _later, _later, _swapped, _fewer_or_more, _whole, _given, _network)
