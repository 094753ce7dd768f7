"""Schedules with fine slots, run cycle by cycle in plain Python, and such schedules, drawn.

It shares nothing with `certree.verify` and `certree.models.fine.slots` but the columns of a schedule and the fields of a machine. A
repeating schedule is run for MANY iterations, of which the one in the middle is looked at.
"""

from collections import Counter
from dataclasses import replace
from random import Random

import numpy as np

from certree.models.machine.machine import load_machine
from certree.models.network.routing import DIRECT
from certree.models.network.spec import parse_topology
from certree.models.schedule.collective import Collective
from certree.models.schedule.made_for import MadeFor
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.schedule_columns import NO_ROOT
from tests.verify.build import COPY, REDUCE, build, network
from tests.verify.moved import digits, start_and_end

MANY = 13
MACHINE = replace(
    load_machine("multitree"), name="small", flit_bytes=8, head_flits=1, link_latency_cycles=3, router_cycles=1, ni_cycles=1,
    reduce_bytes_per_cycle=4, reduce_quantum_cycles=1, reduce_start_cycles=2, vc_buffer_flits=3,
)  # fmt: skip


#: a line of three nodes; two links lead from the first to the second, and two, of which one has two lanes, back
PARALLEL = network(
    "eee", [(0, 1, 1), (0, 1, 1), (1, 0, 1), (1, 0, 2), (1, 2, 1), (2, 1, 1)],
)  # fmt: skip


