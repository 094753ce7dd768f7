"""Parts and prices for the bound by tolls, for all-reduces where the two directions of links differ.

The witness (`certree.verify.bounds.witnesses.all_reduce.tolls`) partitions the nodes and puts a price on every link; the prices of
the cheapest link out of a part and of the cheapest into it are what the part pays for each chunk. For given parts the best prices
are a linear program: let o_Q be the price of leaving the part Q and i_Q that of entering it; a link costs the larger of o and i at
its ends. Candidate parts are the single nodes, and the groups of nodes that the sets which limit a packing
(`certree.synth.packing.directed`) do not separate.
"""

from contextlib import suppress
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree.models.common.errors import UndecidedError
from certree.synth.graphs.lengths import best_rounding
from certree.synth.packing.directed import MAX_WORK, Split
from certree.verify.bounds.instance import Instance
from certree.verify.bounds.witness import Bound, make_bound

_DEAREST = 1 << 16  # of the prices before they are rounded

Int64 = NDArray[np.int64]


def best_tolls(instance: Instance) -> Bound | None:
    """The best toll bound found on an all-reduce; None for networks of more than MAX_WORK endpoints times pairs.

    It costs as much as `Split.best` and two linear programs with a variable for each link.
    """
    topology = instance.topology
    if len(topology.endpoints) * len(topology.pair_src) > MAX_WORK:
        return None
    candidates = [np.arange(len(topology.kind))]
    if instance.collective.members is None:  # what limits a packing counts all endpoints
        with suppress(UndecidedError):  # capacities too different for floating point: go on without these parts
            signs = np.array([np.frombuffer(flags, np.bool_) for _, flags in Split(topology).best().limiting])
            candidates.append(np.unique(signs, axis=1, return_inverse=True)[1].ravel())
    bounds = [_bound_among(instance, part) for part in candidates]
    return max(filter(None, bounds), key=lambda bound: Fraction(bound["value"]), default=None)


def _bound_among(instance: Instance, part: Int64) -> Bound | None:
    """The bound by the best prices that are found for these parts, as they are or rounded."""
    named, prices = np.where(instance.exists, part, -1).tolist(), _best_prices(instance, part)
    if prices is None:
        return None
    return best_rounding(prices, lambda price: make_bound(instance, "tolls", {"part": named, "price": price.tolist()}))


def _best_prices(instance: Instance, part: Int64) -> Int64 | None:
    """The price of each link that gives the best bound with these parts; links within a part are free. None where floating point
    finds none."""
    from ortools.linear_solver import pywraplp  # noqa: PLC0415

    topology = instance.topology
    tail, head = part[topology.src], part[topology.dst]
    joined, number = np.unique(tail * (part.max() + 1) + head, return_inverse=True)
    total = np.bincount(number, weights=topology.capacity)
    capacity = (total / total.max()).tolist()
    program: Any = pywraplp.Solver.CreateSolver("GLOP")

    def new() -> Any:
        return program.NumVar(0, program.infinity(), "")

    most, out, into = new(), {}, {}
    for key in np.unique(part[instance.is_member]).tolist():
        out[key], into[key] = new(), new()
        program.Add(most >= out[key] + into[key])
    program.Add(sum(out.values()) + sum(into.values()) - most == 1)
    price = [new() for _ in joined]
    for variable, (start, end) in zip(price, (divmod(key, int(part.max()) + 1) for key in joined.tolist()), strict=True):
        if start == end:
            program.Add(variable == 0)
        for ends, key in ((out, start), (into, end)):
            if start != end and key in ends:
                program.Add(variable >= ends[key])
    program.Minimize(sum(amount * variable for amount, variable in zip(capacity, price, strict=True)))
    if program.Solve() != program.OPTIMAL:
        return None
    found = np.array([variable.solution_value() for variable in price])
    prices: Int64 = np.rint(found / found.max() * _DEAREST).astype(np.int64)
    return prices[number]
