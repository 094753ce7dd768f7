"""`python -m tools.tables.certified`: the published algorithms on networks of up to 25 nodes, certified, as a table (2
CPU minutes).

As (chunks, steps, rounds): the cost of each algorithm, the frontier with its kinds of proof, and a better point if there is one.
Frontiers are complete for collectives that only copy, and for all-reduces of up to 5 nodes, including GenTree's plans on small
trees. Larger all-reduces are rated by bounds and by the better schedules known. The second part is that of `tools.tables.optima`.
"""

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from fractions import Fraction

from certree.models.network.spec import parse_topology
from certree.models.network.topology import Topology
from certree.models.schedule.collective import Collective, CollectiveKind, parse_collective
from certree.models.schedule.schedule import Schedule
from certree.synth.exact.asking import Ask, Here
from certree.synth.exact.encodings.clauses import TrustedClauses
from certree.synth.exact.frontier_search import FrontierSearch
from certree.synth.exact.refuter import Refuter
from certree.synth.exact.seeds import composed, known_schedules
from certree.synth.monitor import Monitor
from certree.synth.solvers.cpsat import Budget
from certree.verify.exact.question import Point, Question
from certree.verify.frontier.answers import rounds_of
from certree.verify.frontier.document import check_frontier
from certree.verify.frontier.points import covers, undominated
from tools.tables import optima

NETWORKS = (
    "ring:4", "ring:5", "ring:8", "mesh:2x2", "mesh:2x3", "mesh:3x3", "mesh:4x4", "mesh:5x5", "torus:3x3", "torus:4x4", "torus:4x5",
    "torus:5x5", "torus:4x4,without-link=0-1", "hypercube:3", "hypercube:4", "full:4", "full:8", "dgx1", "switch:4", "switch:8",
    "fattree:2x4", "fattree:4x4", "bigraph:2x4", "ss:3", "ss:4", "ss:24", "tree:2+1", "tree:2+2", "tree:3+1",
)  # fmt: skip
WHOLE = 5  # endpoints up to which the frontier of an all-reduce is searched
PAIRS = 9  # endpoints up to which that of an all-to-all is, and with switches that of a broadcast
CONFLICTS = 10_000  # for one question whether a larger all-reduce has a shorter schedule
MOST = 1 << 10  # chunks of a schedule that is verified
HEAD = """# Published algorithms, certified

(chunks, steps, rounds): chunks of each endpoint (all-gather), of each pair (all-to-all) or of the message (broadcast, all-reduce).

| mark | |
|---|---|
| `*` | no schedule is better, proved; the kinds of proof are those of [frontiers](../explanation/frontiers.md) |
| `<` | the schedule after it is better; it was found and verified |
| `=` | no schedule with the same number of chunks has fewer rounds (bandwidth bound); fewer steps are not excluded |
| `?` | open; the rounds that bounds do not exclude |
| `†` | it passes endpoints within a step, which the machine of the frontier cannot, and no point there covers it |

In brackets: steps overlap, or chunks are not equally shared. `composed`: the best all-gather, first reversed, then as it is;
`searched`: found by the formula. An algorithm that is not listed does not cover the network. Written by `python -m
tools.tables.certified`.

| network | collective | MultiTree | best | proofs | algorithms |
|---|---|---|---|---|---|
"""


def table(specs: Iterable[str]) -> Iterator[str]:
    """The rows of the table, network by network."""
    for spec in specs:
        topology = parse_topology(spec)
        endpoints = len(topology.endpoints)
        best, row = frontier_row(topology, parse_collective("all-gather"), 1)
        yield row
        if endpoints <= PAIRS or topology.is_direct:
            yield frontier_row(topology, parse_collective("broadcast", int(topology.endpoints[0])), 1)[1]
        if endpoints <= PAIRS:
            yield frontier_row(topology, parse_collective("all-to-all"), 1)[1]
        if endpoints <= WHOLE:
            yield frontier_row(topology, parse_collective("all-reduce"), endpoints)[1]
        else:
            halves = [both for one in best for both in composed(one)][:1]
            yield bounds_row(topology, ({"composed": halves[0]} if halves else {}) | searched(topology, halves))


