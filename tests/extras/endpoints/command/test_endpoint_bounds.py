"""`bound --endpoint`: what it prints, that it is the bound of runs in equal shares, and bad input."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import certree.api as ct
from certree.extras.endpoints.check.endpoint_bound import moved_of_message
from certree.extras.endpoints.command.endpoint_bounds import bound_with_endpoint
from certree.extras.endpoints.model.endpoint import ENDPOINTS
from certree.extras.endpoints.run.tables.table_endpoints import bound_of
from certree.hw.tables.lowering import lower
from certree.models.common.errors import UnsupportedError
from tests.cli.running import assert_bad_input, certree, json_of
from tests.extras.endpoints.run.tables_drawn import ACE
from tests.hw.made import MULTITREE
from tests.hw.made import made as made_by

MADE = made_by("multitree", "ring:4", 4096, collective="all-gather")


def test_it_names_the_unit_and_the_class() -> None:
    report = json_of("bound", "torus:4x4", "--size", "4MiB", "--endpoint", "baseline", "--json")["endpoint"]
    assert report["cycles"] == max(report["terms"].values()) == report["terms"][report["unit"]]
    assert report["unit"] == "links"
    assert report["class"] == ["any schedule and chunks", "equal shares", "switches do not add"]
    words = certree("bound", "torus:4x4", "--size", "4MiB", "--endpoint", "ace:sram=4KiB").out
    assert "time with endpoints ace:sram=4KiB ≥" in words
    assert ": SRAM\n" in words


@pytest.mark.parametrize(
    "collective", ["all-reduce", "all-gather", "reduce-scatter", "broadcast", "reduce", "all-to-all", "gather", "scatter"]
)
@pytest.mark.parametrize("size", [3 << 16, 100_003, 5])
def test_equal_shares_are_those_of_tables(collective: str, size: int) -> None:
    """The network's bound is that of tables, whose message is padded to whole granules of chunks."""
    root = 0 if collective in ("broadcast", "reduce", "gather", "scatter") else None
    method = "direct" if collective == "all-to-all" else "multitree" if root is None else "binomial"
    made = ct.synthesize("full:4", collective, root=root, method=method, size=size)
    tables = lower(made, size, MULTITREE)
    for system in ACE.systems:
        found = bound_with_endpoint("full:4", collective, root=root, size=size, system=system.name, machine=MULTITREE)
        assert found == bound_of(tables, ACE, system)


def test_a_demand() -> None:
    demand = ct.demand([[0, 4096, 0], [0, 0, 64], [0, 0, 0]], "ring:3")
    found = bound_with_endpoint("ring:3", ct.collective("alltoallv", demand=demand), size=demand.granules * 16, system="ideal")
    rates = np.array([4096 // 16 // 2])
    assert found.terms == {"links": int(rates[0]) + 2 + 6 + 150 + 1}


def test_unequal_shares_are_those_of_the_tables() -> None:
    """A node that has two of five chunks has two fifths of the message."""
    chunk_root = np.array([0, 0, 1, 2, 3])
    topology = MADE.topology
    found = moved_of_message(MADE.collective, topology, chunk_root, None, 103)
    assert (found.load.tolist(), found.result.tolist()) == ([40, 20, 20, 20], [100] * 4)
    twice = moved_of_message(MADE.collective, topology, np.repeat(chunk_root, 2), None, 103)
    assert twice.load.tolist() == found.load.tolist()


def test_one_clock() -> None:
    """What `simulate` refuses has no bound either."""
    slow = replace(MULTITREE, clock_hz=10**9 // 2)
    with pytest.raises(UnsupportedError, match="count cycles of 1000000000 Hz, and machine multitree of 500000000: give them one"):
        bound_with_endpoint("ring:4", size=4096, machine=slow)


def test_endpoints_of_a_file(tmp_path: Path) -> None:
    """A memory of 9 GB/s decides where links did."""
    asked, file = ("bound", "ring:4", "--size", "1MiB", "--endpoint", "baseline"), tmp_path / "slow.toml"
    file.write_text(ENDPOINTS.read("ace").decode().replace('"900e9"', '"9e9"'))
    assert json_of(*asked, "--json")["endpoint"]["unit"] == "links"
    assert json_of(*asked, "--endpoint-params", file, "--json")["endpoint"]["unit"] == "memory bus"
    assert_bad_input(certree(*asked, "--endpoint-params", tmp_path / "none.toml"), "none.toml")


def test_bad_input() -> None:
    assert_bad_input(certree("bound", "torus:4x4", "--endpoint", "ace"), "--endpoint needs --size")
    assert_bad_input(
        certree("bound", "ring:4", "--size", "1MiB", "--endpoint", "none"), "has the bound that is printed without --endpoint"
    )
    with pytest.raises(ct.InputError, match="none has no endpoints"):
        ct.bound_with_endpoint("ring:4", size=4096, system="none")
    assert_bad_input(
        certree("bound", "torus:4x4", "--size", "1MiB", "--endpoint", "dpu"), "unknown system 'dpu'; known: none, baseline"
    )
