"""`mi300x:B`."""

from certree.extras.clusters.families.fabric import Box, boxes_of
from certree.models.network.families import FAMILIES
from certree.models.network.topology import Topology

GPUS = 8
LINK, INTERFACE, UNIT = 32, 25, 2_000_000_000  # 64 GB/s, 50 GB/s


@FAMILIES.register("mi300x", "mi300x", "mi300x:2")
def mi300x(arguments: str) -> Topology:
    """mi300x[:B[@FABRIC]] - B boxes of 8 MI300Xs, all joined by 64 GB/s links, with one 400 Gb/s interface each; unit: 2 GB/s.

    AMD Instinct MI300X platform: seven Infinity Fabric links for each GPU, one to every other. FABRIC: rails (the default), switch,
    leafL, leafL/R, as in `h100`. GPU g of box b is node 8b + g. GPUs do not forward where there are switches.
    """
    cables = tuple((a, b, LINK) for a in range(GPUS) for b in range(a + 1, GPUS))
    return boxes_of("mi300x", arguments, Box(GPUS, 0, cables, INTERFACE, UNIT))
