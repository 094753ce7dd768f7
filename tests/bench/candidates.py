"""How well `packing` chooses K, L, repeats and delay together: its cycles at each size over the best of what it could have made.

    python tests/bench/candidates.py [NETWORK ...]

Every packing that the method lists (trees, rounds) is given slots with every delay, period and cap on reductions, by one list
schedule; slots do not depend on the size, so that all sizes are priced by closed form from one table. Left out is only what by its
floor cannot beat the method's choice at any size. The FINALISTS fastest at each size are then shortened with more work. A ratio
above 1 is what the method missed; below 1 its choice is faster than the whole table.
"""

import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

from certree.models.machine.machine import load_machine
from certree.models.network.spec import parse_topology
from certree.models.schedule.collective import Collective, CollectiveKind
from certree.models.schedule.timing import peak_reductions
from certree.synth.method import Request, load_methods
from certree.synth.methods.optimizing.packing import fabrics_of, packings
from certree.synth.packing.selection import Candidate, Search
from certree.synth.packing.slotting import assign_slots
from certree.synth.packing.trees import TreeFamily

NETWORKS = ("mesh:8x8", "torus:8x8", "torus:8x8,without-link=3-4,without-node=27")
SIZES = (*(1 << power for power in range(15, 25)), 1 << 30)
FINALISTS, WORK = 4, 100  # at each size, and what each of their transfers is worth
ALL_REDUCE = Collective(CollectiveKind.ALL_REDUCE)


@dataclass(frozen=True, order=True)
class Entry:
    """One candidate with slots, at one size; `number` says which it is."""

    cycles: int
    number: int
    what: str = field(compare=False)


def enumerate_all(asked: list[Request], chosen: list[int]) -> tuple[list[Entry], int]:
    """The best for each request, and how many candidates got slots."""
    searches = [Search(request, dict) for request in asked]
    options = [trees for fabric in fabrics_of(asked[0]) for trees in packings(asked[0], fabric)]
    rows = list(zip(*[search.candidates(options) for search in searches], strict=True))
    alive = [number for number, row in enumerate(rows) if any(map(may_win, row, chosen))]
    first: list[list[Entry]] = [[] for _ in asked]
    for found in priced(searches, rows, alive, work=1):
        for table, entry in zip(first, found, strict=True):
            table.append(entry)
    finalists = sorted({entry.number for table in first for entry in sorted(table)[:FINALISTS]})
    for found in priced(searches, rows, finalists, work=WORK):
        for table, entry in zip(first, found, strict=True):
            table.append(entry)
    return [min(table) for table in first], len(alive)


def may_win(candidate: Candidate, cycles: int) -> bool:
    """Whether its floor allows a candidate to be faster."""
    return candidate.floor < cycles


def priced(searches: list[Search], rows: list[tuple[Candidate, ...]], wanted: list[int], *, work: int) -> Iterator[list[Entry]]:
    """Each wanted row, with each of two staggers, at every size; ascending numbers, so that one family is held at a time."""
    trees, family = None, None
    for number in wanted:
        candidate = rows[number][0]
        if candidate.trees is not trees:
            trees, family = candidate.trees, candidate.trees.build()
        for stagger in Search.staggers(candidate)[:2] if family else ():
            found = entries(searches, candidate, family, number, stagger, work)
            if found:
                yield found


def entries(searches: list[Search], candidate: Candidate, family: TreeFamily, number: int, stagger: int, work: int) -> list[Entry]:
    """Slots for one candidate, and its time at every size; none where its rules cannot be met."""
    rules = candidate.rules
    slots, _ = assign_slots(family, rules, work=work * len(family.transfers.chunk), stagger=stagger, seed=0)
    if slots is None:
        return []
    length, peak = int(slots.max()) + 1, peak_reductions(family.transfers.op, slots, family.transfers.dst, rules.period, 1 << 30)
    found = []
    for search in searches:
        cycles, repeats = search.clock(None).best(family.chunks, rules, length, peak)
        what = described(f"{family.chunks}/{candidate.trees.period}", rules.period, rules.delay, length, repeats)
        found.append(Entry(cycles, number, what))
    return found


def described(packed: str, period: int | None, delay: int, slots: int, repeats: int) -> str:
    """One choice, for people."""
    return f"{packed} delay {delay}, " + (f"period {period} x {repeats}" if period and repeats > 1 else f"{slots} slots")


def lines(spec: str, sizes: tuple[int, ...]) -> Iterator[str]:
    """One for each size, and what the table took."""
    topology, machine = parse_topology(spec), load_machine("multitree")
    asked = [Request(topology, ALL_REDUCE, size, machine) for size in sizes]
    made = [load_methods()["packing"](request) for request in asked]
    chosen = [request.cycles(schedule) for request, schedule in zip(asked, made, strict=True)]
    start = time.process_time()
    best, tried = enumerate_all(asked, chosen)
    spent = time.process_time() - start
    for request, cycles, schedule, found in zip(asked, chosen, made, best, strict=True):
        own = described(schedule.provenance["packed"], schedule.period, schedule.delay, schedule.steps, schedule.repeats)
        size = f"{request.message_bytes >> 10:>8} KiB"
        yield f"{spec:<42}{size}{cycles:>12,}{found.cycles:>12,}{cycles / found.cycles:>8.4f}  {own:<40}{found.what}"
    yield f"{spec}: {tried} candidates, {spent:.0f} CPU s"


def run(smoke: bool, networks: tuple[str, ...] = ()) -> None:
    """All of it, or a small network at three sizes."""
    print(f"{'network':<42}{'size':>12}{'chosen':>12}{'best':>12}{'ratio':>8}  {'chosen':<40}best of the table")
    for spec in networks or (("mesh:3x3",) if smoke else NETWORKS):
        for line in lines(spec, SIZES[::4] if smoke else SIZES):
            print(line, flush=True)


if __name__ == "__main__":
    words = sys.argv[1:]
    run("--smoke" in words, tuple(word for word in words if not word.startswith("-")))
