"""`nvl72`."""

from certree.extras.clusters.families.fabric import Box, boxes_of
from certree.models.network.families import FAMILIES
from certree.models.network.topology import Topology

GPUS, SWITCHES = 72, 18


@FAMILIES.register("nvl72", "nvl72")
def nvl72(arguments: str) -> Topology:
    """nvl72[:B[@FABRIC]] - B racks of 72 B200s, each with an NVLink to each of 18 NVSwitches; 400 Gb/s interface; unit: 50 GB/s.

    GB200 NVL72: nine switch trays with two NVSwitches each, which can add and multicast: `nvl72,reducing=switches`. FABRIC: rails
    (the default), switch, leafL, leafL/R, as in `h100`. GPU g of rack b is node 72b + g; NVSwitches follow, then the fabric.
    """
    cables = tuple((gpu, GPUS + switch, 1) for gpu in range(GPUS) for switch in range(SWITCHES))
    return boxes_of("nvl72", arguments, Box(GPUS, SWITCHES, cables, interface=1, unit=50_000_000_000))
