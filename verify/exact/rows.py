"""The columns of a schedule for chosen transfers (chunk, arc, step)."""

from collections import Counter
from collections.abc import Container, Iterable, Sequence
from typing import Any

import numpy as np

from certree.models.network.routing import DIRECT
from certree.models.schedule.schedule import Schedule, make_schedule
from certree.models.schedule.schedule_columns import NO_ROOT, Op
from certree.verify.exact.arcs import Arc
from certree.verify.exact.question import Question

#: (op, chunk, arc number, step) in the direction of the spreading
Row = tuple[int, int, int, int]


def schedule_of(question: Question, rows: Iterable[Row], rounds: Sequence[int]) -> Schedule:
    """The schedule of these transfers; reversed questions are reversed again: reduces, last step first."""
    arcs, turned, last = question.arcs, question.is_turned, question.steps - 1
    routes: dict[tuple[int, ...], int] = {}
    columns: dict[str, list[int]] = {name: [] for name in ("chunk", "op", "step", "src", "dst", "route")}
    room = _Room(question, rounds)
    for kind, chunk, number, step in sorted(rows, key=lambda row: (row[3], row[1], row[2])):
        arc = arcs[number]
        links = None if len(arc.pairs) == 1 and not question.slots else room.take(arc, step)
        if question.slots and links is not None:
            links = question.slots.route(arc.src, arc.dst, links)
        op, when = (int(Op.REDUCE), last - step) if turned else (kind, step)
        if turned:
            arc = arc.turned  # its pairs, and so the links, are already in the order of the transfer
        route = DIRECT if links is None else routes.setdefault(links, len(routes))
        for name, value in zip(columns, (chunk, op, when, arc.src, arc.dst, route), strict=True):
            columns[name].append(value)
    demands = [question.demands[number] for number in question.sources]
    roots = [NO_ROOT] * question.chunks if question.is_sum else [demand.source for demand in demands]
    targets = [demand.targets[0] for demand in demands] if question.collective.has_targets else None
    return make_schedule(
        question.slots.topology if question.slots else question.topology,
        question.collective,
        roots,
        {name: np.array(values, np.int8 if name == "op" else np.int32) for name, values in columns.items()},
        targets,
        routes=tuple(routes),
        rounds=list(rounds)[::-1] if turned else list(rounds),
    )


class _Room:
    """Free capacity of the parallel links of a pair in a step; multi-hop routes name their links."""

    def __init__(self, question: Question, rounds: Sequence[int]) -> None:
        topology = question.topology
        self._links: dict[int, list[tuple[int, int]]] = {}
        for link, (pair, capacity) in enumerate(zip(topology.pair_of_link.tolist(), topology.capacity.tolist(), strict=True)):
            self._links.setdefault(pair, []).append((link, capacity))
        self._rounds = rounds
        self._used: dict[tuple[int, int], int] = {}

    def take(self, arc: Arc, step: int) -> tuple[int, ...]:
        """The links of one more transfer over the arc: for each pair the first link with free capacity, or the last one."""
        chosen = []
        for pair in arc.pairs:
            links = self._links[pair]
            free = (link for link, capacity in links if self._used.get((link, step), 0) < capacity * self._rounds[step])
            link = next(free, links[-1][0])
            self._used[link, step] = self._used.get((link, step), 0) + 1
            chosen.append(link)
        return tuple(chosen)


def spread_rows(question: Question, sends: Iterable[tuple[int, int, int]]) -> list[Row]:
    """The sends (chunk, arc, step) that bring a chunk to a cell for the first time and on to a target; one for each cell.

    Sends from cells that do not hold the chunk are dropped: the remaining ones are valid or do not reach a target.
    """
    by_chunk: dict[int, list[tuple[int, int]]] = {}
    for chunk, arc, step in sends:
        by_chunk.setdefault(chunk, []).append((step, arc))
    rows: list[Row] = []
    for chunk, number in enumerate(question.sources):
        demand = question.demands[number]
        came: dict[int, tuple[int, int]] = {}
        since = {demand.source: 0}
        for step, arc in sorted(by_chunk.get(chunk, [])):
            tail, head = question.arcs[arc].src, question.arcs[arc].dst
            if since.get(tail, step + 1) <= step and head not in since:
                since[head], came[head] = step + 1, (arc, step)
        needed = set[int]()
        for target in demand.targets:
            node = target
            while node in came and node not in needed:
                needed.add(node)
                node = question.arcs[came[node][0]].src
        rows += [(int(Op.COPY), chunk, *came[node]) for node in sorted(needed)]
    return rows


