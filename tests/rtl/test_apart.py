"""The bound on how far the timestep counters of neighbours are apart, in all co-simulations in lockstep: no run goes beyond it.

And no size of the interface is below it.
"""

import pytest

from certree.hw.formats.bit_layout import Widths
from certree.hw.formats.systemverilog.sizes import sizes_of
from tests.rtl.apart import bound_of, reached_in
from tests.rtl.cases import LOCKSTEP_CASES, late_clocks, slow_clocks

EXACT = "mesh-1x2-slow-sums-lockstep"  # nobody waits: the node that starts first ends before the other one begins


@pytest.mark.parametrize("name", [name for name in LOCKSTEP_CASES if "demand" not in name])
def test_no_run_goes_beyond_the_bound_and_no_size_is_below_it(name: str) -> None:
    tables = LOCKSTEP_CASES[name]()
    bound, reached = bound_of(tables), [reached_in(tables, clocks) for clocks in (None, late_clocks(tables), slow_clocks(tables))]
    assert max(reached) <= bound
    if name == EXACT:
        assert max(reached) == bound > 0  # so that a bound one lower would fail here
    sizes, period = sizes_of(tables, Widths.of(tables)), tables.period or int(tables.step.max()) + 1
    ahead = min(tables.repeats, bound // period + 1)  # iterations by which a neighbour can be ahead
    assert sizes["WORK_BASE"] >= ahead * sizes["STRIDE"]  # cells of the data: one for each iteration
    assert 1 << sizes["COUNT_BITS"] > ahead  # arrivals of a line that can have come