def fault(schedule: Schedule) -> str | None:
    """The first thing that is wrong with a schedule whose transfers have links; None if all is right."""
    machine, period = schedule.made_for.machine, (schedule.period or 0) * schedule.slot_cycles
    many = MANY if schedule.repeats > 1 else 1
    granules = -(-schedule.made_for.message_bytes // (schedule.message_chunks * machine.flit_bytes))
    granules = -(-granules // schedule.repeats)
    ser = (machine.head_flits + granules) * schedule.topology.scale
    moves = [move for i in range(many) for move in _moves(schedule, i, i * period)]
    if schedule.repeats > 1 and ser > period:
        return "a message meets itself"
    wrong = _lane_fault(schedule, machine, moves, ser) or _buffer_fault(schedule, machine, moves, ser)
    return wrong or _unit_fault(schedule, machine, moves, ser, granules, period, many)


def _moves(schedule, iteration, start):
    """(iteration, row, fire, op, from, to, links) of one iteration."""
    names = ("step", "op", "src", "chunk", "src_buffer", "dst", "dst_buffer", "route")
    columns = [getattr(schedule, name) for name in names]
    rows = zip(*([0] * schedule.transfers if column is None else column.tolist() for column in columns), strict=True)
    links = list(zip(schedule.topology.src.tolist(), schedule.topology.dst.tolist(), strict=True))
    found = []
    for row, (step, op, u, c, a, v, b, route) in enumerate(rows):
        passed = [(u, v)] if route == DIRECT else [links[link] for link in schedule.routes[route]]
        waits = [0] * len(passed)
        if route != DIRECT and schedule.waits is not None:
            waits[:-1] = schedule.waits[route]
        hops = list(zip(passed, waits, strict=True)) if u != v else []
        found.append((iteration, row, start + step * schedule.slot_cycles, op, (u, c, a), (v, c, b), hops))
    return found


def _lane_fault(schedule, machine, moves, ser):
    """Every flit takes a cycle of a lane, every local transfer `ser` cycles of a copy unit."""
    room = Counter()
    for u, v, capacity in zip(schedule.topology.src, schedule.topology.dst, schedule.topology.capacity, strict=True):
        room[int(u), int(v)] += int(capacity)
    taken = Counter()
    for _, _, fire, _, (node, _, _), _, passed in moves:
        entry = fire
        for link, wait in passed or [(node, 0)]:
            taken.update((link, entry + cycle) for cycle in range(ser))
            entry += machine.link_latency_cycles + machine.router_cycles + wait
    if any(count > room.get(at[0], 1) for at, count in taken.items()):
        return "a lane is taken"
    return _choice_fault(schedule, machine, moves, ser, room)


def _choice_fault(schedule, machine, moves, ser, room):
    """A fault in the choice of parallel links: each has its lanes; who names none of them meets fewer others than there are lanes,
    if some name one."""
    links = list(zip(schedule.topology.src.tolist(), schedule.topology.dst.tolist(), strict=True))
    uses = []
    for _, row, fire, _, _, _, passed in moves:
        entry, route = fire, int(schedule.route[row])
        for hop, (pair, wait) in enumerate(passed):
            if links.count(pair) > 1:
                uses.append((pair, None if route == DIRECT else schedule.routes[route][hop], entry))
            entry += machine.link_latency_cycles + machine.router_cycles + wait
    taken = Counter((link, entry + cycle) for _, link, entry in uses if link is not None for cycle in range(ser))
    if any(count > schedule.topology.capacity[link] for (link, _), count in taken.items()):
        return "a lane of one of the parallel links is taken"
    for pair, link, entry in uses:
        met = [one for one in uses if one[0] == pair and abs(one[2] - entry) < ser]
        if link is None and len(met) > room[pair] and any(one[1] is not None for one in uses if one[0] == pair):
            return "a message may find no lane for all its time"
    return None


def _buffer_fault(schedule, machine, moves, ser):
    """A message that waits is alone in its buffer, and its flits fit in. Those without a route may come into any buffer."""
    present, named = {}, [0] if schedule.virtual_channel is None else schedule.virtual_channel.tolist()
    for iteration, row, fire, _, _, _, passed in moves:
        entry, route = fire, int(schedule.route[row])
        channels = set(named) if route == DIRECT else [named[route] if schedule.virtual_channel is not None else 0]
        for link, wait in passed:
            comes = entry + machine.link_latency_cycles + machine.router_cycles
            entry = comes + wait
            for now in range(comes, entry + ser):
                held = min(ser, now - comes + 1) - max(0, min(ser, now - entry + 1))
                if held > machine.vc_buffer_flits:
                    return "a buffer is too small"
                for channel in channels:
                    present.setdefault((link, channel, now), set()).add((iteration, row, wait > 0))
    return "a buffer is taken" if any(len(there) > 1 and any(one[2] for one in there) for there in present.values()) else None


def _unit_fault(schedule, machine, moves, ser, granules, period, many):
    """Arrivals at reduction units, first come, first served; then the data."""
    red = -(-granules * machine.flit_bytes // machine.reduce_bytes_per_cycle)
    landing, queue = {}, {}
    for iteration, row, fire, op, (u, _, _), (v, _, _), passed in moves:
        hops = len(passed)
        path = (
            machine.ni_issue_cycles
            + 2 * machine.ni_cycles
            + (hops + 1) * machine.router_cycles
            + hops * machine.link_latency_cycles
        )
        path += sum(wait for _, wait in passed)
        arrived = fire + ser + (path if u != v else 0)
        landing[iteration, row] = arrived
        if op == REDUCE:
            queue.setdefault(v, []).append((arrived + machine.reduce_start_cycles, iteration, row))
    for jobs in queue.values():
        if schedule.repeats > 1 and len(jobs) // many * red > period:
            return "a unit is overloaded"
        free, done = 0, {}
        for ready, iteration, row in sorted(jobs):
            free = max(free, ready) + red
            done[ready] = free  # the last of those that come together
            landing[iteration, row] = None
        for ready, iteration, row in jobs:
            landing[iteration, row] = done[ready]
    middle = many // 2
    mine = [(fire, landing[i, row], op, source, into) for i, row, fire, op, source, into, _ in moves if i == middle]
    return _data_fault(schedule, mine)


def _data_fault(schedule, moves):
    held, due = start_and_end(schedule)
    for fire, _, op, source, into in moves:
        if source == into:
            return "a cell sends to itself"
        for other_fire, other_lands, other_op, _, other_into in moves:
            if other_into == source and other_fire < fire < other_lands:
                return "a cell is read while something is in flight to it"
            if other_into == into and other_fire < fire < other_lands and not other_op == op == REDUCE:
                return "a copy and something else are in flight to one cell"
    copies = Counter((fire, into) for fire, _, _, _, into in moves)
    if any(op == COPY and copies[fire, into] > 1 for fire, _, op, _, into in moves):
        return "a copy and something else are sent into one cell at once"
    flying, left = [], sorted(moves)
    for now in sorted({time for fire, lands, *_ in moves for time in (fire, lands)}):
        for _, op, into, carried in [one for one in flying if one[0] == now]:
            if op == REDUCE and not held.get(into) and into[0] in schedule.topology.endpoints:
                return "a reduce lands in an empty cell"
            held[into] = carried if op == COPY else held.get(into, 0) + carried
            if any(digit > 1 for digit in digits(held[into])):
                return "a contribution is counted twice"
        for _, lands, op, source, into in [move for move in left if move[0] == now]:
            if not held.get(source):
                return "an empty cell is read"
            flying.append((lands, op, into, held[source]))
    return None if all(held.get(cell) == value for cell, value in due.items()) else "a result is wrong"


def drawn(rng: Random, *names: str) -> Schedule:
    """An all-reduce, a broadcast or a reduce along a random tree of a small network, one of `names` if there are any, over links or
    routes of two, in fine slots, repeating or not. Trees also lead to switches that reduce. Each transfer leaves when what it needs
    should have landed, or a slot or two earlier or later: many are valid, and many are not."""
    name, machine = rng.choice(names or ("ring:4", "mesh:1x3", "full:3", "switch:3", "parallel")), MACHINE
    topology = PARALLEL if name == "parallel" else parse_topology(name)
    ends, kind = topology.endpoints.tolist(), rng.choice(("all-reduce", "reduce", "broadcast"))
    slot, chunks = rng.choice((1, 1, 2, 3, 5, 8, 40)), rng.randint(1, 2)
    repeats = rng.choice((1, 1, 3))
    granules = rng.randint(1, 3)
    made_for = MadeFor(granules * chunks * repeats * machine.flit_bytes, machine)
    root, rows, paths = rng.choice(ends), [], []
    for chunk in range(chunks):
        tree = _tree(rng, topology, root)
        moves = (
            [(REDUCE, child, parent, passed) for parent, child, passed in _turned(topology, tree)] if kind != "broadcast" else []
        )
        moves += [(COPY, parent, child, passed) for parent, child, passed in tree] if kind != "reduce" else []
        ready: Counter[int] = Counter()
        for op, src, dst, passed in moves:
            hops, wait = len(passed), rng.choice((0, 0, 1, 2, 4, 9)) if len(passed) > 1 else 0
            path = 2 * machine.ni_cycles + hops * machine.link_latency_cycles + (hops + 1) * machine.router_cycles + wait
            step = max(0, -(-ready[src] // slot) + rng.choice((0, 0, 0, 0, 0, 1, 2, -1)))
            takes = machine.head_flits + granules + path + (op == REDUCE) * (machine.reduce_start_cycles + 2 * granules)
            ready[dst] = max(ready[dst], step * slot + takes + (op == REDUCE) * rng.choice((0, 2 * granules)))
            rows.append((chunk, op, step, src, dst))
            is_named = hops > 1 or (name == "parallel" and rng.random() < 0.5)
            paths.append((passed, wait, rng.randint(0, 1)) if is_named else ())
    named = tuple(dict.fromkeys(filter(None, paths)))
    steps = 1 + max(row[2] for row in rows)
    period = rng.randint(max(1, steps // 3), steps + 3) if repeats > 1 else None
    collective = Collective(kind, None if kind == "all-reduce" else root)
    return build(
        topology, collective, rows, roots=[NO_ROOT if kind == "all-reduce" else root] * chunks,
        route=[named.index(path) if path else DIRECT for path in paths], routes=tuple(passed for passed, _, _ in named),
        waits=tuple((wait,) * (len(passed) - 1) for passed, wait, _ in named), virtual_channel=[channel for _, _, channel in named],
        slot_cycles=slot, made_for=made_for, period=period, repeats=repeats,
    )  # fmt: skip


def _tree(rng, topology, root):
    """(parent, child, links from the one to the other) of a random tree over the endpoints, parents first."""
    links = list(zip(topology.src.tolist(), topology.dst.tolist(), strict=True))
    ends, holders = set(topology.endpoints.tolist()), set(np.flatnonzero(topology.holds).tolist())
    hops = [(u, v, (one,)) for one, (u, v) in enumerate(links) if {u, v} <= holders]
    for one, (u, over) in enumerate(links):
        hops += [
            (u, v, (one, two))
            for two, (other, v) in enumerate(links)
            if over == other and u != v and {u, v} <= holders and topology.forwards[over]
        ]
    reached, tree = {root}, []
    while not ends <= reached:
        parent, child, passed = rng.choice([hop for hop in hops if hop[0] in reached and hop[1] not in reached])
        reached.add(child)
        tree.append((parent, child, passed))
    while idle := reached - ends - {parent for parent, _, _ in tree}:  # switches behind which there is nothing
        reached -= idle
        tree = [edge for edge in tree if edge[1] not in idle]
    return tree


def _turned(topology, tree):
    """The tree backwards, with the links that lead back."""
    links = list(zip(topology.src.tolist(), topology.dst.tolist(), strict=True))
    return [
        (parent, child, tuple(links.index(links[link][::-1]) for link in reversed(passed)))
        for parent, child, passed in reversed(tree)
    ]


def shifted(rng: Random, schedule: Schedule) -> Schedule:
    """The schedule with a row a few slots earlier or later, another operation, or another slot length, size or period."""
    what = rng.choice(("step", "step", "step", "op", "slot", "size", "period", "wait"))
    if what == "wait" and schedule.routes:
        waits = [list(entry) for entry in schedule.waits or [[0] * (len(route) - 1) for route in schedule.routes]]
        changed = rng.choice(waits)
        changed[:] = [rng.randrange(8) for _ in changed]
        return replace(schedule, waits=tuple(map(tuple, waits)))
    if what == "slot":
        return replace(schedule, slot_cycles=max(1, schedule.slot_cycles + rng.choice((-2, -1, 1))))
    if what == "size":
        size = max(1, schedule.made_for.message_bytes + rng.choice((-16, 16, 64)))
        return replace(schedule, made_for=replace(schedule.made_for, message_bytes=size))
    if what == "period" and schedule.period:
        return replace(schedule, period=max(1, schedule.period + rng.choice((-2, -1, 1))))
    column = getattr(schedule, "op" if what == "op" else "step").copy()
    row = rng.randrange(schedule.transfers)
    if what == "op":
        column[row] = 1 - column[row]
        return replace(schedule, op=column)
    column[row] = min(schedule.steps - 1, max(0, column[row] + rng.choice((-3, -2, -1, 1, 2))))
    return replace(schedule, step=column)
