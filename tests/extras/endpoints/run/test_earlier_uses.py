"""Endpoints keep the order of uses of a cell: what only slots keep in order has right data paced, and slotted however late."""

from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from hypothesis import strategies as st

import certree.api as ct
from certree.extras.endpoints.model.endpoint import Endpoint
from certree.extras.endpoints.run.tables import table_endpoints
from certree.extras.endpoints.run.tables.earlier_uses import earlier_uses
from certree.extras.endpoints.run.tables.table_runs import endpoint_of_runs, run_with_endpoints
from certree.hw.engines.runs import Options, Run
from certree.hw.run import run
from certree.hw.tables.lowering import lower
from certree.models.common.errors import UnsupportedError
from certree.models.machine.clocks import parse_clocks
from certree.models.schedule.schedule_columns import Op
from certree.models.tables.tables import Tables
from certree.verify.order.agreement import race_of_tables
from tests.drawn import examples, given_at_least
from tests.extras.endpoints.run.tables_drawn import ACE, draw_buses, or_refused
from tests.hw.counted import exchanges
from tests.hw.made import MULTITREE, made, tables_of
from tests.verify.build import build

SYSTEMS = ("baseline", "ace", "ideal")
#: methods whose nodes send a chunk and receive it again, in slots
RACES = (
    ("recursive-doubling", "hypercube:2"), ("recursive-doubling", "hypercube:3"), ("ring-2d", "torus:3x3"),
    ("hierarchical", "ace-torus:2x2x2"), ("hierarchical", "mesh:2x2x2"),
)  # fmt: skip


@st.composite
def races(draw: st.DrawFn) -> tuple[Tables, Endpoint]:
    """Tables with data that are right in slots only, and endpoints; several iterations where a cell is none of several."""
    machine = replace(
        MULTITREE, link_latency_cycles=draw(st.integers(0, 300)), ni_cycles=draw(st.integers(0, 2)),
        head_flits=draw(st.integers(0, 2)), ni_buffer_flits=draw(st.sampled_from([0, 5, 400])),
    )  # fmt: skip
    size = draw(st.integers(16, 1 << 14))
    if draw(st.booleans()):
        tables = lower(
            exchanges(2, draw(st.integers(1, 3)), draw(st.integers(1, 3)), 1, draw(st.sampled_from([1, 4]))), size, machine
        )
    else:
        tables = lower(made(*draw(st.sampled_from(RACES)), size, machine), size, machine)
    engine = replace(ACE.engine, banks=draw(st.sampled_from([1, 4])), alus=draw(st.sampled_from([1, 4])))
    return tables, replace(ACE, buses=draw_buses(draw), engine=engine)


def paced(
    tables: Tables,
    system: str,
    endpoint: Endpoint = ACE,
    engine: str = "fast",
    mode: str = "paced",
    late: int = 0,
    trace: Path | None = None,
) -> Run:
    """A run that takes the tables to be right, whatever is proved of them; node 0 begins `late`."""
    model = endpoint_of_runs(system, endpoint)
    options = Options(mode, engine, without_routers=engine != "flit", endpoint=model, at_any_timing=True, trace=trace)
    return run(tables, replace(options, clocks=parse_clocks(len(tables.topology.kind), f"0={late}", None)))


@given_at_least(20, races(), st.sampled_from(SYSTEMS), st.sampled_from(["paced", "slotted"]), st.sampled_from([0, 900, 30_000]))
@examples(30)
def test_data_are_right_at_any_timing(case: tuple[Tables, Endpoint], system: str, mode: str, late: int) -> bool:
    """Message by message, flit by flit and through routers, slots being as short as a cycle and a clock late."""
    tables, endpoint = case
    tables = replace(tables, slot_cycles=1) if mode == "slotted" else tables
    fast = or_refused(partial(paced, tables, system, endpoint, mode=mode, late=late))
    if fast is None:
        return False
    assert fast.data_ok
    assert replace(paced(tables, system, endpoint, "lanes", mode, late), engine="fast") == fast
    assert paced(tables, system, endpoint, "flit", mode, late).data_ok
    return race_of_tables(tables) is not None


@pytest.mark.parametrize("system", SYSTEMS)
def test_without_the_order_data_are_wrong(system: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A node that begins late would send the sum of another one in place of what it has."""
    tables = tables_of("recursive-doubling", "hypercube:3", 4096)
    right = paced(tables, system, late=30_000)
    assert right.data_ok
    assert right.endpoint is not None
    assert right.endpoint.counts["held"] == 7
    nothing = np.zeros(0, np.int64)
    monkeypatch.setattr(table_endpoints, "earlier_uses", lambda _: (nothing, nothing))
    assert not paced(tables, system, late=30_000).data_ok


def test_uses_by_hand() -> None:
    """Exchanges: each message comes behind the one row that reads its cell, and a second one behind two; sums in any order."""
    reads, writes = earlier_uses(lower(exchanges(2, 1, 1, 0, 1), 64, MULTITREE))
    assert sorted(reads.tolist()) == [1] * 4 + [2] * 4
    assert not writes.any()
    # node 0 adds, then sends; the copy that comes back lands behind that sum, and behind both rows that read the cell
    tables = lower(build("full:3", "all-reduce", [(0, Op.REDUCE, 0, 2, 1), (0, Op.REDUCE, 1, 1, 0), (0, Op.REDUCE, 1, 0, 2),
                                                  (0, Op.COPY, 2, 0, 1), (0, Op.COPY, 3, 1, 2)]), 64, MULTITREE)  # fmt: skip
    reads, writes = earlier_uses(tables)
    moved = tables.transfers()
    order = np.lexsort((moved["dst"], moved["row"]))
    at = {(int(moved["src"][i]), int(moved["dst"][i])): place for place, i in enumerate(order)}
    assert [(int(reads[at[pair]]), int(writes[at[pair]])) for pair in ((2, 1), (1, 0), (0, 2), (0, 1), (1, 2))] == [
        (0, 0), (1, 0), (1, 0), (1, 1), (1, 1)
    ]  # fmt: skip


def test_trees_need_no_order() -> None:
    assert not len(earlier_uses(tables_of("multitree", "torus:3x3", 4096))[0])


@pytest.mark.parametrize("run_", ["paced", "slotted"])
def test_simulate_takes_what_only_slots_keep_apart(run_: str) -> None:
    """With endpoints; without them it is refused as before, and so are iterations that share memory."""
    ring = ct.synthesize("hypercube:3", method="recursive-doubling", size="64KiB")
    done = ct.simulate(ring, run=run_, endpoint="ace")
    assert done.data_ok
    assert done.endpoint is not None
    assert done.endpoint.counts["held"] >= 0
    if run_ == "paced":
        with pytest.raises(UnsupportedError, match="only slots keep the two apart"):
            ct.simulate(lower(ring, 1 << 16, MULTITREE), run=run_)


def test_ideal_keeps_its_bound() -> None:
    """The order of lanes of another system, in which messages waited for their cells, is never slower here."""
    tables = tables_of("hierarchical", "ace-torus:2x2x2", 1 << 16)
    options = Options("paced", "fast", without_routers=True, endpoint=endpoint_of_runs("ideal"), at_any_timing=True)
    best = run_with_endpoints(tables, options).cycles
    assert all(best <= paced(tables, system).cycles for system in ("baseline", "baseline++", "ace"))
