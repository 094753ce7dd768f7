"""Prices of candidates of method auto before they are built: an upper bound on the work, and a lower bound on the cycles.

A price is in closed form, from the numbers of endpoints, chunks and steps, and takes no more time than a search for the nearest
endpoints. Work is counted in transfers, so the candidates that are left out do not depend on the speed of the computer.
"""

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from certree.models.common.errors import UnsupportedError
from certree.models.machine.speeds import contradiction
from certree.models.network.topology import NodeKind
from certree.models.schedule.collective import CollectiveKind
from certree.models.schedule.paths import link_cycles, path_cycles
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.symmetric.symmetric_schedule import AnySchedule
from certree.models.schedule.timing import chunk_bytes_of, slot_length
from certree.synth.method import MANY, METHODS, Request, Tier
from certree.synth.price import FREE, Price

#: transfers that all candidates of one choice may take for effort 1, about 10 CPU µs each
BUDGET = 3_000_000
#: the least part of the budget that is spent, however close the best schedule is to the time bound
LEAST_PART = Fraction(1, 8)
#: work up to which a candidate is built even when the budget is used up; its work is counted still. Most candidates for 64
#: endpoints and fewer are below it. With more than MANY endpoints, only while the best takes more than WORTH times the bound
CHEAP = 1 << 18
#: a candidate is left out when its lower bound is more than the cycles of the best schedule divided by this number
WORTH = Fraction(101, 100)
#: while the best schedule takes at most this many times the time bound (WORTH times among up to MANY endpoints), no candidate is
#: built whose work is more than TIMES that of the best schedule and more than half of CHEAP, times the effort
NEAR, TIMES = Fraction(5, 4), 3
#: work of a transfer that the list scheduler books many times, of one that meets many others on its route, and of one that
#: meets some
BOOKED, CROWDED, ROUTED = 16, 14, 5
#: the beginnings of the reasons why a candidate was not built, or was built and not timed
LEFT_OUT, NOT_TIMED = "not built: ", "not timed: "


def price_of(name: str, request: Request) -> Price:
    """The price of a method with the options that the request states; 0 for collectives that it does not make."""
    entry = METHODS[name]
    if request.collective.kind not in entry.collectives:
        return FREE
    work = BOOKED if entry.tier in (Tier.FINE, Tier.SMALL) else ROUTED
    found = generic_price(request, work) if entry.price is None else entry.price(request, entry.read(request))
    searched = found.searched or len(request.members) * len(request.topology.src)
    return found if found == FREE else replace(found, searched=searched)


def generic_price(request: Request, work: int = 1) -> Price:
    """The price of methods that state none: a chunk for each endpoint that passes all others, or one chunk with one root."""
    collective, others = request.collective, len(request.members) - 1
    phases = max(1, int(collective.reduces) + int(collective.gathers))
    chunks = 1 if collective.has_one_root else len(request.members)
    return Price(phases * others * chunks * request.topology.lanes, work)


