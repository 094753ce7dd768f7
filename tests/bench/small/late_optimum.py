"""The fewest rounds of an all-reduce with one late rank, by search, at 4 to 6 ranks.

    python -m tests.bench.small.late_optimum [--ranks 4,5,6] [--chunks 8] [--seconds 60]

In a round each rank sends one chunk at most and gets one at most, as on a switch. Before the late rank comes the others have all
the time that they want, so each of them has the sum P of their own contributions of every chunk. From then on the sum of all of a
chunk is at another rank once it has got the chunk from the late rank, or the sum from any other; and at the late rank once it has
got P or the sum. So K chunks are broadcast by the late rank, and K messages reach it.

*Bound.* The late rank sends one chunk a round, so some chunk leaves it for the first time in round K or later. At the end of that
round two ranks have its sum at most, the late one and the one that got it, and at most twice as many after each further round:
K + ceil(log2 n) − 1 rounds or more. CP-SAT looks for a schedule in that many; what it finds is executed here, rule by rule.
Where it finds one, that is the optimum; where it shows that there is none, the optimum is larger; else the line says unknown.

A line for each number of ranks and chunks: the bound, what the search says, the optimum, the rounds that `late_ranks.in_rounds`
plans from the first exchange with the late rank on, where it has a plan for that many chunks, and those of StragglAR (arXiv
2505.23523), for powers of two and n − 1 chunks: n + log2 n − 2.
"""

import argparse
from collections.abc import Iterable, Sequence
from itertools import permutations, product

import numpy as np
from ortools.sat.python import cp_model

from certree.extras.joint.make.late_ranks import planned
from certree.models.machine.machine import load_machine
from certree.models.network.spec import parse_topology
from certree.models.schedule.collective import CollectiveKind, parse_collective
from certree.synth.method import Request

#: round, chunk, from, to; the late rank is 0
Message = tuple[int, int, int, int]


def least_rounds(ranks: int, chunks: int) -> int:
    """The bound."""
    return chunks + (ranks - 1).bit_length() - 1


def search(ranks: int, chunks: int, rounds: int, seconds: float) -> list[Message] | bool:
    """A schedule in N rounds; False where there is none, True where the search found neither in time."""
    model = cp_model.CpModel()
    moves = {
        (turn, chunk, a, b): model.new_bool_var(f"{turn} {chunk} {a} {b}")
        for turn, chunk in product(range(rounds), range(chunks))
        for a, b in permutations(range(ranks), 2)
    }
    for turn, rank in product(range(rounds), range(ranks)):
        for side in (2, 3):
            model.add_at_most_one(move for key, move in moves.items() if key[0] == turn and key[side] == rank)
    for chunk, rank in product(range(chunks), range(ranks)):
        model.add_exactly_one(moves[turn, chunk, a, rank] for turn in range(rounds) for a in range(ranks) if a != rank)
    for (turn, chunk, a, b), move in moves.items():
        if a and b:  # a sum is passed on once it is there; what the late rank has and what it gets need nothing
            before = [moves[earlier, chunk, one, a] for earlier in range(turn) for one in range(ranks) if one != a]
            model.add_bool_or([*before, ~move])
    for chunk in range(chunks - 1):  # chunks are equal: they leave the late rank for the first time in order
        for turn in range(rounds):
            left = [[moves[at, one, 0, b] for at in range(turn + 1) for b in range(1, ranks)] for one in (chunk, chunk + 1)]
            for later in left[1]:
                model.add_bool_or([*left[0], ~later])
    solver = cp_model.CpSolver()
    solver.parameters.max_time_in_seconds, solver.parameters.num_workers, solver.parameters.random_seed = seconds, 1, 0
    status = solver.solve(model)
    if status in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return sorted(key for key, move in moves.items() if solver.value(move))
    return status != cp_model.INFEASIBLE


def faults(ranks: int, chunks: int, messages: Iterable[Message]) -> list[str]:
    """What is wrong with a schedule, executed round by round; nothing where all ranks end with the sums of all chunks."""
    found: list[str] = []
    has: set[tuple[int, int]] = set()  # (rank, chunk) with the sum of all
    turn, sent, got = -1, set[int](), set[int]()
    fresh: set[tuple[int, int]] = set()
    for at, chunk, a, b in sorted(messages):
        if at != turn:
            has |= fresh
            turn, sent, got, fresh = at, set(), set(), set()
        if a in sent or b in got:
            found.append(f"round {at}: rank {a} sends twice, or {b} gets two")
        if a and b and (a, chunk) not in has:
            found.append(f"round {at}: rank {a} has no sum of chunk {chunk}")
        sent.add(a)
        got.add(b)
        fresh.add((b, chunk))
    has |= fresh
    return found + [
        f"rank {rank} lacks chunk {chunk}" for rank in range(ranks) for chunk in range(chunks) if (rank, chunk) not in has
    ]


def rounds_of_method(ranks: int, each: int) -> int:
    """The rounds of the plan with `each` chunks of each early rank, from the first with the late rank on, without any latency."""
    network = parse_topology(f"switch:{ranks}")
    request = Request(network, parse_collective(CollectiveKind.ALL_REDUCE), 1 << 20, load_machine("multitree"))
    made = planned(request, np.arange(1, ranks), 0, each, 1, 1 << 20)
    late = (made.src == 0) | (made.dst == 0)
    return int(made.step.max()) + 1 - int(made.step[late].min())


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--ranks", default="4,5,6")
    parser.add_argument("--chunks", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=60)
    asked = parser.parse_args()
    print("| ranks | chunks | bound | search | optimum | here | StragglAR |")
    print("|---|---|---|---|---|---|---|", flush=True)
    for ranks in map(int, asked.ranks.split(",")):
        for chunks in range(1, asked.chunks + 1):
            _tell(ranks, chunks, asked.seconds)


def _tell(ranks: int, chunks: int, seconds: float) -> None:
    bound = least_rounds(ranks, chunks)
    found = search(ranks, chunks, bound, seconds)
    words: Sequence[object] = ("none in as many", f"> {bound}")
    if isinstance(found, list):
        assert not faults(ranks, chunks, found)
        words = ("found", bound)
    elif found:
        words = ("unknown", "unknown")
    here = rounds_of_method(ranks, chunks // (ranks - 1)) if chunks % (ranks - 1) == 0 else "-"
    published = ranks + ranks.bit_length() - 3 if chunks == ranks - 1 and not ranks & (ranks - 1) else "-"
    print(f"| {ranks} | {chunks} | {bound} | {words[0]} | {words[1]} | {here} | {published} |", flush=True)


if __name__ == "__main__":
    main()
