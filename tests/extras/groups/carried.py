"""An executor of schedules for groups that knows nothing of the checker: values land, are added or overwrite, and are compared."""

from collections import Counter
from random import Random

import numpy as np

from certree.models.network.topology import NodeKind
from certree.models.schedule.collective import CollectiveKind
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.schedule_columns import Op


def run_with_values(schedule: Schedule) -> None:
    """Run one iteration with a drawn number for each contribution; AssertionError where a node sends what it does not have, adds to
    nothing, a link is overfilled, or a member ends with another number than is due."""
    kind, members = schedule.collective.kind, schedule.collective.members_of(schedule.topology).tolist()
    draws = Random(5)
    reduces = kind in (CollectiveKind.ALL_REDUCE, CollectiveKind.REDUCE, CollectiveKind.REDUCE_SCATTER)
    own = {(node, chunk): draws.getrandbits(80) for chunk in range(schedule.chunks) for node in members}
    root = schedule.chunk_root.tolist()
    held = {cell: value for cell, value in own.items() if reduces or root[cell[1]] == cell[0]}
    _require_room(schedule)
    names = ("step", "chunk", "op", "src", "dst")
    rows = sorted(zip(*(getattr(schedule, name).tolist() for name in names), strict=True))
    under_way: list[tuple[int, int, int, int, int]] = []  # (step of use, chunk, op, node, value)
    for step in range(schedule.steps + schedule.delay + 1):
        for landing in sorted(one for one in under_way if one[0] == step):
            _, chunk, op, node, value = landing
            adds_to_nothing = schedule.topology.kind[node] == NodeKind.SWITCH and (node, chunk) not in held  # as switches may
            if op == Op.REDUCE and not adds_to_nothing:
                assert (node, chunk) in held, f"node {node} adds chunk {chunk} to nothing"
                value += held[node, chunk]
            held[node, chunk] = value
        for _, chunk, op, src, dst in (row for row in rows if row[0] == step):
            assert (src, chunk) in held, f"node {src} sends chunk {chunk} that it does not have"
            under_way.append((step + schedule.delay, chunk, op, dst, held[src, chunk]))
    for chunk in range(schedule.chunks):
        due = sum(own[node, chunk] for node in members) if reduces else own[root[chunk], chunk]
        ends = [root[chunk]] if kind in (CollectiveKind.REDUCE, CollectiveKind.REDUCE_SCATTER) else members
        assert all(held[node, chunk] == due for node in ends), f"chunk {chunk}"


def _require_room(schedule: Schedule) -> None:
    """Links have room in every step, or with a period in every step modulo it; routes lead from their source to their target."""
    topology, load = schedule.topology, Counter[tuple[int, ...]]()
    src, dst = topology.src.tolist(), topology.dst.tolist()
    for row in range(schedule.transfers):
        step = int(schedule.step[row])
        slot = step % schedule.period if schedule.period and schedule.repeats > 1 else step
        here, there = int(schedule.src[row]), int(schedule.dst[row])
        if schedule.route[row] < 0:
            load[slot, here, there] += 1
            continue
        for link in schedule.routes[schedule.route[row]]:
            assert src[link] == here
            load[slot, src[link], dst[link]] += 1
            here = dst[link]
            assert here == there or topology.is_direct or topology.kind[here] == NodeKind.SWITCH
        assert here == there
    pairs = zip(topology.pair_src.tolist(), topology.pair_dst.tolist(), topology.pair_capacity.tolist(), strict=True)
    room = {(tail, head): capacity for tail, head, capacity in pairs}
    assert all(amount <= room[key[1:]] for key, amount in load.items())


def relays_of(schedule: Schedule) -> set[int]:
    """Endpoints that take no part at which transfers start or end."""
    touched = np.union1d(schedule.src, schedule.dst)
    ends = touched[schedule.topology.kind[touched] == NodeKind.ENDPOINT]
    return {*ends.tolist()} - {*schedule.collective.members_of(schedule.topology).tolist()}