def step_price(
    request: Request,
    options: Mapping[str, Any],
    *,
    chunks: int,
    steps: int,
    transfers: int | None = None,
    work: int = 1,
    delay: int = 1,
) -> Price:
    """The price of an algorithm in equal slots, with phases of `steps` steps and `transfers`, by default N - 1 of each chunk.

    A step takes at least one slot, between the nearest endpoints; a slot has no more messages than endpoints have outgoing lanes.
    """
    topology, collective = request.topology, request.collective
    phases = max(1, int(collective.reduces) + int(collective.gathers))
    parts = options.get("channels", 1) * topology.lanes
    rows = phases * ((len(request.members) - 1) * chunks if transfers is None else transfers) * parts
    if collective.demand is not None:
        return Price(rows, work)
    lanes = int(topology.capacity[np.isin(topology.src, request.members)].sum())
    slots = -(-rows // max(1, lanes))
    return Price(rows, work, _least_cycles(request, phases * steps, slots, chunks * parts, delay))


def pairs_price(request: Request, options: Mapping[str, Any]) -> Price:
    """The price of an algorithm in which everyone sends to everyone at once, on routes that are chosen; exact in transfers."""
    if request.collective.kind is CollectiveKind.ALL_TO_ALL:
        return replace(generic_price(request, CROWDED), transfers=generic_price(request).transfers * options.get("channels", 1))
    return step_price(request, options, chunks=len(request.members), steps=1, work=CROWDED)


def built_price(request: Request, schedule: AnySchedule) -> Price:
    """The price of a schedule before its time is known: for that, transfers that share links need rounds. O(steps)."""
    if not isinstance(schedule, Schedule) or schedule.has_fine_slots or schedule.repeats > 1 or schedule.version_2_fields:
        return Price(schedule.transfers)
    rounds = int(schedule.rounds.sum(dtype=np.int64))
    return Price(
        schedule.transfers, ROUTED, _least_cycles(request, schedule.steps, rounds, schedule.message_chunks, schedule.delay)
    )


def _least_cycles(request: Request, steps: int, slots: int, chunks: int, delay: int) -> int:
    """The least cycles of `steps` consecutive steps with `slots` slots; 0 where the machine contradicts the network.

    A slot is as long as a chunk takes on a lane. With `delay` 1, data are used in the step after they arrive, so a step also
    includes the time to the nearest endpoint.
    """
    machine, topology = request.machine, request.topology
    if contradiction(topology, machine) is not None:
        return 0
    wire, joined = link_cycles(topology, machine), topology.kind == NodeKind.ENDPOINT
    hops = 1 if (joined[topology.src] & joined[topology.dst]).any() else 2
    latency = path_cycles(machine, int(wire.min(initial=0)), hops)
    chunk, peak = chunk_bytes_of(request.message_bytes, chunks, 1, machine), int(request.collective.reduces)
    ser, _, _, slot = slot_length(chunk, machine, delay=delay, peak=peak, lat=latency, scale=topology.scale)
    return int(max((slots - 1) * ser, (steps - 1) * slot))


class Ledger:
    """The work budget of one automatic choice, the work spent, and the best schedule so far.

    The work that may be spent is proportional to the possible gain: twice the fraction by which the best schedule exceeds the time
    bound, and the whole budget beyond one and a half times the bound. Each new schedule keeps or lowers this limit, and likewise
    the time that a candidate must reach. `endpoints` take part.
    """

    def __init__(self, effort: int, bound: int, endpoints: int) -> None:
        self.budget, self.bound, self.spent, self.endpoints = BUDGET * effort, bound, 0, endpoints
        self.best: tuple[int, str] | None = None
        self.most: int | None = None  # most work of a candidate: see NEAR

    @property
    def part(self) -> Fraction:
        """The part of the budget that may be spent."""
        if self.best is None or not self.bound:
            return Fraction(1)
        return min(Fraction(1), max(LEAST_PART, 2 * (Fraction(self.best[0], self.bound) - 1)))

    @property
    def left(self) -> int:
        """Work that may still be spent."""
        return int(self.budget * self.part) - self.spent

    def refusal(self, price: Price, *, in_slots: bool) -> str | None:
        """The reason not to build a candidate of that price; None where it is built. The first is always built."""
        if self.best is None or price == FREE:
            return None
        if self.most is not None and price.total > self.most:
            return f"{LEFT_OUT}work of {price.total} transfers; {self.best[1]}, near the time bound, allows {self.most}"
        if (self.endpoints <= MANY or self.best[0] > self.bound * WORTH) and price.total <= CHEAP:
            return None
        slower = self.slower(price) if in_slots else None
        if slower is None and price.total > self.left:
            return f"{LEFT_OUT}work of {price.total} transfers; {max(0, self.left)} are left of the budget of {self.budget}"
        return slower

    def slower(self, price: Price, why: str = LEFT_OUT) -> str | None:
        """The reason to leave out a candidate whose lower bound is too high for its work; None where it is not too high."""
        if self.best is None or price.total <= CHEAP or price.cycles * WORTH <= self.best[0]:
            return None
        return f"{why}takes at least {price.cycles} cycles; {self.best[1]} takes {self.best[0]}"

    def admit(self, request: Request, schedule: AnySchedule) -> None:
        """Raise UnsupportedError for a schedule whose lower bound is too high, and count the work of building it."""
        self.require(built_price(request, schedule))

    def require(self, built: Price) -> None:
        """Do as `admit`, for a schedule that was built at that price."""
        if (refused := self.slower(built, NOT_TIMED)) is not None:
            self.spent += built.total
            raise UnsupportedError(refused)

    def note(self, price: Price, label: str, cycles: int | None, transfers: int) -> None:
        """Count a candidate that was timed; `cycles`: None where it waits for credits. A method that does not apply says so before
        it does much work, and is not counted. Where the price says nothing about work, the work is the number of `transfers`."""
        self.spent += price.total
        if cycles is not None and (self.best is None or cycles < self.best[0]):
            self.best = cycles, label
            is_near = 0 < cycles <= self.bound * (NEAR if self.endpoints > MANY else WORTH)
            allowed = self.budget // BUDGET * (TIMES * max(price.total, transfers) + CHEAP // 2)
            if is_near:  # never more than before: processes that share candidates rely on it
                self.most = allowed if self.most is None else min(self.most, allowed)
