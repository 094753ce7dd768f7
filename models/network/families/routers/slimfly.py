"""`slimfly:Q`."""

import numpy as np

from certree.models.common.errors import TopologyError
from certree.models.network.families import FAMILIES
from certree.models.network.families.regular.grid import parse_numbers
from certree.models.network.families.routers.routers import split_endpoints, with_endpoints
from certree.models.network.topology import Topology

MAX_PRIME = 127


@FAMILIES.register("slimfly", "slimfly:3@1", "slimfly:5")
def slimfly(arguments: str) -> Topology:
    """slimfly:Q[@P] - 2·Q² routers within two hops of each other, Q an odd prime, with P endpoints each; degree (3Q ∓ 1)/2.

    Besta and Hoefler (SC 2014), after McKay, Miller and Širáň: routers (0, x, y) and (1, m, c), in this order, are joined where
    y = m·x + c, and those of one x, or one m, by differences from two sets of powers of a primitive root. Powers of primes are left
    out. `slimfly:5@4`, 50 routers with 200 endpoints, is the cluster of Blach et al. (NSDI 2024). Without @P the routers are the
    endpoints.
    """
    sizes, each = split_endpoints("slimfly", arguments)
    (q,) = parse_numbers("slimfly", sizes, count=1)
    if not 3 <= q <= MAX_PRIME or any(q % factor == 0 for factor in range(2, q)):
        raise TopologyError(f"slimfly:{arguments}: Q is {q}; allowed: odd primes up to {MAX_PRIME}")
    cables, ids = with_endpoints(f"slimfly:{arguments}", 2 * q * q, each)
    router = ids.reshape(2, q, q)
    for side, differences in enumerate(_differences(q)):
        low, high = np.nonzero(np.isin(np.subtract.outer(np.arange(q), np.arange(q)) % q, differences))
        once = low < high
        cables.join(router[side][:, low[once]], router[side][:, high[once]])
    x, m, c = (axis.ravel() for axis in np.indices((q, q, q)))
    cables.join(router[0, x, (m * x + c) % q], router[1, m, c])
    return cables.build()


def _differences(q: int) -> tuple[list[int], list[int]]:
    """The two sets of differences, each equal to its negative."""
    root = next(g for g in range(2, q) if len({pow(g, e, q) for e in range(q - 1)}) == q - 1)
    half = (q - 1) // 2
    if q % 4 == 1:
        return [pow(root, e, q) for e in range(0, q - 1, 2)], [pow(root, e, q) for e in range(1, q - 1, 2)]
    first = [*range(0, half, 2), *range(half, 2 * half, 2)]
    return [pow(root, e, q) for e in first], [pow(root, e + 1, q) for e in first]
