"""Tencent's hierarchical all-reduce: reduce to one master in each machine, a ring between masters, broadcast in each machine.

Source: Jia et al., "Highly scalable deep learning training system with mixed-precision" (2018), in the form that NetReduce models,
Appendix B, Equation (2): Rabenseifner's reduce (recursive halving, then a binomial gather), a ring all-reduce, van de Geijn's
broadcast (a binomial scatter, then a ring all-gather).
"""

import numpy as np
from numpy.typing import NDArray

from certree.models.common.errors import UnsupportedError
from certree.models.schedule.collective import CollectiveKind
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.schedule_columns import Op
from certree.synth.method import Options, Request, method
from certree.synth.ranks.embedding import ROUNDS, Rows, embed
from certree.synth.ranks.group_plans import halving_plan, ring_plan
from certree.synth.ranks.layout import FACTORS, layout_of
from certree.synth.ranks.staged import even_shares, gather, run_stages, scatter


@method("tencent", [CollectiveKind.ALL_REDUCE], options={**ROUNDS, "factors": FACTORS}, order=17)
def tencent(request: Request, options: Options) -> Schedule:
    """Reduce to the first node of every group, ring all-reduce between these masters, broadcast in every group.

    3·log2 n + n - 1 steps inside groups of n = 2^k nodes (UnsupportedError for other n) and 2(g - 1) between the g masters. Option
    factors=8x4: n x g; by default the network decides (`certree.synth.ranks.layout`). lcm(n, g) chunks.
    """
    layout = layout_of(request.topology, options["factors"]).flattened()
    size, groups = layout.sizes
    if size & (size - 1):
        raise UnsupportedError(
            f"tencent: groups of {size} nodes; recursive halving needs a power of 2, factors=... gives other groups"
        )
    options["factors"] = f"{size}x{groups}"
    machines = layout.nodes.reshape(groups, size)
    shares = even_shares(layout.sizes, 0)
    rows = Rows()
    step = run_stages(layout.sizes, layout.nodes, shares, [scatter(0, halving_plan(size))], rows)
    for level in range(size.bit_length() - 1):
        _hand_over(machines, shares[:, 0], level, step, rows, inwards=True)
        step += 1
    masters, ring = machines[:, 0], ring_plan(groups)
    step = run_stages((groups,), masters, shares[:, 1:], [scatter(0, ring), gather(0, ring)], rows, first_step=step)
    for level in reversed(range(size.bit_length() - 1)):
        _hand_over(machines, shares[:, 0], level, step, rows, inwards=False)
        step += 1
    run_stages(layout.sizes, layout.nodes, shares, [gather(0, ring_plan(size))], rows, first_step=step)
    return embed(request, np.zeros(len(shares)), rows.columns, method="tencent", options=options)


def _hand_over(machines: NDArray[np.int32], share: NDArray[np.int64], level: int, step: int, rows: Rows, *, inwards: bool) -> None:
    """One step of a binomial gather to the master (`inwards`) or of a binomial scatter from it: chunks whose share has bit `level`
    set cross between the member that lacks the bits below it and the one that lacks this bit too.

    Both are copies, since the sum of the machine moves and must not be added to its own terms. `machines`: shape (groups, members).
    """
    chunk = np.flatnonzero(share >> level & 1)
    outer = share[chunk] >> level << level
    inner = outer - (1 << level)
    src, dst = (outer, inner) if inwards else (inner, outer)
    rows.add(chunk, Op.COPY, step, machines[:, src], machines[:, dst])
