"""The interfaces of the MultiTree authors' simulator: its own cycles, and what each fault does to them."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from certree.extras.papers.authors.baselines import pipelined_trees, row_and_column_rings
from certree.extras.papers.authors.faults import AuthorsResult, Fault
from certree.extras.papers.authors.interface import AuthorsInterfaces
from certree.extras.papers.authors.tables import Entry, clear, tables_of
from certree.models.common.errors import UnsupportedError
from certree.models.machine.machine import Machine, load_machine
from certree.models.network.spec import parse_topology
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.schedule_columns import Op
from tests.hw.made import made

AUTHORS, KIB = load_machine("multitree-authors"), 1024
PAGE = Path(__file__).parents[4] / "docs" / "benchmarks" / "simulators.md"


def machine(spec: str) -> Machine:
    """Their configuration of meshes lets a credit count a cycle later."""
    return replace(AUTHORS, router=replace(AUTHORS.router, credit_cycles=2)) if spec.startswith("mesh") else AUTHORS


def trees(spec: str, method: str = "multitree") -> Schedule:
    options = {"order": "authors"} if method == "multitree" else {}
    return made(method, spec, 4 * KIB, AUTHORS, **options)


def run_on(spec: str, size: int, flow: str = "packet", without: tuple[Fault, ...] = (), order: int = 0) -> AuthorsResult:
    faults = [fault for fault in Fault if fault not in without]
    return AuthorsInterfaces(tables_of(trees(spec), 4), size, machine(spec), flow=flow, faults=faults, order=order).run()


@pytest.mark.parametrize(
    ("spec", "size", "theirs"),
    [("torus:4x4", 32, 9_344), ("torus:4x4", 256, 39_584), ("torus:8x8", 32, 25_916), ("mesh:4x4", 256, 39_585)],
)
def test_rings_to_the_last_credit(spec: str, size: int, theirs: int):
    """What their simulator reports, with the cycles in which the last credits return: 148, and 149 on the mesh."""
    result = AuthorsInterfaces(tables_of(trees(spec, "ring"), 1), size * KIB, machine(spec)).run()
    assert (result.cycles, result.data_ok, result.early) == (theirs, True, 0)
    assert result.cycles - result.last == 148 + spec.startswith("mesh")


# their cycles, and those here with all faults
MULTITREE = {
    ("torus:4x4", 32, "packet"): (3_508, 3_526),
    ("torus:4x4", 32, "message"): (3_272, 3_322),
    ("torus:8x8", 32, "packet"): (4_588, 4_565),
    ("torus:8x8", 32, "message"): (4_501, 4_515),
    ("mesh:4x4", 256, "message"): (28_680, 28_607),
}


@pytest.mark.parametrize(("spec", "size", "flow"), MULTITREE)
def test_multitree_with_all_faults(spec: str, size: int, flow: str):
    theirs, ours = MULTITREE[spec, size, flow]
    result = run_on(spec, size * KIB, flow)
    assert (result.cycles, result.data_ok) == (ours, True)
    assert abs(ours - theirs) <= theirs / 50
    name = spec.replace(":", " ").replace("x", "×")
    assert f"| {name}, {size} KiB | {flow}s | {theirs:,} | {ours:,} |" in PAGE.read_text()


def test_the_order_of_events_moves_large_runs():
    """21,086 are theirs."""
    cycles = [run_on("torus:4x4", 256 * KIB, order=order).cycles for order in (0, 3)]
    assert min(cycles) < 21_086 < max(cycles)
    assert run_on("torus:4x4", 32 * KIB, order=3).cycles == run_on("torus:4x4", 32 * KIB).cycles  # no queue is ever full


def test_two_faults_together_cost_a_third():
    """Either put right is worth as much as both: messages no longer stand behind those of other steps and links."""
    faulty = run_on("torus:4x4", 32 * KIB).cycles
    for without in ((Fault.ANY_INTERFACE,), (Fault.FREE_WHEN_QUEUED,), (Fault.ANY_INTERFACE, Fault.FREE_WHEN_QUEUED)):
        right = run_on("torus:4x4", 32 * KIB, without=without)
        assert 1.3 < faulty / right.cycles < 1.4
        assert right.data_ok
    assert run_on("torus:4x4", 32 * KIB).open_early == 232  # of 480 messages: 48 %


def test_chunks_count_before_all_of_their_packets_are_there():
    early = run_on("torus:8x8", 32 * KIB)
    whole = run_on("torus:8x8", 32 * KIB, without=(Fault.LAST_PACKET,))
    assert (early.early > 0, whole.early) == (True, 0)
    assert run_on("torus:8x8", 32 * KIB, "message").early == 0


def test_a_nop_of_packets_is_shorter_than_one_of_flits():
    short, whole = (run_on("mesh:4x4", 64 * KIB, without=without).cycles for without in ((), (Fault.SHORT_NOP,)))
    assert short != whole


COLUMNS = ("chunk", "op", "step", "src", "dst", "route")


def test_a_copy_that_is_missing_shows_in_the_data():
    whole = trees("torus:4x4")
    last = np.flatnonzero(whole.op == Op.COPY)[-1]
    less = replace(whole, **{name: np.delete(getattr(whole, name), last) for name in COLUMNS})
    assert not AuthorsInterfaces(tables_of(less, 4), 32 * KIB, AUTHORS).run().data_ok


def test_nodes_that_wait_for_each_other_are_found():
    """The root of a chunk also reduces it, into a neighbour that reduces into it."""
    whole = trees("torus:4x4")
    reduces = np.flatnonzero((whole.op == Op.REDUCE) & (whole.chunk == 0))
    row = next(row for row in reduces if whole.dst[row] not in whole.src[reduces])
    added = {name: getattr(whole, name)[row] for name in COLUMNS} | {"src": whole.dst[row], "dst": whole.src[row]}
    circle = replace(whole, **{name: np.append(getattr(whole, name), added[name]) for name in COLUMNS})
    with pytest.raises(UnsupportedError, match="nothing starts the next step"):
        AuthorsInterfaces(tables_of(circle, 4), 32 * KIB, AUTHORS).run()


def test_their_double_binary_trees():
    """Each packet draws one of two equal directions around a ring; a mesh has none, and one time."""
    on_mesh = [_trees("mesh:4x4", 256, order).cycles for order in (0, 1)]
    assert on_mesh == [61_837, 61_837]  # 62,100 are theirs
    assert abs(on_mesh[0] - 62_100) < 62_100 / 100
    on_torus = [_trees("torus:4x4", 32, order) for order in (0, 1, 2)]
    assert [run.cycles for run in on_torus] == [10_160, 10_162, 10_630]  # 10,175 are theirs
    assert all(run.data_ok for run in on_torus)
    with pytest.raises(UnsupportedError, match="these go further"):
        AuthorsInterfaces(pipelined_trees(parse_topology("torus:4x4"), 4), 32 * KIB, AUTHORS, faults=())
    with pytest.raises(UnsupportedError, match="an even number; torus:3x3 has 9"):
        pipelined_trees(parse_topology("torus:3x3"), 1)


def _trees(spec: str, size: int, order: int) -> AuthorsResult:
    return AuthorsInterfaces(pipelined_trees(parse_topology(spec), 1), size * KIB, machine(spec), order=order).run()


@pytest.mark.parametrize("nodes", [4, 6, 16, 36, 64])
def test_the_edges_of_their_trees_never_meet(nodes: int):
    """No node sends, or receives, twice in a step: what the colours are for."""
    tables = pipelined_trees(parse_topology(f"full:{nodes}"), 1)
    for phase in (0, 1):
        sent: set[tuple[int, int]] = set()
        received: set[tuple[int, int]] = set()
        for node, steps in enumerate(tables.steps):
            for number, step in enumerate(steps[phase]):
                for entry in step or ():
                    for target in entry.targets:
                        assert (node, number) not in sent
                        assert (target, number) not in received
                        sent.add((node, number))
                        received.add((target, number))
        assert len(sent) == nodes * (nodes - 1)  # every chunk along every edge of its tree


# what their simulator reports for a 2D-ring, and twice the cycles of the pass that it runs, here
RINGS_2D = {("torus:4x4", 32): (5_860, 5_828), ("torus:8x8", 32): (8_790, 8_752), ("mesh:4x4", 256): (42_734, 44_316)}


@pytest.mark.parametrize(("spec", "size"), RINGS_2D)
def test_their_2d_ring_is_one_pass_counted_twice(spec: str, size: int):
    theirs, ours = RINGS_2D[spec, size]
    tables = row_and_column_rings(parse_topology(spec), 4)
    result = AuthorsInterfaces(tables, size * KIB, machine(spec)).run()
    assert (result.cycles * tables.counted, result.data_ok) == (ours, True)
    assert abs(ours - theirs) <= theirs / 25
    side = int(spec[-1])
    assert {len(members) for members in tables.members} == {side}  # no flow reaches more than a row or a column


def test_a_2d_ring_with_interfaces_of_its_own_links():
    """All four directions at once, each link carries one message at a time: six steps of a message and its reduction."""
    tables = row_and_column_rings(parse_topology("torus:4x4"), 4)
    right = AuthorsInterfaces(tables, 32 * KIB, AUTHORS, faults=()).run()
    faulty = AuthorsInterfaces(tables, 32 * KIB, AUTHORS).run()
    assert right.data_ok
    assert right.cycles < 0.8 * faulty.cycles


def test_a_reduction_that_is_missing_from_a_pass_shows_in_the_data():
    tables = row_and_column_rings(parse_topology("torus:4x4"), 4)
    for node in range(16):
        for step in tables.steps[node][0]:
            for entry in step or ():
                entry.waits.clear()
    assert not AuthorsInterfaces(tables, 32 * KIB, AUTHORS).run().data_ok


def test_a_2d_ring_needs_a_square():
    with pytest.raises(UnsupportedError, match=r"square grids, three nodes a side or more; torus:4x8 has 32"):
        row_and_column_rings(parse_topology("torus:4x8"), 4)


def test_what_is_heard_is_of_a_flow():
    steps = [[Entry(0, 0, [1], {(0, 2), (1, 2)})], None]
    clear(steps, 0, 2)
    assert steps[0] is not None
    assert steps[0][0].waits == {(1, 2)}


def test_networks_without_tables_are_refused():
    with pytest.raises(UnsupportedError, match="no dimension-order routing"):
        AuthorsInterfaces(tables_of(trees("full:4"), 4), 32 * KIB, AUTHORS)
