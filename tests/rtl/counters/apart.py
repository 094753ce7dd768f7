"""How far the timestep counters of neighbours are apart in the runs of a case."""

from bisect import bisect_right
from collections import defaultdict

from certree.extras.tla.check.paced.apart import pairs_of
from certree.extras.tla.check.paced.paced_model import in_order
from certree.hw.golden import golden_trace
from certree.models.machine.clocks import Clocks
from certree.models.tables.tables import Tables


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
