"""`jellyfish:NxDxSEED`."""

import random

from certree.models.common.errors import TopologyError
from certree.models.network.families import FAMILIES
from certree.models.network.families.regular.grid import parse_numbers
from certree.models.network.families.routers.routers import split_endpoints, with_endpoints
from certree.models.network.topology import Topology

MAX_CABLES = 1 << 18
SWAPS = 10  # exchanges for each cable


@FAMILIES.register("jellyfish", "jellyfish:6x3x1@1", "jellyfish:10x3x1")
def jellyfish(arguments: str) -> Topology:
    """jellyfish:NxDxSEED[@P] - a random network of N routers with D cables to others and P endpoints each; seeds from 1.

    Singla et al. (NSDI 2012). Without @P the routers are the endpoints: random regular networks as those of expander studies. The
    cables of a circulant exchange their ends at random, ten exchanges for each cable; the same seed gives the same network.
    """
    sizes, each = split_endpoints("jellyfish", arguments)
    routers, degree, seed = parse_numbers("jellyfish", sizes, count=3)
    where = f"jellyfish:{arguments}"
    if not 3 <= degree < routers or routers * degree % 2:
        raise TopologyError(f"{where}: {routers} routers of degree {degree}; allowed: degrees from 3 to N - 1, N·D even")
    if routers * degree > 2 * MAX_CABLES:
        raise TopologyError(f"{where}: more than {MAX_CABLES} cables")
    cables, ids = with_endpoints(where, routers, each)
    chance = random.Random(seed)
    edges = _circulant(routers, degree)
    _exchange(edges, chance)
    while not _is_connected(edges, routers):
        _exchange(edges, chance)
    low, high = zip(*sorted(edges), strict=True)
    cables.join(ids[list(low)], ids[list(high)])
    return cables.build()


def _circulant(routers: int, degree: int) -> list[tuple[int, int]]:
    """Cables to the next degree/2 routers, and across where the degree is odd; (low, high)."""
    steps = list(range(1, degree // 2 + 1))
    ends = {(at, (at + step) % routers) for at in range(routers) for step in steps}
    if degree % 2:
        ends |= {(at, at + routers // 2) for at in range(routers // 2)}
    return sorted({(min(pair), max(pair)) for pair in ends})


def _exchange(edges: list[tuple[int, int]], chance: random.Random) -> None:
    """Pairs of cables a-b, c-d become a-d, c-b where both are new; `chance.random` alone, whose values Python promises."""
    present = set(edges)
    for _ in range(SWAPS * len(edges)):
        one, other = (int(chance.random() * len(edges)) for _ in range(2))
        (a, b), (c, d) = edges[one], edges[other]
        if chance.random() < 0.5:
            c, d = d, c
        new, too = (min(a, d), max(a, d)), (min(b, c), max(b, c))
        if a == d or b == c or new == too or new in present or too in present:
            continue
        present -= {edges[one], edges[other]}
        present |= {new, too}
        edges[one], edges[other] = new, too


def _is_connected(edges: list[tuple[int, int]], routers: int) -> bool:
    neighbours: list[list[int]] = [[] for _ in range(routers)]
    for a, b in edges:
        neighbours[a].append(b)
        neighbours[b].append(a)
    seen, queue = {0}, [0]
    for at in queue:
        fresh = [other for other in neighbours[at] if other not in seen]
        seen.update(fresh)
        queue += fresh
    return len(seen) == routers
