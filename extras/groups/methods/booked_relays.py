"""Trees over relays in fine slots."""

from collections.abc import Iterator
from heapq import nsmallest
from itertools import chain

from certree.extras.groups.make.packed_families import packed
from certree.extras.groups.make.programs import family_program
from certree.extras.groups.make.relayed_family import RelayedFamily
from certree.extras.groups.make.relayed_trees import RelayedNetwork
from certree.extras.groups.make.steiner_bounds import with_steiner_bound
from certree.models.common.errors import UnsupportedError
from certree.models.schedule.collective import CollectiveKind
from certree.models.schedule.schedule import Schedule
from certree.synth.fine.booking import booked_end, least_cycles
from certree.synth.fine.fine_schedule import costs_of, in_fine_slots
from certree.synth.fine.program import Program
from certree.synth.method import Options, Request, Tier, method
from certree.synth.packing.branchings import KINDS

PERIODS = (1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 16, 18, 24, 32, 36, 48, 64, 72)
TIMES = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)  # iterations
SCALES = (2, 4, 8)  # of the last family: as many times the trees in as many times the slots share links in more ways
LEAST = 128  # bytes of a chunk
MOST_ROWS = 30_000  # of a program
FAMILIES = 3  # the last ones, which have the most trees for their period
FINAL = 3  # programs that are booked in several orders


@method(
    "booked-relays",
    [CollectiveKind.ALL_REDUCE, *KINDS],
    published=False,
    tier=Tier.GROUPS,
    order=80,
    is_sized=True,
    is_anytime=True,
    compares=True,
    takes_members=True,
)
def booked_relays(request: Request, options: Options) -> Schedule:
    """The trees of `relays`, several times one behind the other, in fine slots.

    For collectives with members. Each message is booked as early as its links and what it carries allow, so that trees whose paths
    have different lengths, or links of different speeds, share links without gaps. Numbers of trees and of iterations are compared
    by their bookings. An all-reduce of few members has a bound in its certificate that no schedule that makes each sum once can
    beat. No options.
    """
    if request.collective.members is None:
        raise UnsupportedError("booked-relays is for collectives of some endpoints; here all take part")
    made = in_fine_slots(request, _programs(request), "booked-relays", options)  # which has offered it
    return with_steiner_bound(request, made)


def _programs(request: Request) -> Iterator[tuple[str, Program]]:
    """(label, program): those that end first in one booking, and within no time the first one. UnsupportedError where none has few
    enough rows, or none can be faster than the best schedule so far."""
    found: list[tuple[int, str, Program]] = []
    for one in chain.from_iterable(_booked(request, family) for family in _families(request)):
        found.append(one)
        if request.monitor.expired:
            break
    if not found:
        reason = "were not found" if request.monitor.best_cycles is None else "are no faster"
        raise UnsupportedError(f"booked-relays: trees for {request.collective.words} on {request.topology.name} {reason}")
    yield from ((label, program) for _, label, program in nsmallest(FINAL, found, key=lambda one: one[0]))


def _families(request: Request) -> list[RelayedFamily]:
    """The families with the most trees for their period, and larger ones with as many for theirs."""
    network = RelayedNetwork(request.topology, request.collective)
    families = [*packed(request, network, PERIODS)][-FAMILIES:]
    for scale in SCALES if families and request.chunks is None else ():
        if scale * len(families[-1].transfers.chunk) <= MOST_ROWS * request.effort and not request.monitor.expired:
            larger = network.pack(scale * families[-1].chunks, scale * families[-1].period, request.seed)
            families += [] if larger is None else [larger]
    return families


def _booked(request: Request, family: RelayedFamily) -> Iterator[tuple[int, str, Program]]:
    """(end, label, program) of as many iterations as there is room for, and that may be faster than the best schedule so far."""
    bar, most = request.monitor.best_cycles, request.message_bytes // (LEAST * family.chunks)
    for times in TIMES if request.chunks is None else TIMES[:1]:
        if times * len(family.transfers.chunk) > MOST_ROWS * request.effort or times > max(1, most):
            return
        program = family_program(family, times)
        costs = costs_of(request, program)
        if bar is None or least_cycles(program, costs) < bar:
            yield booked_end(program, costs), f"{times} times {family.chunks} trees in {family.period} slots", program
