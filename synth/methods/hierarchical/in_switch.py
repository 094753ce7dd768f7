"""Sums and multicasts in switches, message by message, for small messages: pushed by all endpoints, or each pulled by one endpoint.

Source: NVLS (the multimem operations of PTX: `multimem.red` or `st` push, `multimem.ld_reduce` pulls) and SHARP (aggregation trees
over several levels of switches). Pieces, routes and fine slots are certree's.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

import numpy as np

from certree.models.common.errors import UnsupportedError
from certree.models.schedule.collective import CollectiveKind
from certree.models.schedule.paths import link_cycles, path_cycles
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.schedule_columns import NO_ROOT, Op
from certree.models.schedule.timing import chunk_bytes_of, lane_cycles, reduction_cycles, serialization_cycles
from certree.synth.fine.fine_routes import default_routes
from certree.synth.fine.fine_schedule import in_fine_slots
from certree.synth.fine.program import Program, Stages
from certree.synth.method import Options, Request, Tier, Variant, choice, flag, method, whole_number
from certree.synth.methods.hierarchical.netreduce import Climb, aggregations

MOST_PIECES = 1 << 12
MOST_ROWS = 3 << 13  # of all programs that are tried where the number of pieces is not given
TRIED = 4  # numbers of pieces that are compared, those of the best estimates


def _is_all_reduce(request: Request) -> bool:
    return request.collective.kind is CollectiveKind.ALL_REDUCE


@method(
    "in-switch",
    [
        CollectiveKind.ALL_REDUCE,
        CollectiveKind.REDUCE_SCATTER,
        CollectiveKind.ALL_GATHER,
        CollectiveKind.BROADCAST,
        CollectiveKind.REDUCE,
    ],
    options={"form": choice("push", "pull", "both"), "pieces": whole_number(None, 1, MOST_PIECES), "requests": flag(default=False)},
    tier=Tier.FINE,
    order=55,
    is_sized=True,
    is_anytime=True,
    compares=True,
    takes_members=True,
    variants=[Variant({"form": form}, in_auto=_is_all_reduce) for form in ("both", "pull")],
)
def in_switch(request: Request, options: Options) -> Schedule:
    """Reducing switches add up what endpoints send, level by level, and send copies to many; in fine slots.

    form=push (the default): everyone sends its whole vector to the switch, which sends the sum to everyone. form=pull: endpoints
    are responsible for pieces in turn; the sum of a piece goes from the switch to its endpoint only, which sends it out by way of
    the switch to everyone. form=both: as many pieces are pushed as the adders of the switches keep up with; each other piece is
    added by one endpoint, to which all others send it, and the switch sends on the sum. The other collectives have one form: a
    reduce-scatter is the first half of the pull, an all-gather the second; a reduce brings the sum to its root, a broadcast copies
    what the root has sent to the switch.
    Options: pieces=P into which the message, or the share of each endpoint, is cut; without it numbers that suit the size are
    compared. requests=true: nothing leaves before it has been asked for, as with loads, by a header alone from the endpoint that
    gets a sum to the switch, and from there to everyone; only for sums that are pulled. By default there are no requests, since a
    schedule says when to send.
    Pieces take the central switches in turn. Needs switches marked reducing above all endpoints. 2 N rows for each piece.
    """
    plans = Plans.of(request, options["form"])
    if not options["requests"]:
        return in_fine_slots(request, plans.programs(options["pieces"]), "in-switch", options)
    if not plans.is_pulled or not request.collective.reduces:
        raise UnsupportedError("in-switch: requests=true goes with sums that are pulled: form=pull, or a reduce-scatter or reduce")
    alone = replace(request, monitor=request.monitor.watching())  # a schedule without requests does not count as the best so far
    return _requested(request, in_fine_slots(alone, plans.programs(options["pieces"]), "in-switch", options), plans)


def _requested(request: Request, made: Schedule, plans: "Plans") -> Schedule:
    """The schedule, delayed by the time of the requests: a header for each chunk from its owner up to the switch and from there
    down to all endpoints, all before any data leave."""
    machine, topology = request.machine, request.topology
    header, wire = lane_cycles(max(1, machine.head_flits), topology.scale), link_cycles(topology, machine)[topology.pair_of_link]
    far = 0
    for climb in plans.climbs:
        ends = request.members.astype(np.int32)
        for src, dst in ((ends, np.full_like(ends, climb.top)), (np.full_like(ends, climb.top), ends)):
            routes = default_routes(topology)(src, dst)
            far = max(far, *(path_cycles(machine, 0, len(route)) + int(wire[list(route)].sum()) for route in routes))
    later = 2 * far + (made.chunks + 1) * header
    assert made.slot_cycles is not None
    steps = -(-later // made.slot_cycles)
    rounds = np.ones(made.steps + steps, np.int32)
    return request.offer(replace(made, step=made.step + np.int32(steps), rounds=rounds))


@dataclass(frozen=True)
class Plans:
    """The choice of nodes that sum up and copy. `climbs`: from all endpoints to each of the central switches; `is_pulled`:
    endpoints in turn get the sums, or send out their data; `is_shared`: endpoints add some of the pieces."""

    request: Request
    climbs: tuple[Climb, ...]
    is_pulled: bool
    is_shared: bool

    @classmethod
    def of(cls, request: Request, form: str) -> "Plans":
        """The plans of a form; UnsupportedError where no reducing switch is above all endpoints."""
        collective, topology = request.collective, request.topology
        if not topology.reducing.any():
            raise UnsupportedError(f"{topology.name} has no switch that can reduce; append ,reducing=switches to its name")
        is_all_reduce = _is_all_reduce(request)
        if form != "push" and not is_all_reduce:
            raise UnsupportedError(f"in-switch: form={form} is for all-reduces; {collective.kind} has one form")
        found = {climb.top: climb for climb in (tree.climb(request.members) for tree in aggregations(topology))}
        return cls(request, tuple(found.values()), not is_all_reduce or form == "pull", form == "both")

    def programs(self, pieces: int | None) -> Iterator[tuple[str, Program]]:
        """Yield a program for each number of pieces that is tried, the likely fastest first. UnsupportedError where endpoints
        should add some of the pieces but switches keep up with all."""
        counts = [pieces] if pieces is not None else self._numbers()
        if self.is_shared:
            counts = [count for count in counts if self._added_by_endpoints(count)]
            if not counts:
                raise UnsupportedError("in-switch: form=both is for switches that add more slowly than links bring what they add")
        for count in counts:
            others = f", {self._added_by_endpoints(count)} of them added by endpoints" if self.is_shared else ""
            yield f"{count} piece(s){others}", self.program(count)

    @property
    def _apart(self) -> list[int]:
        """The endpoints that have data, or get sums, of their own, if any: a piece is then a chunk for each of them."""
        kind = self.request.collective.kind
        return self.request.members.tolist() if kind in (CollectiveKind.REDUCE_SCATTER, CollectiveKind.ALL_GATHER) else []

    def program(self, pieces: int) -> Program:
        """The transfers of the message in `pieces` pieces."""
        collective, members = self.request.collective, self.request.members.tolist()
        stages, shared = Stages(), self._added_by_endpoints(pieces)
        roots: list[int] = []
        for piece in range(pieces):
            turn = piece * max(1, len(members) // pieces) % len(members)  # with few pieces the endpoints are far apart
            alone = members[turn] if collective.root is None else collective.root
            for place, owner in enumerate(self._apart or [alone]):
                by_owner = piece * shared // pieces < (piece + 1) * shared // pieces
                self._add(stages, len(roots), owner, self.climbs[(piece + place) % len(self.climbs)], by_owner=by_owner)
                roots.append(owner if collective.is_rooted else NO_ROOT)
        return stages.program(self.request.topology, collective, np.array(roots), default_routes(self.request.topology))

    def _add(self, stages: Stages, chunk: int, owner: int, climb: Climb, *, by_owner: bool) -> None:
        """Add the transfers of one chunk, which its owner or the switches sum up."""
        collective, height, lower, upper = self.request.collective, climb.height, climb.lower, climb.upper
        has_owner = self.is_pulled or by_owner
        if by_owner:
            members = self.request.members
            stages.add(chunk, Op.REDUCE, members[members != owner], owner, stage=0)
        elif collective.reduces:
            stages.add(chunk, Op.REDUCE, lower, upper, stage=climb.level - 1)
            if has_owner:
                stages.add(chunk, Op.COPY, climb.top, owner, stage=height)
        if collective.gathers:
            first = 0
            if has_owner:
                first = height + 1
                stages.add(chunk, Op.COPY, owner, climb.top, stage=height + 1)
            keep = ~((lower == owner) & has_owner)
            stages.add(chunk, Op.COPY, upper[keep], lower[keep], stage=first + 2 * height - climb.level[keep])

    def _added_by_endpoints(self, pieces: int) -> int:
        """The number of pieces that endpoints should add, so that the busiest link and the busiest adder have the least work."""
        if not self.is_shared:
            return 0
        return min(range(pieces), key=lambda shared: self._busiest(pieces, shared))

    def _numbers(self) -> list[int]:
        """Numbers of pieces to compare, by the time that each should take."""
        request, each = self.request, max(1, len(self._apart))
        machine, granules = request.machine, -(-request.message_bytes // request.machine.flit_bytes)
        rows = each * (len(self.climbs[0].lower) + 1) * (request.collective.reduces + request.collective.gathers)
        most = max(1, min(MOST_PIECES, MOST_ROWS // rows, -(-granules // each)))
        whole = machine.reduce_bytes_per_cycle * machine.reduce_quantum_cycles  # a unit takes as long for fewer bytes
        fit = -(-request.message_bytes // (whole * each))
        counts = {1 << power for power in range(most.bit_length())} | {-(-fit // part) for part in (1, 2, 3, 4)}
        counts |= {len(self.climbs) * count for count in counts} | {most}
        best = sorted((count for count in counts if count <= most), key=self._estimate)[:TRIED]
        total = np.cumsum([count * rows for count in best])
        return best[: max(1, int((total <= MOST_ROWS).sum()))]

    def _estimate(self, pieces: int) -> Fraction:
        """The approximate cycles: of the busiest link or adder for all pieces, plus those of the first piece on its route."""
        ser, red = self._cycles(pieces)
        widest = max(int(np.bincount(climb.upper).max()) for climb in self.climbs) * self.request.collective.reduces
        return self._busiest(pieces, self._added_by_endpoints(pieces)) + self.climbs[0].height * (2 * ser + widest * red)

    def _cycles(self, pieces: int) -> tuple[int, int]:
        """The cycles of a lane for a chunk, and of an addition."""
        request, machine = self.request, self.request.machine
        size = chunk_bytes_of(request.message_bytes, pieces * max(1, len(self._apart)), 1, machine)
        return serialization_cycles(size, machine, request.topology.scale), reduction_cycles(size, machine)

    def _busiest(self, pieces: int, shared: int) -> Fraction:
        """Cycles of the busiest link or of the busiest adder of a switch, whichever takes longer, if endpoints add `shared` pieces.
        These pieces pass the link into an endpoint nearly twice."""
        (ser, red), (messages, additions) = self._cycles(pieces), self._loads
        chunks, members = pieces * max(1, len(self._apart)), len(self.request.members)
        there = chunks - shared + shared * Fraction(2 * (members - 1), members)
        return max(there * messages * ser, (chunks - shared) * additions * red)

    @cached_property
    def _loads(self) -> tuple[Fraction, Fraction]:
        """The most messages on a lane up, and additions of a switch, for a chunk that any of the central switches may have."""
        topology, count = self.request.topology, len(self.climbs)
        lower, upper = (np.concatenate([getattr(climb, name) for climb in self.climbs]) for name in ("lower", "upper"))
        pair = topology.pair_index(lower, upper)
        found = np.bincount(pair[pair >= 0], minlength=len(topology.pair_capacity)).tolist()
        messages = max(Fraction(each, lanes) for each, lanes in zip(found, topology.pair_capacity.tolist(), strict=True))
        additions = int(np.bincount(upper).max()) * self.request.collective.reduces
        return messages / count, Fraction(additions, count)
