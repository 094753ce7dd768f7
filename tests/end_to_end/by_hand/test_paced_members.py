"""Paced runs of collectives among some endpoints, whose chunks pass nodes that have the same chunk themselves."""

import numpy as np
import pytest

import certree.api as ct
from certree.hw.run import through_files
from certree.models.schedule.collective import parse_collective


@pytest.mark.parametrize("network", ["mesh:2x3", "mesh:3x3", "ring:6"])
@pytest.mark.parametrize("members", [[0, 1, 5], [0, 2, 4, 5]])
def test_rows_need_not_wait_for_all_that_their_cell_ever_gets(network: str, members: list[int]) -> None:
    made = ct.synthesize(network, method="ring", collective=parse_collective("all-reduce", members=members), size=4096)
    assert made.made_for is not None
    tables = through_files(made, made.made_for.message_bytes, made.made_for.machine)
    keys, cell = tables.arrival_keys(), tables.cells(tables.node, tables.flow, tables.src_buffer)
    place = np.minimum(np.searchsorted(keys, cell), len(keys) - 1)
    gets = np.where(keys[place] == cell, tables.arrival_count[place], 0)
    assert (tables.wait < gets).any()
    cycles = {
        engine: ct.simulate(tables, run="paced", engine=engine, without_routers=engine != "flit") for engine in ("lanes", "flit")
    }
    assert all(result.data_ok for result in cycles.values())
