"""The results of an execution, computed in one process from the same duties: the order of all additions is that of the schedule."""

import hashlib
from collections import defaultdict
from collections.abc import Iterator

import numpy as np

from certree.extras.runtimes.run.duties import Act, Duties, Place
from certree.extras.runtimes.run.numbers import OPERATIONS, Vector, combined, contribution, exact
from certree.verify.order.expressions import Expression

_EPSILON = {"float32": 2.0**-24, "float16": 2.0**-11, "bfloat16": 2.0**-8}  # half of the last place


def digest(values: Vector) -> bytes:
    """The SHA-256 of the bits of a vector."""
    return hashlib.sha256(np.ascontiguousarray(values).tobytes()).digest()


def results(duties: Duties, kind: str, operation: str) -> Iterator[tuple[int, dict[int, Vector]]]:
    """For each chunk the values that the ranks that need it must have, bit for bit; one chunk after the other. O(messages)."""
    by_chunk = _by_chunk(duties)
    for chunk, count in enumerate(duties.counts):
        held: dict[tuple[int, Place], Vector] = {
            (rank, (chunk, 0)): contribution(kind, rank, chunk, count) for rank in duties.owners[chunk]
        }
        sent: dict[int, Vector] = {}
        for rank, at in by_chunk[chunk]:
            duty = duties.of[rank][at]
            if duty.act is Act.SEND:
                sent[duty.number] = held[rank, duty.src]
                continue
            value = sent.pop(duty.number) if duty.act is Act.RECEIVE else held[rank, duty.src]
            target = rank, duty.dst
            held[target] = combined(kind, operation, held[target], value) if duty.adds and target in held else value
        yield chunk, {rank: held[rank, (chunk, 0)] for rank in duties.due[chunk]}


def in_order(duties: Duties, expression: Expression, kind: str, operation: str, chunk: int) -> Vector:
    """The result of a chunk if its contributions are combined in the order of an expression over ranks, whatever the schedule does.
    O(contributions)."""
    values = [contribution(kind, rank, chunk, duties.counts[chunk]) for rank in expression.ranks]
    for first, second in expression.parts:
        values.append(combined(kind, operation, values[first], values[second]))
    return values[-1]


def error(duties: Duties, kind: str, operation: str, chunk: int, value: Vector) -> float:
    """The largest error of a result against exact arithmetic, over the bound for any order of additions: up to 1 is right.

    The bound for a sum of n numbers is (n − 1) roundings of the sum of their absolute values; maxima and copies have none.
    """
    inputs = np.stack([exact(kind, contribution(kind, rank, chunk, duties.counts[chunk])) for rank in duties.owners[chunk]])
    difference = np.abs(exact(kind, value) - OPERATIONS[operation].reduce(inputs))
    if operation != "sum" or kind == "int32" or len(inputs) == 1:
        return float("inf") if difference.any() else 0.0
    bound = 1.01 * (len(inputs) - 1) * _EPSILON[kind] * np.abs(inputs).sum(axis=0) + 1e-7
    return float((difference / bound).max())


def _by_chunk(duties: Duties) -> dict[int, list[tuple[int, int]]]:
    """For each chunk (rank, number of its duty), in an order in which what is received was sent before."""
    next_duty = [0] * duties.ranks
    sent: set[int] = set()
    found: defaultdict[int, list[tuple[int, int]]] = defaultdict(list)
    waiting: dict[int, int] = {}
    ready = list(range(duties.ranks))
    while ready:
        rank = ready.pop()
        while next_duty[rank] < len(duties.of[rank]):
            duty = duties.of[rank][next_duty[rank]]
            if duty.act is Act.RECEIVE and duty.number not in sent:
                waiting[duty.number] = rank
                break
            found[duty.dst[0]].append((rank, next_duty[rank]))
            next_duty[rank] += 1
            if duty.act is Act.SEND:
                sent.add(duty.number)
                if duty.number in waiting:
                    ready.append(waiting.pop(duty.number))
    return found
