"""`mi250:B`."""

from certree.extras.clusters.families.fabric import Box, boxes_of
from certree.models.network.families import FAMILIES
from certree.models.network.topology import Topology

GPUS = 16  # graphics compute dies, two to a module
LINK, INTERFACE, UNIT = 25, 8, 2_000_000_000  # 50 GB/s, 16 GB/s
#: Infinity Fabric links between dies of different modules; the two dies of a module have four
BETWEEN = (
    (0, 4, 2), (0, 8, 1), (1, 5, 1), (1, 9, 1), (1, 10, 1), (2, 6, 1), (2, 9, 1), (2, 10, 1), (3, 7, 2), (3, 11, 1), (4, 6, 1),
    (5, 6, 1), (5, 7, 1), (8, 12, 2), (9, 13, 1), (10, 14, 1), (11, 15, 2), (12, 14, 1), (13, 14, 1), (13, 15, 1),
)  # fmt: skip


@FAMILIES.register("mi250", "mi250", "mi250:2@switch")
def mi250(arguments: str) -> Topology:
    """mi250[:B[@FABRIC]] - B boxes of 8 MI250s, 16 GPUs with seven Infinity Fabric links of 50 GB/s each; unit: 2 GB/s.

    The boxes that ForestColl (Zhao et al.) was measured on, with 16 GB/s to the network for each GPU; a module is two GPUs
    with four links. FABRIC: rails (the default), switch, leafL, leafL/R, as in `h100`. GPU g of box b is node 16b + g. GPUs do not
    forward where there are switches.
    """
    cables = [(2 * module, 2 * module + 1, 4 * LINK) for module in range(GPUS // 2)]
    cables += [(a, b, links * LINK) for a, b, links in BETWEEN]
    box = Box(GPUS, 0, tuple(cables), INTERFACE, UNIT)
    return boxes_of("mi250", arguments, box)