def remembered_rows(question: Question, sends: Iterable[Sequence[int]], held: Container[tuple[int, ...]]) -> list[Row]:
    """The sends (chunk, arc, step) that lead to the final contents of the targets, traced back step by step through `held`: (chunk,
    cell, step). A cell may receive a dropped chunk again. RuntimeError where a cell holds a chunk that it neither held nor got."""
    arriving: dict[tuple[int, int, int], int] = {}
    for chunk, arc, step in sends:
        arriving.setdefault((chunk, question.arcs[arc].dst, step), arc)
    rows: list[Row] = []
    for chunk, number in enumerate(question.sources):
        needed = set(question.demands[number].targets)
        for step in reversed(range(question.steps)):
            before = {cell for cell in needed if (chunk, cell, step) in held}
            for cell in sorted(needed - before):
                if (chunk, cell, step) not in arriving:
                    raise RuntimeError(f"cell {cell} holds chunk {chunk} after step {step} without having got it")
                arc = arriving[chunk, cell, step]
                rows.append((int(Op.COPY), chunk, arc, step))
                before.add(question.arcs[arc].src)
            needed = before
    return rows


def most_stored(question: Question, schedule: Schedule, *, passing: bool = False) -> int:
    """The most chunks that a cell must store when a step begins, or at the end, for a valid schedule of copies.

    It stores chunks that start in it, chunks that it will send before they come again, and chunks due there; with `passing` only
    chunks that neither start in it nor are due there count. O(transfers + cells · chunks · steps).
    """
    owners = _demands_of(question, schedule)
    counted = [set(question.passing(number) if passing else question.cells) for number in range(len(question.demands))]
    came: dict[tuple[int, int], list[int]] = {}
    used: dict[tuple[int, int], list[int]] = {}
    for chunk, step, src, dst in zip(*(getattr(schedule, name).tolist() for name in ("chunk", "step", "src", "dst")), strict=True):
        came.setdefault((dst, chunk), []).append(step + 1)
        used.setdefault((src, chunk), []).append(step)
    for chunk, number in enumerate(owners):
        demand = question.demands[number]
        came.setdefault((demand.source, chunk), []).append(0)
        used.setdefault((demand.source, chunk), []).append(0)
        for target in demand.targets:
            used.setdefault((target, chunk), []).append(question.steps)
    stored: dict[tuple[int, int], set[int]] = {}
    for (cell, chunk), uses in used.items():
        for use in uses if cell in counted[owners[chunk]] else ():
            since = max(start for start in came[cell, chunk] if start <= use)
            for step in range(since, use + 1):
                stored.setdefault((cell, step), set()).add(chunk)
    return max((len(chunks) for chunks in stored.values()), default=0)


def shares_of(schedule: Schedule) -> set[int]:
    """The numbers of chunks of one root, or of one root and one target, that occur."""
    keys = list(
        zip(schedule.chunk_root.tolist(), [] if schedule.chunk_target is None else schedule.chunk_target.tolist(), strict=False)
    )
    owners: list[Any] = keys or schedule.chunk_root.tolist()
    return set(Counter(owners).values())


def asked_by(schedule: Schedule) -> tuple[Question, int] | None:
    """The question that a schedule answers, without a point of its own yet, and its number of chunks as questions count them; None
    where its chunks are not shared out equally. O(chunks)."""
    question = Question(schedule.topology, schedule.collective, 1, 1, 1)
    each = 1 if question.is_sum else len(question.demands)
    chunks = schedule.chunks // each
    if schedule.chunks % each or (not question.is_sum and shares_of(schedule) != {chunks}):
        return None
    return question, chunks


def _demands_of(question: Question, schedule: Schedule) -> list[int]:
    """The demand of every chunk of a schedule, by its root and target: a schedule may number its chunks in any order."""
    if schedule.chunk_target is None:
        of_root = {demand.source: number for number, demand in enumerate(question.demands)}
        return [of_root[root] for root in schedule.chunk_root.tolist()]
    of_ends = {(demand.source, demand.targets[0]): number for number, demand in enumerate(question.demands)}
    return [of_ends[ends] for ends in zip(schedule.chunk_root.tolist(), schedule.chunk_target.tolist(), strict=True)]
