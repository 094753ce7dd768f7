"""What is on which link: routes, what the collective has in chunks, and loads in steps of rounds."""

from collections import Counter
from itertools import pairwise

from certree.extras.opinion.check.plain_schedule import Plain, Row, WrongError
from certree.models.schedule.collective import CollectiveKind

Pair = tuple[int, int]


def check_rows(plain: Plain) -> None:
    """Every transfer has two ends, and links from one to the other (`self`, `link`)."""
    joined = {(src, dst) for src, dst, _, _ in plain.links}
    for row in plain.rows:
        if row.is_local and row.reads == row.writes:
            raise WrongError("self", f"{row} ends where it starts", row.step)
        reason = _wrong_end(plain, row)
        if reason is None and row.is_local:
            reason = None if row.links is None else "has a route within its node"
        elif reason is None and row.links is None:
            reason = None if (row.src, row.dst) in joined else "has no link"
        elif reason is None:
            reason = _wrong_route(plain, row)
        if reason is not None:
            raise WrongError("link", f"{row} {reason}", row.step)


def _wrong_end(plain: Plain, row: Row) -> str | None:
    for node, buffer in ((row.src, row.reads), (row.dst, row.writes)):
        if not plain.holds[node]:
            return f"has an end at node {node}, which holds nothing"
        if buffer and not plain.is_endpoint[node]:
            return f"names buffer {buffer} of node {node}, a switch with one accumulator"
    return None


def _wrong_route(plain: Plain, row: Row) -> str | None:
    """What is wrong with a route, a chain from source to destination that visits no node twice, through nodes that forward."""
    ends = [plain.links[link][:2] for link in row.links or ()]
    if ends[0][0] != row.src or ends[-1][1] != row.dst:
        return "has a route that leads elsewhere"
    if any(here[1] != there[0] for here, there in pairwise(ends)):
        return "has a route with a gap"
    inner = [dst for _, dst in ends[:-1]]
    if len({row.src, row.dst, *inner}) < len(inner) + 2:
        return "has a route that visits a node twice"
    return next((f"has a route through node {node}, which does not forward" for node in inner if not plain.forwards[node]), None)


def check_shares(plain: Plain) -> None:
    """In all-to-all, gather and scatter blocks have equally many chunks (`shares`), or the granules of the demand (`demand`)."""
    if plain.target is None:
        return
    collective, members = plain.schedule.collective, plain.members
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
    sources = [collective.root] if collective.kind is CollectiveKind.SCATTER else members
    targets = [collective.root] if collective.kind is CollectiveKind.GATHER else members
    blocks = [found.pop((src, dst), 0) for src in sources for dst in targets if src != dst and src is not None and dst is not None]
    if found:
        raise WrongError("shares", f"chunk from {min(found)[0]} to {min(found)[1]}, which have no block for each other")
    if len(set(blocks)) > 1 or not blocks[0]:
        raise WrongError("shares", f"blocks have from {min(blocks)} to {max(blocks)} chunks; all have equally many")


def check_loads(plain: Plain) -> None:
    """In no step does a link carry more than its capacity times the rounds of the step (`capacity`; `period`, where only iterations
    together do)."""
    room: Counter[int | Pair] = Counter()
    pair_of = []
    for number, (src, dst, capacity, _) in enumerate(plain.links):
        room[number] = capacity
        room[src, dst] += capacity
        pair_of.append((src, dst))
    load: dict[tuple[int, int | Pair], list[tuple[Row, int]]] = {}
    for row in plain.rows:
        if row.is_local:
            continue
        rounds = plain.rounds[row.step]
        if plain.granules[row.chunk] > rounds:
            raise WrongError("capacity", f"{row} has {plain.granules[row.chunk]} granules in a step of {rounds} rounds", row.step)
        places: list[int | Pair] = [(row.src, row.dst)]
        if row.links is not None:
            places = [place for link in row.links for place in (link, pair_of[link])]
        for iteration in range(plain.iterations):
            for place in places:
                load.setdefault((row.step + iteration * (plain.period or 0), place), []).append((row, iteration))
    for (step, place), there in sorted(load.items(), key=lambda item: item[0][0]):
        rounds = plain.rounds[step] if plain.iterations == 1 else 1
        total = sum(plain.granules[row.chunk] for row, _ in there)
        if total > room[place] * rounds:
            rule = "capacity" if len({iteration for _, iteration in there}) == 1 else "period"
            where = f"{place[0]}>{place[1]}" if isinstance(place, tuple) else f"number {place}"
            raise WrongError(rule, f"link {where} carries {total}, more than {room[place]} in each of {rounds} rounds", step)
