"""Recursive doubling: partners exchange whole vectors, log2 N steps.

Source: Thakur, Rabenseifner and Gropp, "Optimization of Collective Communication Operations in MPICH" (2005): its all-gather and
its all-reduce for short vectors, with the way in and out for the processes beyond a power of two.
"""

import numpy as np

from certree.models.collective import CollectiveKind
from certree.models.errors import UnsupportedError
from certree.models.schedule import Op, Schedule
from certree.synth.embedding import ROUNDS, Rows, embed
from certree.synth.exchange import butterfly, core_of, whole_log2
from certree.synth.method import METHODS, Request, read_options, require_collective
from certree.synth.phases import joined


@METHODS.register("recursive-doubling")
def recursive_doubling(request: Request) -> Schedule:
    """Partners at rank distance 1, 2, 4, ... exchange whole vectors (all-reduce) or all they hold (all-gather): log2 N steps.

    All-reduce: one chunk, any number of endpoints; beyond a power of two, two more steps fold the rest in and out. All-gather: one
    chunk per endpoint, powers of two only. Option: rounds=serialized|published.
    """
    require_collective(request, "recursive-doubling", [CollectiveKind.ALL_REDUCE, CollectiveKind.ALL_GATHER])
    options = read_options(request, "recursive-doubling", ROUNDS)
    nodes = request.topology.endpoints
    if request.collective.kind is CollectiveKind.ALL_REDUCE:
        root, columns = np.zeros(1, np.int32), _whole_vectors(nodes).columns
    elif whole_log2(len(nodes)) is not None:
        root, columns = nodes, joined(request.collective, None, butterfly(nodes, nearest_last=False))
    else:
        raise UnsupportedError(f"recursive-doubling gathers among a power of two of endpoints; there are {len(nodes)}")
    return embed(request, root, columns, method="recursive-doubling", options=options, published=options["rounds"] == "published")


def _whole_vectors(nodes: np.ndarray) -> Rows:
    core, folded, partners = core_of(nodes)
    rows = Rows()
    start = int(len(folded) > 0)
    rows.add(0, Op.REDUCE, 0, folded, partners)
    position = np.arange(len(core))
    bits = len(core).bit_length() - 1
    for bit in range(bits):
        rows.add(0, Op.REDUCE, start + bit, core, core[position ^ (1 << bit)])
    rows.add(0, Op.COPY, start + bits, partners, folded)
    return rows
