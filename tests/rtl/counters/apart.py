"""How far the timestep counters of neighbours are apart: at most, by the chains of waits, and in the runs of a case."""

from bisect import bisect_right
from collections import defaultdict

from certree.extras.tla.check.paced.chains import Program, steps_apart
from certree.extras.tla.check.paced.paced_model import in_order
from certree.hw.golden import golden_trace
from certree.models.machine.clocks import Clocks
from certree.models.tables.tables import Tables


def has_bound(tables: Tables) -> bool:
    """Whether `bound_of` is about the steps that counters show, of some two nodes.

    There is no model of messages of several sizes. That of fine slots numbers rows by their order (`in_order`); counters do not.
    """
    return not tables.has_sizes and not tables.fine_slots and bound_of(tables) > 0


def bound_of(tables: Tables) -> int:
    """The most steps by which counters of nodes can be apart, of which one sends to the other and both have rows, at any timing."""
    ordered = in_order(tables)
    return steps_apart(Program.of(ordered, ordered.period or 1, ordered.repeats), pairs_of(tables))


def pairs_of(tables: Tables) -> list[tuple[int, int]]:
    """The nodes of which one sends to the other."""
    sent = tables.transfers()
    return sorted(
        {(min(pair), max(pair)) for pair in zip(sent["src"].tolist(), sent["dst"].tolist(), strict=True) if pair[0] != pair[1]}
    )


def reached_in(tables: Tables, clocks: Clocks | None = None) -> int:
    """No fewer steps than they are apart in a run: what a counter can show at most, the step of its next row, less what another
    one shows at least, the step of its last row. O(pairs · events · log events).

    It can be more: a counter goes on to the step of its next row with time, which is not looked at.
    """
    ordered, fired = in_order(tables), defaultdict[int, list[tuple[int, int]]](list)
    first = {node: int((ordered.node < node).sum()) for node in ordered.topology.endpoints.tolist()}  # of its rows, by node
    for line in golden_trace(tables, clocks).decode().splitlines()[1:]:
        cycle, node, event, number, iteration = line.split(",")
        if event == "fire":
            step = int(ordered.step[first[int(node)] + int(number)]) + int(iteration or 0) * (ordered.period or 1)
            fired[int(node)].append((int(cycle), step))
    most = 0
    for one, other in pairs_of(tables):
        for ahead, behind in ((fired[one], fired[other]), (fired[other], fired[one])):
            cycles = [cycle for cycle, _ in behind]
            for place, (_, step) in enumerate(ahead):
                began = ahead[place - 1][0] if place else -1  # since then the row is the next one
                passed = bisect_right(cycles, began)
                if passed < len(behind):
                    most = max(most, step - (behind[passed - 1][1] if passed else 0))
    return most
