"""Boxes of GPUs: one schedule for box 0, and its images."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import lcm

from certree.models.common.errors import UnsupportedError
from certree.models.network.topology import Int32
from certree.models.schedule.collective import SYMMETRIC_KINDS, CollectiveKind
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.timing import peak_reductions
from certree.synth.method import Options, Request, Tier, choice, method, require_shape, whole_number
from certree.synth.packing.slotting import Clock, SlotRules, slowest_route
from certree.synth.price import FREE
from certree.synth.symmetric.box_symmetry import Boxes, boxes_of
from certree.synth.symmetric.box_trees import Inner, gather_rows, inner_trees
from certree.synth.symmetric.quotient_slots import Quotient, quotient_of

DELAYS = (1, 2, 3, 4, 6)
MOST_EACH = 64  # chunks of an endpoint
MOST_TRANSFERS = 1 << 22
LONGER = 8  # periods up to an eighth longer are tried
PROVEN = 250  # the highest rate is worth 1/250 of the time


@method(
    "boxes",
    SYMMETRIC_KINDS,
    options={"delay": whole_number(None, 1, 64), "rate": choice("any", "optimal")},
    published=False,
    tier=Tier.ALWAYS,
    order=96,
    own_units=True,
    is_repeated=True,
    price=lambda *_: FREE,
)
def boxes(request: Request, options: Options) -> Schedule:
    """Equal boxes joined by rails, a switch or leaf switches: exchanges between GPUs of the same place, which their box spreads.

    A chunk goes from its GPU to the GPU of the same place in every other box, directly or through one box for each leaf switch.
    From there it goes through the box, along shortest routes or packed branchings. A reduce-scatter is the reverse, an all-reduce
    is both. In an all-reduce, switches of boxes that reduce also add and multicast, where that raises the rate. Boxes are found by
    a group that takes each to every other (`certree.synth.symmetric.box_symmetry`); slots are assigned to the transfers of one box,
    the others are their images. Where links inside are wide enough, B boxes of G endpoints with R units to the network take (B -
    1)/(G·R·B) M/B for an all-gather, which is the bound, and twice that for an all-reduce. --chunks is a multiple of B·G. Options:
    delay=D, steps until sent data are used, by default the fastest at the size; rate=optimal keeps to the highest rate found, which
    otherwise is taken where it costs less than 1/250 of the time.
    """
    found = boxes_of(request.topology)
    timed = list(_timed(request, found, options["delay"]))
    highest = min((one.rate for one in timed), default=Fraction(0))
    tight = [one for one in timed if one.rate == highest]
    fastest = min((one.cycles for one in timed), default=0)
    if options["rate"] == "any":
        tight = [one for one in tight if one.cycles * PROVEN <= fastest * (PROVEN + 1)] or timed
    best = min(tight, key=lambda one: one.cycles, default=None)
    if best is None:
        raise UnsupportedError(f"boxes found no slots on {request.topology.name}")
    plan = best.plan
    require_shape(request, "boxes", plan.all_chunks, int(best.slots.max()) + 1)
    provenance = request.provenance(
        "boxes", options, boxes=found.count, period=best.rules.period, chunks_each=plan.chunks // found.places
    )
    return request.offer(plan.schedule(best.slots, best.rules, best.repeats, provenance))


@dataclass(frozen=True, eq=False)
class _Timed:
    """Slots for a plan, and an estimate of their cycles, as if all links were as slow as the slowest."""

    plan: Quotient
    slots: Int32
    rules: SlotRules
    repeats: int
    cycles: int

    @property
    def rate(self) -> Fraction:
        """The bandwidth time, a multiple of M/B."""
        rounds = self.rules.period if self.repeats > 1 and self.rules.period else int(self.slots.max()) + 1
        return Fraction(rounds, self.plan.all_chunks)


def _timed(request: Request, found: Boxes, delay: int | None) -> Iterator[_Timed]:
    """Yield, for each plan and delay, a single pass, and passes that overlap in the shortest period found."""
    for plan in _plans(request, found):
        clock = Clock(request, slowest_route(request, plan.longest, plan.spread))
        for wait in DELAYS if delay is None else (delay,):
            least = -(-plan.rounds.numerator // plan.rounds.denominator)
            for periods in ((None,), range(least, least + least // LONGER + 2)):
                for period in periods:
                    rules = SlotRules(wait, period, 0)
                    slots = plan.slots(rules, request.seed)
                    if slots is not None:
                        peak = peak_reductions(plan.op, slots, found.place[plan.dst], period, 1 << 30)
                        cycles, repeats = clock.best(plan.all_chunks, rules, int(slots.max()) + 1, peak)
                        yield _Timed(plan, slots, rules, repeats, cycles)
                        break


def _plans(request: Request, found: Boxes) -> Iterator[Quotient]:
    """Yield plans with the trees that load links least, over endpoints and, for an all-reduce, with switches that add: one with a
    chunk for each endpoint, and one with enough chunks to keep the fullest link always busy."""
    rated: dict[bool, list[tuple[Fraction, int, Inner, bool]]] = {}
    for inner in inner_trees(found, adding=request.collective.kind is CollectiveKind.ALL_REDUCE):
        for by_leaves in (False, True) if found.near < found.count else (False,):
            each = lcm(len(inner.trees), found.count) // found.count
            plan = _plan(found, request, inner, each, by_leaves=by_leaves)
            if plan is not None:
                known = rated.setdefault(inner.adds, [])
                known.append((plan.rounds / each, len(known), inner, by_leaves))
    if not rated:
        needs = "boxes needs links that join each box without those of routes to others"
        raise UnsupportedError(f"{needs}; {request.topology.name} has none")
    for rate, _, inner, by_leaves in map(min, rated.values()):
        for each in _counts(request, found, rate):
            plan = _plan(found, request, inner, each, by_leaves=by_leaves)
            assert plan is not None
            yield plan


def _counts(request: Request, found: Boxes, rate: Fraction) -> list[int]:
    """The numbers of chunks per endpoint that are tried, where one chunk takes `rate` rounds."""
    nodes = found.count * found.places
    if request.chunks is None:
        phases = int(request.collective.reduces) + int(request.collective.gathers)
        most = max(1, min(MOST_EACH, MOST_TRANSFERS // (phases * nodes * (nodes - 1))))
        return sorted({1, min(range(1, most + 1), key=lambda each: (Fraction(-(-(rate * each) // 1), each), each))})
    if request.chunks % nodes:
        raise UnsupportedError(f"boxes gives each of {nodes} endpoints as many chunks; {request.chunks} were asked for")
    return [request.chunks // nodes]


def _plan(found: Boxes, request: Request, inner: Inner, each: int, *, by_leaves: bool) -> Quotient | None:
    return quotient_of(found, request.collective, gather_rows(found, inner, each, by_leaves=by_leaves), each * found.places)
