"""`h100:B`."""

from certree.extras.clusters.families.fabric import Box, boxes_of
from certree.models.network.families import FAMILIES
from certree.models.network.topology import Topology

GPUS = 8


@FAMILIES.register("h100", "h100", "h100:2@switch", "h100:4@leaf2/2")
def h100(arguments: str) -> Topology:
    """h100[:B[@FABRIC]] - B boxes of 8 H100s: 18 NVLinks to the NVSwitches, one 400 Gb/s interface; unit: 25 GB/s.

    FABRIC: rails (the default), switch, leafL (leaf switches of L boxes on one core), leafL/R (with uplinks for one in R). The four
    NVSwitches of a DGX H100 (5, 4, 4 and 5 NVLinks to every GPU) are one node here (NVIDIA DGX H100 User Guide). They can add
    and multicast (NVLS): `h100,reducing=switches`. Numbering: GPU g of box b is node 8b + g; NVSwitches follow, then the fabric.
    """
    box = Box(GPUS, 1, tuple((gpu, GPUS, 18) for gpu in range(GPUS)), interface=2, unit=25_000_000_000)
    return boxes_of("h100", arguments, box)
