"""`dgx1`."""

import numpy as np

from certree.models.network.families import FAMILIES
from certree.models.network.families.cabled.cables import Cables
from certree.models.network.families.regular.grid import no_arguments
from certree.models.network.topology import Topology

#: NVLinks between two GPUs of a DGX-1 with V100s, as `nvidia-smi topo -m` shows them: each GPU has six
NVLINKS = (
    (0, 1, 1), (0, 2, 1), (0, 3, 2), (0, 4, 2), (1, 2, 2), (1, 3, 1), (1, 5, 2), (2, 3, 2),
    (2, 6, 1), (3, 7, 1), (4, 5, 1), (4, 6, 1), (4, 7, 2), (5, 6, 2), (5, 7, 1), (6, 7, 2),
)  # fmt: skip
#: (row, column) in the usual drawing: a board left, a board right
PLACES = ((0, 0), (0, 1), (1, 1), (1, 0), (0, 3), (0, 2), (1, 2), (1, 3))


@FAMILIES.register("dgx1", "dgx1")
def dgx1(arguments: str) -> Topology:
    """dgx1 - 8 GPUs in the hybrid cube mesh of a DGX-1 (V100), single and double NVLinks; unit: one NVLink.

    The network of NCCL's and SCCL's examples: two fully connected boards of four, a cube between them; six NVLinks per GPU, a
    double one being a link of capacity 2. PCIe is left out. Real GPUs do not forward; here, as on every network without switches, a
    route may lead through them, which algorithms for neighbours do not use.
    """
    no_arguments("dgx1", arguments)
    cables = Cables("dgx1", 8)
    for a, b, capacity in NVLINKS:
        cables.join(a, b, capacity)
    return cables.build(np.array(PLACES, np.int32))
