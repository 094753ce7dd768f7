"""`b200:B`."""

from certree.extras.clusters.families.fabric import Box, boxes_of
from certree.models.network.families import FAMILIES
from certree.models.network.topology import Topology

GPUS = 8


@FAMILIES.register("b200", "b200", "b200:2@switch", "b200:4@leaf2/2")
def b200(arguments: str) -> Topology:
    """b200[:B[@FABRIC]] - B boxes of 8 B200s: 18 NVLinks to the NVSwitches, one 400 Gb/s interface; unit: 50 GB/s.

    FABRIC: rails (the default), switch, leafL, leafL/R, as in `h100`. The two NVSwitches of a DGX B200, with 9 NVLinks to every GPU
    each, are one node here (NVIDIA DGX B200 User Guide). They can add and multicast: `b200,reducing=switches`. Numbering: GPU g of
    box b is node 8b + g; NVSwitches follow, then the fabric.
    """
    box = Box(GPUS, 1, tuple((gpu, GPUS, 18) for gpu in range(GPUS)), interface=1, unit=50_000_000_000)
    return boxes_of("b200", arguments, box)
