"""Recursive multiplying: recursive doubling with larger groups, and so with fewer stages.

Source: Ruefenacht, Bull and Booth, "Generalisation of recursive doubling for AllReduce: Now with simulation" (Parallel Computing
2017).
"""

from collections.abc import Iterator

from certree.models.schedule.collective import CollectiveKind
from certree.models.schedule.schedule import Schedule
from certree.synth.fine.fine_schedule import in_fine_slots
from certree.synth.fine.levels import Piece
from certree.synth.fine.program import Program
from certree.synth.fine.shots import programs
from certree.synth.method import Options, Request, Tier, method
from certree.synth.ranks.layout import FACTORS, Layout, layout_of

RADICES = (2, 3, 4, 8)


@method(
    "recursive-multiplying",
    [CollectiveKind.ALL_REDUCE],
    options={"factors": FACTORS},
    tier=Tier.SMALL,
    order=73,
    is_sized=True,
    is_anytime=True,
    compares=True,
)
def recursive_multiplying(request: Request, options: Options) -> Schedule:
    """In stage s everyone sends its sum to the others of a group of factor s: ranks whose numbers differ in one digit.

    In fine slots. Option: factors=4x4: sizes of the groups, whose product is the number of endpoints; by default the fastest of a
    few, with groups of about 2, 3, 4 and 8.
    """
    return in_fine_slots(request, _programs(request, options["factors"]), "recursive-multiplying", options)


def _programs(request: Request, factors: tuple[int, ...] | None) -> Iterator[tuple[str, Program]]:
    nodes = len(request.members)
    choices = [factors] if factors else dict.fromkeys(_factors(nodes, radix) for radix in RADICES)
    for sizes in choices:
        layout = layout_of(request.topology, sizes) if len(sizes) > 1 or factors else Layout(sizes, request.members)
        yield from programs(request, layout, [(Piece(tuple(range(len(sizes))), 0),)])


def _factors(number: int, radix: int) -> tuple[int, ...]:
    """Factors of a number, joined while their product is at most `radix`."""
    primes, rest, divisor = [], number, 2
    while rest > 1:
        while rest % divisor == 0:
            primes.append(divisor)
            rest //= divisor
        divisor += 1
    joined: list[int] = []
    for prime in primes:
        if joined and joined[-1] * prime <= radix:
            joined[-1] *= prime
        else:
            joined.append(prime)
    return tuple(joined) or (1,)
