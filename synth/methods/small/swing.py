"""Swing: partners on a torus at distances 1, 1, 3, 5, 11, ... to and fro, so that long routes are rare.

Source: De Sensi, Bonato, Saam and Hoefler, "Swing: Short-cutting Rings for Higher Bandwidth Allreduce" (NSDI 2024, arXiv
2401.09356): in step s, rank r and r ± (1 - (-2)^(s + 1)) / 3 exchange. Here the message has one part for each port; parts take the
dimensions in turn, and each is also mirrored.
"""

import numpy as np

from certree.models.common.errors import UnsupportedError
from certree.models.schedule.collective import CollectiveKind
from certree.models.schedule.schedule import Schedule
from certree.synth.fine.butterflies import Partners, programs
from certree.synth.fine.fine_schedule import in_fine_slots
from certree.synth.method import Options, Request, Tier, choice, method, whole_number
from certree.synth.ranks.exchange import whole_log2
from certree.synth.ranks.layout import layout_of
from certree.synth.ranks.staged import every_place


@method(
    "swing",
    [CollectiveKind.ALL_REDUCE, CollectiveKind.REDUCE_SCATTER, CollectiveKind.ALL_GATHER],
    options={"form": choice("best", "vectors", "shares"), "ports": whole_number(None, 1, 64)},
    tier=Tier.FINE,
    order=67,
    is_sized=True,
    is_anytime=True,
    compares=True,
)
def swing(request: Request, options: Options) -> Schedule:
    """In stage s of a dimension a node exchanges with the one that is 1 - 2 + 4 - ... ± 2^s further, back where its place is odd.

    In fine slots. Options: form=vectors: whole vectors, log2 N stages; form=shares: shares that halve, and back; ports=P: parts of
    the message that begin with different dimensions, and mirrored; by default two for each dimension. For dimensions of powers of
    two.
    """
    layout = layout_of(request.topology, None)
    if any(whole_log2(size) is None for size in layout.sizes):
        raise UnsupportedError(
            f"swing needs dimensions of powers of two; {request.topology.name} has {'x'.join(map(str, layout.sizes))}"
        )
    most = 2 * len(layout.sizes)
    ports = options["ports"] or most
    if ports > most:
        raise UnsupportedError(f"swing has {most} ports on {request.topology.name}; {ports} were asked for")
    routes = [_partners(layout.sizes, port % len(layout.sizes), mirrored=port >= len(layout.sizes)) for port in range(ports)]
    return in_fine_slots(request, programs(request, layout.nodes, routes, options["form"]), "swing", options)


def _partners(sizes: tuple[int, ...], first: int, *, mirrored: bool) -> Partners:
    """The partner of each place in each stage; dimensions take turns from `first` on."""
    places, strides = every_place(sizes), np.cumprod((1, *sizes[:-1]))
    done, found, turn = [0] * len(sizes), [], first
    bits = [size.bit_length() - 1 for size in sizes]
    while sum(done) < sum(bits):
        along = turn % len(sizes)
        turn += 1
        if done[along] == bits[along]:
            continue
        reach = (1 - (-2) ** (done[along] + 1)) // 3 * (-1 if mirrored else 1)
        digit = places[:, along]
        to = (digit + np.where(digit % 2 == 0, reach, -reach)) % sizes[along]
        found.append(np.arange(len(places)) + (to - digit) * strides[along])
        done[along] += 1
    return np.array(found)
