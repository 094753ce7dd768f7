"""A name or number that the core does not know is refused with those that are allowed, never taken for a default."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

from certree.extras.endpoints.model.endpoint import load_endpoint
from certree.extras.endpoints.run.endpoint_program import Choices, EndpointProgram, Payload
from certree.hw import _core
from certree.hw.engines.core_program import Program
from certree.hw.engines.flit import FlitEngine
from certree.hw.engines.runs import Options
from certree.hw.engines.table_rows import TableRows
from certree.hw.routers.network import RouterNetwork, TrafficClass
from certree.models.network.spec import parse_topology
from certree.models.routers.virtual_channels import ClassVcs
from certree.models.schedule.collective import CollectiveKind
from certree.models.tables.tables import Tables
from certree.synth import _native
from tests.hw.trees import MULTITREE, tree_schedule


@contextmanager
def refused(message: str) -> Iterator[None]:
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        yield


def run_of(tables: Tables, *, engine: str = "fast", mode: str = "slotted", op: int = 1, **scalars: int) -> _core.Run:
    program = Program(tables, TableRows(tables))
    program.columns["row_op"][0] = op
    cells = np.zeros((program.scalars["nodes"], tables.chunks * tables.repeats), np.uint64)
    return _core.Run(program.scalars | scalars, program.columns, engine, mode, cells, False)


def test_names_that_are_allowed_are_taken(tables: Tables) -> None:
    for engine in ("fast", "lanes"):
        for mode in ("slotted", "paced"):
            assert run_of(tables, engine=engine, mode=mode).advance(1 << 30)


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        ({"engine": "flit"}, "unknown engine 'flit'; allowed: fast, lanes"),
        *(({"mode": mode}, f"unknown run mode '{mode}'; allowed: slotted, paced") for mode in ("", "Paced", "slotted ")),
        ({"op": 3}, "simulator program: row_op; allowed: 0 (nop), 1 (reduce), 2 (gather)"),
        ({"period": -1}, "period is out of range"),
    ],
)
def test_runs_without_routers(tables: Tables, choice: dict[str, Any], message: str) -> None:
    with refused(message):
        run_of(tables, **choice)


@pytest.mark.parametrize("mode", ["", "fast"])
def test_run_modes_through_routers(tables: Tables, mode: str) -> None:
    """What `Options` would not let through."""
    cells, options = np.zeros((6, tables.chunks * tables.repeats), np.uint64), Options()
    object.__setattr__(options, "mode", mode)
    with refused(f"unknown run mode '{mode}'; allowed: slotted, paced"):
        FlitEngine(tables, options, cells)


@pytest.mark.parametrize(
    ("scalar", "message"),
    [
        ("allocator", "unknown allocator 2; allowed: 0 (islip), 1 (separable)"),
        ("rotate_vcs", "unknown rotate_vcs 2; allowed: 0 (no), 1 (yes)"),
        ("reuse_when_empty", "unknown reuse_when_empty 2; allowed: 0 (no), 1 (yes)"),
    ],
)
def test_policies_of_routers(scalar: str, message: str) -> None:
    network = RouterNetwork(parse_topology("ring:4"), MULTITREE, [TrafficClass(ClassVcs(0, 3), 1)])
    columns = network.core_columns([])
    assert _core.PacketStepper(network.scalars, columns).is_idle
    with refused(message):
        _core.PacketStepper(network.scalars | {scalar: 2}, columns)


@pytest.mark.parametrize(
    ("scalar", "message"),
    [
        ("system", "unknown system 3; allowed: 0 (accelerator), 1 (engine), 2 (ideal)"),
        ("in_order", "unknown in_order 3; allowed: 0 (no), 1 (yes)"),
        ("apart", "unknown apart 3; allowed: 0 (no), 1 (yes)"),
        ("lifo", "unknown lifo 3; allowed: 0 (no), 1 (yes)"),
        ("row_adds", "endpoint program: row_adds is 0 (overwrite) or 1 (add)"),
    ],
)
def test_policies_of_endpoints(scalar: str, message: str) -> None:
    schedule, ace = tree_schedule("ring:4", CollectiveKind.ALL_REDUCE, 2, delay=1, repeats=1, seed=1), load_endpoint("ace")
    program = EndpointProgram(schedule, ace, ace.system("ace"), [Payload(1 << 16)], Choices())
    if scalar in program.columns:
        program.columns[scalar][0] = 3
    else:
        program.scalars[scalar] = 3
    with refused(message):
        _core.EndpointRun(program.scalars, program.columns, program.first_cells(), False)


@pytest.mark.parametrize("turns", [-1, 3])
def test_turns_of_growing_trees(turns: int) -> None:
    none = np.zeros(0, np.int32)
    with refused(f"unknown turns {turns}; allowed: 0 (ascending), 1 (remaining height), 2 (authors)"):
        _native.grow_trees(np.zeros(0, np.uint8), none, none, none, none, np.zeros(0, np.int64), none, turns, none, 0)
