"""`dgx2`, `dgx2:P`."""

import numpy as np

from certree.models.common.errors import TopologyError
from certree.models.network.families import FAMILIES
from certree.models.network.families.cabled.cables import Cables
from certree.models.network.families.regular.grid import parse_sizes
from certree.models.network.topology import Topology

GPUS_A_BOARD, PLANES = 8, 6


@FAMILIES.register("dgx2", "dgx2", "dgx2:1")
def dgx2(arguments: str) -> Topology:
    """dgx2[:P] - 16 GPUs on two boards and P planes of NVSwitches (6 by default); unit: one NVLink.

    A plane is one NVSwitch on each board, with one NVLink to each of the board's 8 GPUs, and 8 NVLinks (one link of capacity 8)
    between the two (Ishii et al., Hot Chips 2018). `dgx2:1` is the 16-node fat tree of the MultiTree paper (Section VI-A),
    DGX-2-like "but with one physical network". GPU i is on board i div 8; switch 16 + 2p + b is that of plane p on board b.
    """
    (planes,) = parse_sizes("dgx2", arguments, dimensions=1) if arguments else (PLANES,)
    if planes > PLANES:
        raise TopologyError(f"dgx2:{arguments}: {planes} planes; allowed: 1 to {PLANES}")
    gpus = 2 * GPUS_A_BOARD
    cables = Cables(f"dgx2:{planes}" if arguments else "dgx2", gpus, 2 * planes)
    board = np.arange(gpus) // GPUS_A_BOARD
    for first in range(gpus, gpus + 2 * planes, 2):
        cables.join(np.arange(gpus), first + board)
        cables.join(first, first + 1, GPUS_A_BOARD)
    return cables.build()
