"""`bound --endpoint`: what it prints, that it is the bound of runs in equal shares, and bad input."""

import numpy as np
import pytest

import certree.api as ct
from certree.extras.endpoints.command.endpoint_bounds import bound_with_endpoint
from certree.extras.endpoints.run.tables.table_endpoints import bound_of
from certree.hw.tables.lowering import lower
from tests.cli.running import assert_bad_input, certree, json_of
from tests.extras.endpoints.run.tables_drawn import ACE
from tests.hw.made import MULTITREE


def test_it_names_the_unit_and_the_class() -> None:
    report = json_of("bound", "torus:4x4", "--size", "4MiB", "--endpoint", "baseline", "--json")["endpoint"]
    assert report["cycles"] == max(report["terms"].values()) == report["terms"][report["unit"]]
    assert report["unit"] == "links"
    assert "switches do not add" in report["class"]
    words = certree("bound", "torus:4x4", "--size", "4MiB", "--endpoint", "ace:sram=4KiB").out
    assert "time with endpoints ace:sram=4KiB ≥" in words
    assert ": SRAM\n" in words


@pytest.mark.parametrize(
    "collective", ["all-reduce", "all-gather", "reduce-scatter", "broadcast", "reduce", "all-to-all", "gather", "scatter"]
)
def test_equal_shares_are_those_of_tables(collective: str) -> None:
    """On four nodes with whole granules the network's bound is that of tables."""
    root = 0 if collective in ("broadcast", "reduce", "gather", "scatter") else None
    method = "direct" if collective == "all-to-all" else "multitree" if root is None else "binomial"
    made = ct.synthesize("full:4", collective, root=root, method=method, size=3 << 16)
    tables = lower(made, 3 << 16, MULTITREE)
    for system in ACE.systems:
        found = bound_with_endpoint("full:4", collective, root=root, size=3 << 16, system=system.name, machine=MULTITREE)
        assert found == bound_of(tables, ACE, system)


def test_a_demand() -> None:
    demand = ct.demand([[0, 4096, 0], [0, 0, 64], [0, 0, 0]], "ring:3")
    found = bound_with_endpoint("ring:3", ct.collective("alltoallv", demand=demand), size=demand.granules * 16, system="ideal")
    rates = np.array([4096 // 16 // 2])
    assert found.terms == {"links": int(rates[0]) + 2 + 6 + 150 + 1}


def test_bad_input() -> None:
    assert_bad_input(certree("bound", "torus:4x4", "--endpoint", "ace"), "--endpoint needs --size")
    assert_bad_input(
        certree("bound", "torus:4x4", "--size", "1MiB", "--endpoint", "dpu"), "unknown system 'dpu'; known: none, baseline"
    )
