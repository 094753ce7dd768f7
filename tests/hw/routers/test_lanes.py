"""Lanes that messages take through routers, by hand."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from certree.hw.engines.core_program import first_cells
from certree.hw.engines.flit import FlitEngine
from certree.hw.engines.runs import Options
from certree.hw.tables.lowering import lower
from certree.models.network.routing import DIRECT
from certree.models.network.topology import Topology
from certree.models.routers.lanes import fixed_lanes, messages_of_tables
from certree.models.schedule.schedule import Schedule
from certree.models.tables.tables import Tables
from tests.hw.trees import MULTITREE
from tests.verify.build import COPY, build, network

#: two endpoints at each of two switches, which two lanes join in each direction
BRIDGE: Topology = network(
    "eeeess", [*((a, b, 1) for node in range(4) for a, b in ((node, 4 + node // 2), (4 + node // 2, node))), (4, 5, 2), (5, 4, 2)]
)


def lanes_between(tables: Tables, period: int = 100) -> dict[tuple[int, int, int], int]:
    """The lane from switch 4 to switch 5 of the messages (step, src, dst) that pass there."""
    _, sent = messages_of_tables(tables)
    fixed = fixed_lanes(tables.schedule, sent, period)
    assert fixed is not None
    bridge = int(tables.topology.pair_index([4], [5])[0])
    names = zip(*(sent[name].tolist() for name in ("step", "src", "dst")), strict=True)
    return {
        name: lane
        for name, (pairs, numbers) in zip(names, fixed, strict=True)
        for pair, lane in zip(pairs.tolist(), numbers.tolist(), strict=True)
        if pair == bridge
    }


def over_the_bridge(transfers: list[tuple[int, int, int]]) -> Tables:
    """Copies (step, src, dst) of the chunk of each source; to nodes at the same switch over it alone."""
    links = {(int(a), int(b)): number for number, (a, b) in enumerate(zip(BRIDGE.src, BRIDGE.dst, strict=True))}

    def route(src: int, dst: int) -> tuple[int, ...]:
        passed = (src, 4 + src // 2, 4 + dst // 2, dst) if src // 2 != dst // 2 else (src, 4 + src // 2, dst)
        return tuple(links[pair] for pair in pairwise(passed))

    rows = [(src, COPY, step, src, dst) for step, src, dst in transfers]
    routes = [route(src, dst) for _, src, dst in transfers]
    schedule: Schedule = build(BRIDGE, "all-gather", rows, roots=[0, 1, 2, 3], route=list(range(len(rows))), routes=tuple(routes))
    return lower(schedule, 256, MULTITREE)


ALL = [(step, src, (src + step + 1) % 4) for step in range(3) for src in range(4)]


def test_messages_of_one_slot_take_lanes_in_turn() -> None:
    """In each slot the messages of node 0 come before those of node 1."""
    assert lanes_between(over_the_bridge(ALL)) == {(0, 1, 2): 0, (1, 0, 2): 0, (1, 1, 3): 1, (2, 0, 3): 0}


def test_slots_of_iterations_that_overlap_are_one() -> None:
    """With a period of one slot all messages share it: they count on, row by row."""
    found = lanes_between(over_the_bridge(ALL), period=1)
    assert found == {(1, 0, 2): 0, (2, 0, 3): 1, (0, 1, 2): 0, (1, 1, 3): 1}


def test_what_stays_in_a_node_takes_no_lane() -> None:
    tables = over_the_bridge(ALL)
    _, sent = messages_of_tables(tables)
    local = {"src": 0, "dst": 0, "route": DIRECT, "step": 0}
    more = {name: np.insert(sent[name], 3, value) for name, value in local.items()}
    found = [fixed_lanes(tables.schedule, columns, 100) for columns in (sent, more)]
    assert str(found[0]) == str(found[1])


def in_fine_slots(tables: Tables) -> Tables:
    """The tables with their slots, each of which any message fits into, as times."""
    return lower(replace(tables.schedule, slot_cycles=tables.slot_cycles), 256, MULTITREE)


def test_in_fine_slots_messages_take_the_first_lane_that_is_free() -> None:
    """Only the two of step 1 are on the bridge at the same time; they enter by source."""
    tables = in_fine_slots(over_the_bridge(ALL))
    assert tables.fine_slots
    assert lanes_between(tables) == {(0, 1, 2): 0, (1, 0, 2): 0, (1, 1, 3): 1, (2, 0, 3): 0}


def test_messages_to_neighbours_take_any_lane() -> None:
    tables = lower(
        build("ring:3,capacity=2", "broadcast", [(0, COPY, 0, 0, 1), (0, COPY, 0, 0, 2)], collective_root=0), 64, MULTITREE
    )
    assert fixed_lanes(tables.schedule, messages_of_tables(tables)[1], 1) is None


@pytest.mark.parametrize("fine", [False, True])
def test_lanes_are_those_of_the_engine(fine: bool) -> None:
    """Each message has a route of its own in the core: its channels, in the order of messages."""
    tables = over_the_bridge(ALL)
    tables = in_fine_slots(tables) if fine else tables
    engine = FlitEngine(tables, Options(engine="flit"), first_cells(tables))
    routes, _, _ = engine._plan()
    names = [engine.network.lane_name(int(lane)) for lanes in routes for lane in lanes]
    wide = [name for name in names if name.startswith("4>5")]
    assert wide == [f"4>5 lane {lane}" for lane in lanes_between(tables).values()]
