"""Schedules that know nothing of each other: as alone where nothing meets, later where messages meet, with right data."""

from dataclasses import replace

import numpy as np

import certree.api as ct
from certree.extras.joint.make.alone import alone
from certree.extras.joint.model.collective_list import Entry
from certree.extras.joint.run.independent_run import run_independent
from certree.extras.joint.run.joint_data import first_data, wrong_data
from certree.extras.joint.run.joint_routers import lanes_of_uses
from certree.extras.joint.run.joint_rows import JointRows, tables_of
from certree.extras.joint.run.joint_run import run_joint
from certree.models.fine.slots import fine_times
from tests.extras.joint.small_joint import entries


def test_one_is_as_alone() -> None:
    in_turn, independent = alone("ring:4", entries()[:1])
    done = run_independent(independent)
    assert done.holds
    assert done.cycles == in_turn.cycles == run_joint(in_turn, "flit").cycles


def test_those_that_meet_end_later_with_right_data() -> None:
    """Two all-to-alls want the same links; each keeps the other back, and neither takes longer than both one after the other."""
    pair = [Entry(name, ct.collective("all-to-all"), 4096) for name in ("a", "b")]
    in_turn, independent = alone("ring:4", pair)
    done = run_independent(independent)
    assert done.data_ok
    assert done.ends is not None
    assert done.closed_form_cycles < done.cycles <= in_turn.cycles
    assert done.contention_cycles > 0
    assert not done.holds
    assert max(done.ends.values()) == done.cycles


def test_a_collective_waits_for_the_end_in_the_run() -> None:
    """What begins later changes no end before it, and begins no earlier."""
    total, blocks, copies, _ = entries()
    made = alone("ring:4", [total, blocks, copies])[1]
    without = run_independent(replace(made, parts=tuple(part for part in made.parts if part.name != "copies")))
    done = run_independent(made)
    assert done.data_ok
    assert without.ends is not None
    assert done.ends is not None
    assert done.ends["sum"] == without.ends["sum"] > made.ends["sum"]
    later = next(part for part in made.parts if part.name == "copies")
    assert done.ends["copies"] - done.ends["sum"] >= later.landed - later.first


def test_data_of_another_collective_are_wrong() -> None:
    """Cells are checked for each collective: what is right for one is wrong for another."""
    pair = [Entry(name, ct.collective("broadcast", 0), 1024) for name in ("a", "b")]
    _, independent = alone("ring:3", pair)
    for apart in (False, True):
        tables = tables_of(independent)
        rows = JointRows(independent, tables, apart=apart)
        cells = first_data(rows, tables)
        for part, one in enumerate(tables):  # every rank has what rank 0 has
            node, cell = rows.first_interface[part], rows.base[part]
            mine = cells[node : node + 3, cell : cell + one.chunks]
            mine[:] = mine[0]
        assert wrong_data(rows, tables, cells) is None
        other = cells[rows.first_interface[1], rows.base[1]]
        cells[rows.first_interface[0] + 2, rows.base[0]] = other
        assert wrong_data(rows, tables, cells) == "a: rank 2 has a wrong value for chunk 0"


def test_no_two_messages_have_a_lane() -> None:
    """Wide links: the lanes of a joint schedule are each for one message at a time, of whichever collective."""
    pair = [Entry("a", ct.collective("all-reduce"), 1 << 14), Entry("b", ct.collective("all-to-all"), 1 << 14)]
    made = ct.joint("ring:3,capacity=2", pair)
    found = []
    for part, lane in zip(made.parts, lanes_of_uses(made), strict=True):
        times = fine_times(part.schedule)
        uses = times.reservations
        found.append(np.stack((uses.pair, lane, part.begin + uses.entry, times.length[uses.row])))
    pairs, lane, entry, length = np.concatenate(found, axis=1)
    assert lane.max() == 1
    assert (lane < made.topology.pair_capacity[pairs]).all()
    order = np.lexsort((entry, lane, pairs))
    same = (np.diff(pairs[order]) == 0) & (np.diff(lane[order]) == 0)
    assert (entry[order][1:] >= (entry + length)[order][:-1])[same].all()
    assert run_joint(made, "flit").holds
