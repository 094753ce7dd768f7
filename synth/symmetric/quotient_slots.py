"""Slots for the transfers of box 0, from which the group makes all others, and the schedule of all of them.

In a step each link carries the images of all transfers that pass it or one of its images. So the transfers of box 0 are scheduled
on a network whose links are the orbits of the group, and no link of the whole network is overfull. A transfer between boxes needs
one port out of a place and one into it; as the images join each box to one other, no two of them meet, and slots are filled one by
one without gaps, where schedules of single boxes would need a matching in every step.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree.models.common.columns import flat, ranges
from certree.models.network.routing import DIRECT
from certree.models.network.topology import Int32
from certree.models.schedule.collective import Collective
from certree.models.schedule.schedule import Schedule, make_schedule
from certree.models.schedule.schedule_columns import NO_ROOT, Op
from certree.synth import _native
from certree.synth.packing.slotting import SlotRules
from certree.synth.phases import links_back
from certree.synth.symmetric.box_symmetry import Boxes
from certree.synth.symmetric.box_trees import Path, Rows


@dataclass(frozen=True, eq=False)
class Quotient:
    """The transfers of the chunks of box 0, one row each: `chunk`, `op`, `src`, `dst`, `path` (of `paths`, which are for box 0) and
    `box`, whose element takes the path there. `before`, `after`: row after[i] needs what row before[i] brings."""

    boxes: Boxes
    collective: Collective
    chunks: int
    paths: tuple[Path, ...]
    chunk: NDArray[np.int64]
    op: NDArray[np.int8]
    src: NDArray[np.int64]
    dst: NDArray[np.int64]
    path: NDArray[np.int64]
    box: NDArray[np.int64]
    before: NDArray[np.int64]
    after: NDArray[np.int64]

    @property
    def all_chunks(self) -> int:
        """K, of all boxes."""
        return self.chunks * self.boxes.count

    @cached_property
    def _routes(self) -> tuple[Int32, Int32]:
        """(offset, orbits): those of row i are orbits[offset[i] : offset[i + 1]]."""
        links, begin = flat(self.paths)
        count = np.diff(begin)[self.path]
        taken = links[ranges(begin[self.path], count)[1]]
        return np.concatenate(([0], np.cumsum(count))).astype(np.int32), self.boxes.orbit[taken].astype(np.int32)

    @cached_property
    def rounds(self) -> Fraction:
        """The number of rounds of one iteration, as far as links decide: the transfers on the fullest one over its capacity."""
        uses = np.bincount(self._routes[1], minlength=len(self.boxes.orbit))
        busy = np.flatnonzero(uses)
        if (self.boxes.capacity[busy] == 0).any():
            return Fraction(1 << 30)  # a link that cannot take all images of one transfer at once
        return max(Fraction(int(uses[link]), int(self.boxes.capacity[link])) for link in busy.tolist())

    @cached_property
    def longest(self) -> int:
        """The number of links of the longest path."""
        return max(map(len, self.paths))

    @cached_property
    def spread(self) -> int:
        """The largest difference in the number of links that two transfers pass before a common link. O(hops)."""
        offset, routes = self._routes
        place = ranges(0, np.diff(offset))[1]
        last = np.zeros(len(self.boxes.orbit), np.int64)
        np.maximum.at(last, routes, place)
        first = last.copy()
        np.minimum.at(first, routes, place)
        return int((last - first).max())

    def slots(self, rules: SlotRules, seed: int) -> Int32 | None:
        """The slot of every row; None where none are found. Reduces without copies are scheduled backwards, as copies would be.
        O(rows + hops)."""
        offset, routes = self._routes
        backwards = not self.collective.gathers
        before, after = (self.after, self.before) if backwards else (self.before, self.after)
        order = np.argsort(before, kind="stable")
        found, _ = _native.schedule_jobs(
            link_offset=offset,
            link=routes,
            reducer=np.where(self.op == Op.REDUCE, self.boxes.place[self.dst], -1).astype(np.int32),
            group=self.chunk.astype(np.int32),
            successor_offset=np.searchsorted(before[order], np.arange(len(self.chunk) + 1)).astype(np.int32),
            successor=after[order].astype(np.int32),
            capacity=np.minimum(self.boxes.capacity, len(self.chunk)),
            reducers=len(self.boxes.place),
            delay=rules.delay,
            period=rules.period or 0,
            reductions=0,
            tries=1,
            work=4 * len(self.chunk),
            stagger=0,
            seed=seed,
            turn=np.zeros(0, np.int32),
        )
        if not len(found):
            return None
        return found.max() - found if backwards else found

    def schedule(self, slots: Int32, rules: SlotRules, repeats: int, provenance: Mapping[str, Any]) -> Schedule:
        """All transfers. Chunk c of box b is number c · boxes + b. O(boxes · rows)."""
        boxes, images = self.boxes, self.boxes.images
        count, rows = boxes.count, len(self.chunk)
        element = np.arange(count)
        chunk = self.chunk[:, None] * count + element
        root = images[:, : boxes.places].T[np.arange(self.chunks) % boxes.places]
        taken = images[:, : count * boxes.places : boxes.places] // boxes.places  # where element e takes box b: taken[e, b]
        lengths = np.array([len(path) for path in self.paths])
        far = np.flatnonzero(lengths > 1)
        number = np.full(len(self.paths), DIRECT, np.int64)
        number[far] = count * np.arange(len(far))
        route = np.where(number[self.path][:, None] == DIRECT, DIRECT, number[self.path][:, None] + taken[:, self.box].T)
        routes = [tuple(row) for path in far for row in boxes.link_images[:, list(self.paths[path])].tolist()]
        columns: dict[str, NDArray[Any]] = {
            "chunk": chunk.ravel().astype(np.int32),
            "op": np.repeat(self.op, count),
            "step": np.repeat(slots, count).astype(np.int32),
            "src": images[:, self.src].T.ravel().astype(np.int32),
            "dst": images[:, self.dst].T.ravel().astype(np.int32),
            "route": route.ravel().astype(np.int32),
        }
        assert rows * count == len(columns["chunk"])
        return make_schedule(
            boxes.topology,
            self.collective,
            root.ravel() if self.collective.is_rooted else np.full(self.all_chunks, NO_ROOT, np.int32),
            columns,
            routes=routes,
            delay=rules.delay,
            period=rules.period if repeats > 1 else None,
            repeats=repeats,
            provenance=provenance,
        )


def quotient_of(boxes: Boxes, collective: Collective, rows: Rows, chunks: int) -> Quotient | None:
    """The transfers of a collective along the trees of an all-gather: reduces backwards along them, then copies; None where a
    reduce finds no link back. O(rows + the square of the root's degree for each chunk)."""
    back = links_back(boxes.topology)
    if collective.reduces and back is None:
        return None
    chunk, src, dst, brought, path, box = (
        np.array(column, np.int64) for column in (rows.chunk, rows.src, rows.dst, rows.before, rows.path, rows.box)
    )
    size = len(chunk)
    paths, parts, links = list(rows.paths), [], []
    if collective.reduces:
        assert back is not None
        first = len(paths) if collective.gathers else 0
        turned = [tuple(int(back[link]) for link in reversed(one)) for one in rows.paths]
        paths = [*paths, *turned] if collective.gathers else turned
        parts.append((np.full(size, Op.REDUCE, np.int8), chunk, dst, src, path + first, box))
        inner = np.flatnonzero(brought >= 0)
        links.append((inner, brought[inner]))  # the reduce from a child comes before the one that its parent sends on
    if collective.gathers:
        start = size if collective.reduces else 0
        parts.append((np.full(size, Op.COPY, np.int8), chunk, src, dst, path, box))
        inner = np.flatnonzero(brought >= 0)
        links.append((start + brought[inner], start + inner))
        if start:
            links.append(_across(chunk, brought, start))
    columns = [np.concatenate(column) for column in zip(*parts, strict=True)]
    before, after = (np.concatenate(column) for column in zip(*links, strict=True))
    op, chunk, src, dst, path, box = columns
    return Quotient(boxes, collective, chunks, tuple(paths), chunk, op, src, dst, path, box, before, after)


def _across(chunk: NDArray[np.int64], brought: NDArray[np.int64], start: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Every reduce into a root comes before every copy out of it."""
    at_root = np.flatnonzero(brought < 0)
    before, after = [], []
    for own in np.split(at_root, np.flatnonzero(np.diff(chunk[at_root])) + 1):
        before.append(np.repeat(own, len(own)))
        after.append(np.tile(start + own, len(own)))
    return np.concatenate(before), np.concatenate(after)
