"""The schedules of methods as tables on the simulated machine: the closed form to the cycle, and MultiTree paced as published."""

from pathlib import Path

import pytest

from certree.hw.engines.runs import Run
from certree.hw.tables.directory import export_tables, read_tables
from tests.hw.made import tables_of
from tests.hw.runs import on_lanes

KIB, MIB = 1 << 10, 1 << 20


def assert_certified_run(result: Run) -> None:
    assert (result.late, result.contention_cycles, result.data_ok) == (0, 0, True)
    assert result.cycles == result.closed_form_cycles


@pytest.mark.parametrize("collective", ["all-reduce", "reduce-scatter", "all-gather"])
@pytest.mark.parametrize(
    ("spec", "method"), [("ring:6", "ring"), ("mesh:3x3", "multitree"), ("torus:4x4,without-link=0-1", "multitree")]
)
def test_rooted_and_unrooted_collectives(spec: str, method: str, collective: str):
    assert_certified_run(on_lanes(tables_of(method, spec, 100 * KIB, collective=collective)))


@pytest.mark.parametrize("spec", ["mesh:4x4", "torus:4x4,without-link=5-6", "hypercube:3", "mesh:3x3,capacity=2"])
def test_packed_schedules_in_repeating_tables(spec: str, tmp_path: Path):
    tables = tables_of("packing", spec, MIB)
    export_tables(tables, tmp_path / "t")
    assert_certified_run(on_lanes(read_tables(tmp_path / "t")))


def test_multitree_on_the_eight_by_eight_mesh():
    """Some nodes serve the children of a flow in different steps and need more than two rows a flow: 139 instead of 128."""
    tables = tables_of("multitree", "mesh:8x8", MIB)
    assert max((tables.node == node).sum() for node in range(64)) == 139
    slotted, paced = on_lanes(tables), on_lanes(tables, "paced")
    assert_certified_run(slotted)
    assert paced.data_ok
    assert paced.contention_cycles > 0
    assert paced.cycles < slotted.cycles
