"""What a schedule costs in the terms of GenModel, counted from its transfers and nothing else."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from certree.models.schedule import Op, Schedule


@dataclass(frozen=True)
class Counted:
    """Coefficients for a vector of one float: the busiest endpoint counts. `incast`: (communicators, floats received) by step."""

    steps: int
    received: Fraction
    additions: Fraction
    accesses: Fraction
    incast: tuple[tuple[int, Fraction], ...]


def count(schedule: Schedule) -> Counted:
    """A reduction of f terms into a cell in one step is f - 1 additions, f reads and a write. Communicators of a many-to-one
    transfer are the senders and the receiver."""
    nodes, chunks = len(schedule.topology.kind), schedule.chunks
    received = np.zeros((schedule.steps, nodes), np.int64)
    np.add.at(received, (schedule.step, schedule.dst), 1)
    pairs = np.unique(np.stack([schedule.step, schedule.dst, schedule.src]), axis=1)
    senders = np.zeros((schedule.steps, nodes), np.int64)
    np.add.at(senders, (pairs[0], pairs[1]), 1)
    reduces = schedule.op == Op.REDUCE
    cells = np.stack([schedule.step[reduces], schedule.dst[reduces], schedule.chunk[reduces]])
    cell, terms = np.unique(cells, axis=1, return_counts=True)
    additions, accesses = np.zeros(nodes, np.int64), np.zeros(nodes, np.int64)
    np.add.at(additions, cell[1], terms)
    np.add.at(accesses, cell[1], terms + 2)
    return Counted(
        schedule.steps,
        Fraction(int(received.max(axis=1).sum()), chunks),
        Fraction(int(additions.max()), chunks),
        Fraction(int(accesses.max()), chunks),
        tuple((int(s.max()) + 1, Fraction(int(r.max()), chunks)) for s, r in zip(senders, received, strict=True)),
    )
