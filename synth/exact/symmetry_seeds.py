"""Schedules from symmetries: neighbours that swap sums, images of a schedule side by side; some chunks of a schedule."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from certree.models.network.routing import DIRECT
from certree.models.network.topology import Topology
from certree.models.schedule.collective import Collective, CollectiveKind
from certree.models.schedule.schedule import Schedule, make_schedule
from certree.models.schedule.schedule_columns import NO_ROOT, Op
from certree.synth.symmetric.symmetry import Permutation, automorphisms

MAX_TRIES = 20_000  # images that are looked at for one schedule
MAX_IMAGES = 512
LOOKS = 100_000  # for symmetries


def with_chunks(schedule: Schedule, chunks: int) -> Schedule:
    """The first chunks of an all-reduce alone; its steps are as they were."""
    rows = np.flatnonzero(schedule.chunk < chunks)
    columns: dict[str, Any] = {name: getattr(schedule, name)[rows] for name in ("chunk", "op", "step", "src", "dst", "route")}
    return replace(schedule, chunk_root=schedule.chunk_root[:chunks], certificate=None, **columns)


def swaps(topology: Topology) -> Iterator[Schedule]:
    """All-reduces in which neighbours swap sums in each step, as some symmetries pair them; none where none are found that do.

    The symmetries are their own inverses, may be applied in any order, and lead from any endpoint to all others. The first schedule
    takes a step for each. In the others one, two or more of them *fold* the network first: half of the endpoints send their sum to
    the other half, which go on alone, and get the whole sum last. Each fold takes one more step, and halves the links loaded in
    each step.
    """
    chosen = _pairings(topology)
    place = {int(topology.endpoints[0]): 0}  # bit i: whether the i-th symmetry leads there
    for bit, image in enumerate(chosen):
        place |= {image[node]: number | 1 << bit for node, number in place.items()}
    for folded in range(len(chosen)):
        rows: list[tuple[int, int, int, int]] = []
        for step in range(len(chosen) + folded):
            back = step - len(chosen)  # of the copies of the whole sum, that of the symmetry that folded last comes first
            bit = step if back < 0 else folded - 1 - back
            for node, number in place.items():
                if bit < folded:
                    low = number & ((1 << bit) - 1)
                    goes = low == 0 and bool(number >> bit & 1) == (back < 0)
                else:
                    goes = number & ((1 << folded) - 1) == 0
                if goes:
                    rows.append((int(Op.REDUCE if back < 0 else Op.COPY), step, node, chosen[bit][node]))
        op, step_, src, dst = np.array(rows, np.int32).T
        columns: dict[str, Any] = {
            "chunk": np.zeros(len(rows), np.int32),
            "op": op.astype(np.int8),
            "step": step_,
            "src": src,
            "dst": dst,
        }
        yield make_schedule(topology, Collective(CollectiveKind.ALL_REDUCE), [NO_ROOT], columns)


def _pairings(topology: Topology) -> list[Permutation]:
    """Symmetries that pair all endpoints with neighbours, may be applied in any order, and lead from any endpoint to all others; an
    empty list where they were not found."""
    ends = topology.endpoints.tolist()
    pairings = [
        image
        for image in (automorphisms(topology, LOOKS) if topology.is_direct else [])
        if all(image[image[node]] == node for node in ends)
        and (topology.pair_index(np.array(ends), np.array(image)[ends]) >= 0).all()
    ]
    stack: list[tuple[list[Permutation], set[int]]] = [([], {ends[0]})]
    while stack:
        chosen, reached = stack.pop()
        if len(reached) == len(ends):
            return chosen
        for image in pairings:
            more = {image[node] for node in reached}
            if reached.isdisjoint(more) and all(image[one[node]] == one[image[node]] for one in chosen for node in ends):
                stack.append(([*chosen, image], reached | more))
    return []


def side_by_side(schedule: Schedule, most_chunks: int) -> Iterator[Schedule]:
    """Yield schedules made of an all-reduce and its images under automorphisms of the network, in the same steps and rounds: one
    for each number of images that is found to fit on the links, with up to `most_chunks` chunks in all. Nothing for schedules with
    routes. O(MAX_TRIES · pairs · steps).
    """
    if 2 * schedule.chunks > most_chunks or (schedule.route != DIRECT).any() or schedule.buffers > 1:
        return
    topology = schedule.topology
    images = automorphisms(topology, LOOKS)[:MAX_IMAGES]
    pair = topology.pair_index(schedule.src, schedule.dst)
    room = topology.pair_capacity[None, :] * schedule.rounds[:, None].astype(np.int64)
    ends = topology.pair_src, topology.pair_dst
    loads = []
    for image in images:
        moved = np.array(image)
        load = np.zeros(room.shape, np.int64)
        np.add.at(load, (schedule.step, topology.pair_index(*(moved[end] for end in ends))[pair]), 1)
        loads.append(load)
    best: list[int] = []
    tries = MAX_TRIES
    stack: list[list[int]] = [[0]]
    while stack and tries > 0:
        chosen = stack.pop()
        if len(chosen) > len(best):
            best = chosen
        if (len(best) + 1) * schedule.chunks > most_chunks:
            break
        left = room - sum(loads[one] for one in chosen)
        tries -= len(images) - chosen[-1]
        stack += [[*chosen, one] for one in range(len(images) - 1, chosen[-1], -1) if (loads[one] <= left).all()]
    for count in range(2, len(best) + 1):
        yield _together(schedule, [images[one] for one in best[:count]])


def _together(schedule: Schedule, images: list[Permutation]) -> Schedule:
    """These images as one schedule."""
    moved, number = np.array(images, np.int32), np.arange(len(images), dtype=np.int32)
    columns: dict[str, Any] = {name: np.tile(getattr(schedule, name), len(images)) for name in ("op", "step", "route")}
    columns |= {name: moved[:, getattr(schedule, name)].ravel() for name in ("src", "dst")}
    columns["chunk"] = (schedule.chunk[None, :] + schedule.chunks * number[:, None]).astype(np.int32).ravel()
    return replace(schedule, chunk_root=np.tile(schedule.chunk_root, len(images)), certificate=None, **columns)
