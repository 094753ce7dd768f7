"""Schedules from symmetries: neighbours that swap sums, images of a schedule side by side; and what is left without some chunks."""

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


def swaps(topology: Topology) -> Schedule | None:
    """An all-reduce in which neighbours swap sums in each step, as some symmetries pair them; None where none are found that do.

    The symmetries are their own inverses, may be applied in any order, and lead from any endpoint to all others.
    """
    ends = topology.endpoints.tolist()
    pairings = [
        image
        for image in (automorphisms(topology, LOOKS) if topology.is_direct else [])
        if all(image[image[node]] == node for node in ends)
        and (topology.pair_index(np.array(ends), np.array(image)[ends]) >= 0).all()
    ]
    stack: list[tuple[list[Permutation], set[int]]] = [([], {ends[0]})]
    chosen, reached = stack[0]
    while stack and len(reached) < len(ends):
        chosen, reached = stack.pop()
        for image in pairings:
            more = {image[node] for node in reached}
            if reached.isdisjoint(more) and all(image[one[node]] == one[image[node]] for one in chosen for node in ends):
                stack.append(([*chosen, image], reached | more))
    if len(reached) < len(ends):
        return None
    steps = len(chosen)
    columns: dict[str, Any] = {
        "chunk": np.zeros(steps * len(ends), np.int32),
        "op": np.full(steps * len(ends), Op.REDUCE, np.int8),
        "step": np.repeat(np.arange(steps, dtype=np.int32), len(ends)),
        "src": np.tile(ends, steps),
        "dst": np.array(chosen)[:, ends].ravel(),
    }
    return make_schedule(topology, Collective(CollectiveKind.ALL_REDUCE), [NO_ROOT], columns)


def side_by_side(schedule: Schedule, most_chunks: int) -> Iterator[Schedule]:
    """An all-reduce and its images under automorphisms of the network as one, in the same steps and rounds: for each number of them
    that fits on the links and has up to that many chunks in all, as far as found. None for routes. O(MAX_TRIES · pairs · steps).
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
