"""`python -m tools.tables.solvers`: the back ends of formulas on 500 drawn questions, and on some harder ones, as tables (some
minutes).

Every answer is checked: schedules by the verifier, refutations by the lines of CaDiCaL's proof. AssertionError where two back ends
disagree. Times are CPU seconds of one process, encoding included.
"""

import sys
import time
from collections.abc import Iterator
from random import Random

from certree.models.network.families.cabled.cables import Cables
from certree.models.network.spec import parse_topology
from certree.models.schedule.collective import WITH_ONE_ROOT, CollectiveKind, parse_collective
from certree.synth.exact.encodings.clauses import TrustedClauses
from certree.synth.exact.refuter import formula_proof
from certree.synth.monitor import Monitor
from certree.synth.solvers.back_end import AUTO, PROVING, solver_names
from certree.synth.solvers.cpsat import Budget, Status
from certree.verify.exact.question import Point, Question
from certree.verify.frontier.answers import why_not

DRAWN = 500
CONFLICTS = 1_000_000
NAMES = [name for name in solver_names() if name != AUTO]
#: network, collective, (chunks, steps, rounds)
HARDER: list[tuple[str, str, Point]] = [
    ("ring:5", "all-reduce", (5, 3, 4)),
    ("ring:5", "all-reduce", (5, 4, 4)),
    ("ring:8", "all-reduce", (6, 5, 6)),
    ("ring:8", "all-reduce", (7, 7, 7)),
    ("mesh:2x3", "all-reduce", (6, 5, 5)),
    ("mesh:2x3", "all-reduce", (6, 4, 7)),
    ("hypercube:3", "all-reduce", (6, 4, 4)),
    ("hypercube:3", "all-reduce", (7, 3, 5)),
    ("switch:4", "all-reduce", (4, 2, 6)),
    ("dgx1", "all-gather", (3, 2, 4)),
    ("dgx1", "all-gather", (6, 3, 7)),
    ("mesh:4x4", "all-gather", (1, 6, 8)),
]


def drawn(number: int) -> Question:
    """A question about a small network with switches and capacities at will, any collective, a small point."""
    random = Random(number)
    nodes = random.randint(3, 5)
    switches = random.choice([0, 0, 1])
    cables = Cables(f"drawn-{number}", nodes - switches, switches)
    joined = [(node, random.randrange(node)) for node in range(1, nodes)]
    joined += [
        (one, other) for one, other in ((random.randrange(nodes), random.randrange(nodes)) for _ in range(3)) if one != other
    ]
    for one, other in joined:
        cables.join(one, other, random.randint(1, 2))
    kind = random.choice(sorted(CollectiveKind))
    steps = random.randint(1, 4)
    collective = parse_collective(kind, 0 if kind in WITH_ONE_ROOT else None)
    return Question(cables.build(), collective, random.randint(1, 3), steps, steps + random.randint(0, 2))


def answers(question: Question) -> dict[str, tuple[Status, float, int]]:
    """The answer of each back end, checked, its CPU seconds and conflicts. AssertionError where they disagree."""
    found = {}
    for name in NAMES:
        start, budget = time.process_time(), Budget(CONFLICTS)
        asking = TrustedClauses(question, name)
        asking.encode()
        status = asking.solve(budget, Monitor(), CONFLICTS)
        found[name] = status, time.process_time() - start, int(CONFLICTS - budget.left)
        if status is Status.FEASIBLE and (reason := why_not(question, asking.decode())) is not None:
            raise AssertionError(f"{question.topology.name} {question.point}: {name}: {reason}")
        if status is Status.INFEASIBLE and name == PROVING:
            formula_proof(asking)
    decided = {status for status, _, _ in found.values()} - {Status.UNKNOWN}
    if len(decided) > 1:
        raise AssertionError(f"{question.topology.name}, {question.collective.words}, {question.point}: {found}")
    return found


def drawn_table(count: int) -> Iterator[str]:
    """A row for each answer: how many questions have it, and the times of all back ends."""
    heads = ["answer", "questions", *(f"{name}, {what}" for name in NAMES for what in ("sum", "longest"))]
    yield f"| {' | '.join(heads)} |\n|{'---|' * len(heads)}\n"
    found = [answers(drawn(number)) for number in range(count)]
    for status in (Status.FEASIBLE, Status.INFEASIBLE, Status.UNKNOWN):
        rows = [one for one in found if one[PROVING][0] is status]
        times = [[one[name][1] for one in rows] for name in NAMES]
        cells = " | ".join(f"{sum(each):.1f} s | {max(each):.2f} s" if each else "– | –" for each in times)
        yield f"| {status.value} | {len(rows)} | {cells} |\n"


def harder_table() -> Iterator[str]:
    """A row for each of the harder questions."""
    yield f"| network | collective | (C, S, R) | answer | {' | '.join(NAMES)} |\n|---|---|---|---|{'---|' * len(NAMES)}\n"
    for spec, kind, point in HARDER:
        found = answers(Question(parse_topology(spec), parse_collective(kind), *point))
        cells = " | ".join(
            f"{seconds:.2f} s, {conflicts:,} conflicts" if status is not Status.UNKNOWN else f"undecided, {seconds:.1f} s"
            for status, seconds, conflicts in found.values()
        )
        yield f"| {spec} | {kind} | {point} | {found[PROVING][0].value} | {cells} |\n"


def main() -> None:
    """Write both tables."""
    for rows in (drawn_table(DRAWN), ["\n"], harder_table()):
        for row in rows:
            sys.stdout.write(row)
            sys.stdout.flush()


if __name__ == "__main__":
    main()
