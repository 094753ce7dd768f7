"""Messages of tables as pieces of transfers of DMAs: the gap of a bus follows the last piece."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from certree.extras.endpoints.model.endpoint import Endpoint
from certree.extras.endpoints.run.tables.pieces import last_pieces
from certree.extras.endpoints.run.tables.table_runs import endpoint_of_runs
from certree.hw.engines.runs import Options
from certree.hw.run import run
from certree.hw.tables.lowering import lower
from certree.models.schedule.schedule_columns import Op
from certree.models.tables.tables import Tables
from tests.extras.endpoints.run.tables_drawn import ACE
from tests.hw.made import MULTITREE
from tests.verify.build import build

COPY, REDUCE = int(Op.COPY), int(Op.REDUCE)
#: node 0 sends four chunks to node 1 in one step
FOUR = build("ring:2,link-capacity=0-1:4", "broadcast", [(chunk, COPY, 0, 0, 1) for chunk in range(4)], collective_root=0)


def test_pieces_by_hand() -> None:
    """Five messages of node 0 in step 0: three sums to node 1, a copy to node 1, a sum to node 2; and one sum in step 1."""
    names = {"src": 0, "step": 0, "dst": 1, "op": REDUCE, "route": -1}
    rows = [{}, {"dst": 2}, {}, {"op": COPY}, {}, {"step": 1}]
    sent = {name: np.array([row.get(name, usual) for row in rows]) for name, usual in names.items()}
    sizes = np.full(6, 1024)
    assert last_pieces(sent, sizes, None).tolist() == [0, 1, 0, 1, 1, 1]
    assert last_pieces(sent, sizes, 2048).tolist() == [0, 1, 1, 1, 1, 1]
    assert last_pieces(sent, sizes, 1000).tolist() == [1] * 6
    nothing = {name: column[:0] for name, column in sent.items()}
    assert last_pieces(nothing, sizes[:0], None).tolist() == []


def _cycles(tables: Tables, gap: int, message_bytes: int | None, system: str = "baseline") -> int:
    systems = tuple(replace(one, message_bytes=message_bytes) for one in ACE.systems)
    buses = replace(ACE.buses, memory_bytes_per_second=Fraction(4 * 10**9), gap_cycles=gap)  # memory is what takes the time
    endpoint: Endpoint = replace(ACE, systems=systems, buses=buses)
    done = run(tables, Options("paced", "fast", without_routers=True, endpoint=endpoint_of_runs(system, endpoint)))
    assert done.data_ok
    return done.cycles


def test_a_transfer_has_one_gap() -> None:
    """The memory of node 0 is read four times without a gap, with two gaps between pairs, or with a gap between all."""
    tables = lower(FOUR, 4 * 4096, MULTITREE)
    free = _cycles(tables, 0, None)
    assert [_cycles(tables, 100, limit) - free for limit in (None, 8192, 4096)] == [0, 100, 300]


@pytest.mark.parametrize("system", ["ace", "ideal"])
def test_engines_have_no_pieces(system: str) -> None:
    """What an engine sends comes out of its SRAM; gaps of buses are those of loads and returns."""
    tables = lower(FOUR, 4 * 4096, MULTITREE)
    assert _cycles(tables, 100, None, system) == _cycles(tables, 100, 4096, system)