def frontier_row(topology: Topology, collective: Collective, max_chunks: int) -> tuple[list[Schedule], str]:
    """The row of a frontier that was searched and verified, and its schedules."""
    made = known_schedules(topology, collective, Monitor())
    search = FrontierSearch(topology, collective, max_chunks, 1, Monitor(), made)
    search.run()
    found = search.result
    if not check_frontier(found.document(), topology.name).valid:
        raise AssertionError(f"{topology.name}: the frontier of {collective.words} is refuted")
    points = list(found.points)
    kinds = ", ".join(sorted({proof["kind"] for proof in found.refuted.values()} - {"implied"})) or "by definition"
    proofs = f"undecided: {', '.join(map(told, found.undecided))}; {kinds}" if found.undecided else kinds

    def verdict(point: Point) -> str:
        return " *" if point in points and not found.undecided else " ?"

    return list(found.points.values()), line(search, collective, points, proofs, made, verdict)


def bounds_row(topology: Topology, more: Mapping[str, Schedule]) -> str:
    """The row of an all-reduce that is too large for a frontier; `more`: schedules in addition to the published ones."""
    collective = Collective(CollectiveKind.ALL_REDUCE)
    made = {**known_schedules(topology, collective, Monitor()), **more}
    search = FrontierSearch(topology, collective, MOST, 1, Monitor(), made)
    refuter = Refuter(search.question)
    points = undominated(search.known.values())

    def verdict(point: Point) -> str:
        least = max(refuter.bound_rounds(point[0]), search.question.least_steps[0])
        return " =" if point[2] == least else f" ? {least}"

    proofs = f"{refuter.bandwidth[1]['kind']}: {refuter.bandwidth[0]} rounds per chunk"
    return line(search, collective, points, proofs, made, verdict)


def searched(topology: Topology, halves: list[Schedule]) -> dict[str, Schedule]:
    """A schedule of one chunk per endpoint with fewer steps than a composed one, found by SAT, symmetric ones first; None on large
    networks."""
    if len(topology.endpoints) > PAIRS or not halves:
        return {}
    refuter = Refuter(Question(topology, Collective(CollectiveKind.ALL_REDUCE), 1, 1, 1))
    chunks, here = halves[0].chunks, Here(refuter.question, Monitor())
    for steps in range(max(refuter.bound_rounds(chunks), refuter.question.least_steps[0]), rounds_of(halves[0])):
        point = chunks, steps, steps
        for group in here.groups_for(point):
            if (found := here.answer(Ask(point, CONFLICTS, group)).schedule) is not None:
                return {"searched": found}
        asking = TrustedClauses(refuter.question.at(point))
        asking.encode()
        if asking.solve(Budget(CONFLICTS), Monitor(), CONFLICTS).has_solution:
            return {"searched": asking.decode()}
    return {}


def line(
    search: FrontierSearch,
    collective: Collective,
    points: list[Point],
    proofs: str,
    made: Mapping[str, Schedule],
    verdict: Callable[[Point], str],
) -> str:
    """One row in Markdown. `verdict`: that of a Pareto-optimal point."""
    rated = []
    for name in sorted({*made, *search.known}):
        point = search.known.get(name) or numbers(search, made[name])
        if point is None:
            rated.append(f"({name})")
            continue
        better = [other for other in points if other != point and covers(other, point)]
        words = f" < {told(min(better, key=rate))}" if better else verdict(point) if name in search.known else " †"
        rated.append(f"{name} {told(point)}{words}")
    trees = told(search.known["multitree"]) if "multitree" in search.known else "–"
    cells = (search.question.topology.name, str(collective.kind), trees, " ".join(map(told, points)), proofs, "; ".join(rated))
    return "| " + " | ".join(cells) + " |"


def rate(point: Point) -> Fraction:
    """Rounds per chunk."""
    return Fraction(point[2], point[0])


def numbers(search: FrontierSearch, schedule: Schedule) -> Point | None:
    """The chunks, steps and rounds of a schedule outside the frontier's model; None where they mean something else there."""
    each = 1 if search.question.is_sum else len(search.question.demands)
    if schedule.delay != 1 or schedule.period is not None or schedule.chunks % each:
        return None
    return schedule.chunks // each, schedule.steps, rounds_of(schedule)


def told(point: Point) -> str:
    """A point without spaces."""
    return "({},{},{})".format(*point)


def main() -> None:
    """Write the table."""
    sys.stdout.write(HEAD)
    for row in table(NETWORKS):
        sys.stdout.write(row + "\n")
        sys.stdout.flush()
    optima.main()


if __name__ == "__main__":
    main()
