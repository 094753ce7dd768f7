"""`a100:B`."""

from certree.extras.clusters.families.fabric import Box, boxes_of
from certree.models.network.families import FAMILIES
from certree.models.network.topology import Topology

GPUS = 8


@FAMILIES.register("a100", "a100", "a100:2")
def a100(arguments: str) -> Topology:
    """a100[:B[@FABRIC]] - B boxes of 8 A100s: 12 NVLinks to the NVSwitches, one 200 Gb/s interface; unit: 25 GB/s.

    FABRIC: rails (the default), switch, leafL (leaf switches of L boxes on one core), leafL/R (with uplinks for one in R). The six
    NVSwitches of a DGX A100 are one node here: every GPU has two NVLinks to each of them, so that no pair is slower (NVIDIA DGX
    A100 User Guide). Numbering: GPU g of box b is node 8b + g; NVSwitches follow, then the fabric.
    """
    box = Box(GPUS, 1, tuple((gpu, GPUS, 12) for gpu in range(GPUS)), interface=1, unit=25_000_000_000)
    return boxes_of("a100", arguments, box)
