"""Loads of links: routes, what the collective has in chunks, and loads in steps of rounds."""

from collections import Counter
from itertools import pairwise

from certree.extras.opinion.check.plain_schedule import Plain, Row, WrongError
from certree.models.schedule.collective import CollectiveKind

Pair = tuple[int, int]
#: a link by its number, or all links from a node to another one
Place = int | Pair


def check_rows(plain: Plain) -> None:
    """Every transfer has two ends, and links from one to the other (`self`, `link`)."""
    joined = {(src, dst) for src, dst, _, _ in plain.links}
    for row in plain.rows:
        if row.is_local and row.reads == row.writes:
            raise WrongError("self", f"{row} ends where it starts", row.step)
        if reason := _wrong_end(plain, row) or _wrong_route(plain, row, joined):
            raise WrongError("link", f"{row} {reason}", row.step)


def _wrong_end(plain: Plain, row: Row) -> str | None:
    for node, buffer in ((row.src, row.reads), (row.dst, row.writes)):
        if not plain.holds[node]:
            return f"has an end at node {node}, which holds nothing"
        if buffer and not plain.is_endpoint[node]:
            return f"names buffer {buffer} of node {node}, a switch with one accumulator"
    return None


def _wrong_route(plain: Plain, row: Row, joined: set[Pair]) -> str | None:
    """The faults of a route, which must be a chain from source to destination that visits no node twice, through nodes that
    forward."""
    if row.is_local:
        return "has a route within its node" if row.links else None
    if row.links is None:
        return None if (row.src, row.dst) in joined else "has no link"
    ends = [plain.links[link][:2] for link in row.links]
    if ends[0][0] != row.src or ends[-1][1] != row.dst:
        return "has a route that leads elsewhere"
    if any(here[1] != there[0] for here, there in pairwise(ends)):
        return "has a route with a gap"
    inner = [dst for _, dst in ends[:-1]]
    if len({row.src, row.dst, *inner}) < len(inner) + 2:
        return "has a route that visits a node twice"
    blocked = [node for node in inner if not plain.forwards[node]]
    return f"has a route through node {blocked[0]}, which does not forward" if blocked else None


def check_shares(plain: Plain) -> None:
    """In all-to-all, gather and scatter blocks have equally many chunks (`shares`), or the granules of the demand (`demand`)."""
    if plain.target is None:
        return
    collective = plain.schedule.collective
    found: Counter[Pair] = Counter()
    for root, target, granules in zip(plain.root, plain.target, plain.granules, strict=True):
        found[root, target] += granules
    if collective.demand is not None:
        needed = {(src, dst): granules for src, dst, granules in collective.demand.blocks}
        for pair in sorted(needed.keys() | found.keys()):
            if found[pair] != needed.get(pair, 0):
                raise WrongError(
                    "demand", f"chunks from {pair[0]} to {pair[1]} have {found[pair]} granules, not {needed.get(pair, 0)}"
                )
        return
    sources, targets = plain.members, plain.members
    if collective.root is not None:
        sources, targets = (
            (sources, [collective.root]) if collective.kind is CollectiveKind.GATHER else ([collective.root], targets)
        )
    blocks = [found.pop((src, dst), 0) for src in sources for dst in targets if src != dst]
    if found:
        raise WrongError("shares", f"chunk from {min(found)[0]} to {min(found)[1]}, which have no block for each other")
    if len(set(blocks)) > 1 or not blocks[0]:
        raise WrongError("shares", f"blocks have from {min(blocks)} to {max(blocks)} chunks; all have equally many")


def rooms(plain: Plain) -> Counter[Place]:
    """Chunks that each link, by its number, and each pair of nodes carries in a round."""
    found: Counter[Place] = Counter()
    for number, (src, dst, capacity, _) in enumerate(plain.links):
        found[number] = capacity
        found[src, dst] += capacity
    return found


def passed(plain: Plain, row: Row) -> list[tuple[Pair, int | None]]:
    """The pairs of nodes that a transfer passes, and the link between them that its route names."""
    return [((row.src, row.dst), None)] if row.links is None else [(plain.links[link][:2], link) for link in row.links]


def check_loads(plain: Plain) -> None:
    """In no step does a link carry more than its capacity times the rounds of the step (`capacity`; `period`, where only iterations
    together do)."""
    room = rooms(plain)
    load: dict[tuple[int, Place], list[tuple[Row, int]]] = {}
    for row in plain.rows:
        if row.is_local:
            continue
        rounds = plain.rounds[row.step]
        if plain.granules[row.chunk] > rounds:
            raise WrongError("capacity", f"{row} has {plain.granules[row.chunk]} granules in a step of {rounds} rounds", row.step)
        for iteration in range(plain.iterations):
            step = row.step + iteration * (plain.base.period or 0)
            for place in (place for hop in passed(plain, row) for place in hop if place is not None):
                load.setdefault((step, place), []).append((row, iteration))
    for (step, place), there in sorted(load.items(), key=lambda item: item[0][0]):
        rounds = plain.rounds[step] if plain.iterations == 1 else 1
        total = sum(plain.granules[row.chunk] for row, _ in there)
        if total > room[place] * rounds:
            rule = "capacity" if len({iteration for _, iteration in there}) == 1 else "period"
            raise WrongError(rule, f"{said(place)} carries {total}, more than {room[place]} in each of {rounds} rounds", step)


def said(place: Place) -> str:
    """A link in words, or what moves data within a node."""
    if isinstance(place, int):
        return f"link number {place}"
    return f"link {place[0]}>{place[1]}" if place[0] != place[1] else f"the copy unit of node {place[0]}"
