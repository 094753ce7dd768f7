"""The bound on how far the timestep counters of neighbours are apart, in the co-simulations in lockstep: no run goes beyond it.

And cells and counters of arrivals are for all iterations, so that they do not depend on it.
"""

import pytest

from certree.extras.tla.check.paced.apart import most_apart
from certree.hw.formats.bit_layout import Widths
from certree.hw.formats.systemverilog.contract import contract_text
from certree.hw.formats.systemverilog.sizes import sizes_of
from tests.rtl.cases import LOCKSTEP_CASES, late_clocks, slow_clocks
from tests.rtl.counters.apart import reached_in

EXACT = "mesh-1x2-slow-sums-lockstep"  # nobody waits: the node that starts first ends before the other one begins
#: messages of several sizes; fine slots; rows of one node only
WITHOUT = ["mesh-2x2-demand-lockstep", "mesh-2x2-fine-lockstep", "torus-4x4-fine-lockstep", "mesh-1x2-bundle-lockstep"]


@pytest.mark.parametrize("name", sorted(LOCKSTEP_CASES.keys() - set(WITHOUT)))
def test_no_run_goes_beyond_the_bound(name: str) -> None:
    tables = LOCKSTEP_CASES[name]()
    bound, reached = most_apart(tables), [reached_in(tables, clocks) for clocks in (None, late_clocks(tables), slow_clocks(tables))]
    assert bound is not None
    assert max(reached) <= bound
    if name == EXACT:
        assert max(reached) == bound > 0  # so that a bound one lower would fail here


@pytest.mark.parametrize("name", WITHOUT)
def test_some_cases_state_no_bound(name: str) -> None:
    assert most_apart(LOCKSTEP_CASES[name]()) is None


@pytest.mark.parametrize(
    ("name", "said"), [(EXACT, "at most 7, at any timing"), ("mesh-1x2-bundle-lockstep", "not stated (messages")]
)
def test_the_contract_of_a_folder_states_the_bound(name: str, said: str) -> None:
    tables = LOCKSTEP_CASES[name]()
    assert f"of which one sends to the other, are {said}" in contract_text(sizes_of(tables, Widths.of(tables)))


@pytest.mark.parametrize("name", LOCKSTEP_CASES)
def test_cells_and_counters_are_for_all_iterations(name: str) -> None:
    tables = LOCKSTEP_CASES[name]()
    sizes = sizes_of(tables, Widths.of(tables))
    assert sizes["WORK_BASE"] >= tables.repeats * sizes["STRIDE"]  # cells of the data: one for each iteration
    assert 1 << sizes["COUNT_BITS"] > tables.repeats  # arrivals of a line that can have come
