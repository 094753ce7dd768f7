"""The interfaces of the MultiTree authors' simulator: its own cycles, and what each fault does to them."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from certree.hw.authors_interface import AuthorsInterfaces, AuthorsResult, Fault
from certree.models.collective import parse_collective
from certree.models.errors import UnsupportedError
from certree.models.machine import Machine, load_machine
from certree.models.schedule import Op, Schedule
from certree.models.topology_spec import parse_topology
from certree.synth.method import Request, load_methods

AUTHORS, KIB = load_machine("multitree-authors"), 1024
README = Path(__file__).parents[2] / "hw" / "README.md"


def machine(spec: str) -> Machine:
    """Their configuration of meshes lets a credit count a cycle later."""
    return replace(AUTHORS, router=replace(AUTHORS.router, credit_cycles=2)) if spec.startswith("mesh") else AUTHORS


def trees(spec: str, method: str = "multitree") -> Schedule:
    options = {"order": "authors"} if method == "multitree" else {}
    return load_methods()[method](Request(parse_topology(spec), parse_collective("all-reduce"), 4 * KIB, AUTHORS, options=options))


def played(spec: str, size: int, flow: str = "packet", without: tuple[Fault, ...] = (), order: int = 0) -> AuthorsResult:
    faults = [fault for fault in Fault if fault not in without]
    return AuthorsInterfaces(trees(spec), size, machine(spec), interfaces=4, flow=flow, faults=faults, order=order).run()


@pytest.mark.parametrize(
    ("spec", "size", "theirs"),
    [("torus:4x4", 32, 9_344), ("torus:4x4", 256, 39_584), ("torus:8x8", 32, 25_916), ("mesh:4x4", 256, 39_585)],
)
def test_rings_to_the_last_credit(spec: str, size: int, theirs: int):
    """What their simulator reports, with the cycles in which the last credits return: 148, and 149 on the mesh."""
    result = AuthorsInterfaces(trees(spec, "ring"), size * KIB, machine(spec), interfaces=1).run()
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
    result = played(spec, size * KIB, flow)
    assert (result.cycles, result.data_ok) == (ours, True)
    assert abs(ours - theirs) <= theirs / 50
    name = spec.replace(":", " ").replace("x", "×")
    assert f"| {name}, {size} KiB | {flow}s | {theirs:,} | {ours:,} |" in README.read_text()


def test_the_order_of_events_moves_large_runs():
    """21,086 are theirs."""
    cycles = [played("torus:4x4", 256 * KIB, order=order).cycles for order in (0, 3)]
    assert min(cycles) < 21_086 < max(cycles)
    assert played("torus:4x4", 32 * KIB, order=3).cycles == played("torus:4x4", 32 * KIB).cycles  # no queue is ever full


def test_two_faults_together_cost_a_third():
    """Either put right is worth as much as both: messages no longer stand behind those of other steps and links."""
    faulty = played("torus:4x4", 32 * KIB).cycles
    for without in ((Fault.ANY_INTERFACE,), (Fault.FREE_WHEN_QUEUED,), (Fault.ANY_INTERFACE, Fault.FREE_WHEN_QUEUED)):
        right = played("torus:4x4", 32 * KIB, without=without)
        assert 1.3 < faulty / right.cycles < 1.4
        assert right.data_ok
    assert played("torus:4x4", 32 * KIB).open_early == 232  # of 480 messages: 48 %


def test_chunks_count_before_all_of_their_packets_are_there():
    early = played("torus:8x8", 32 * KIB)
    whole = played("torus:8x8", 32 * KIB, without=(Fault.LAST_PACKET,))
    assert (early.early > 0, whole.early) == (True, 0)
    assert played("torus:8x8", 32 * KIB, "message").early == 0


def test_a_nop_of_packets_is_shorter_than_one_of_flits():
    short, whole = (played("mesh:4x4", 128 * KIB, without=without).cycles for without in ((), (Fault.SHORT_NOP,)))
    assert short != whole


COLUMNS = ("chunk", "op", "step", "src", "dst", "route")


def test_a_copy_that_is_missing_shows_in_the_data():
    whole = trees("torus:4x4")
    last = np.flatnonzero(whole.op == Op.COPY)[-1]
    less = replace(whole, **{name: np.delete(getattr(whole, name), last) for name in COLUMNS})
    assert not AuthorsInterfaces(less, 32 * KIB, AUTHORS, interfaces=4).run().data_ok


def test_nodes_that_wait_for_each_other_are_found():
    """The root of a chunk also reduces it, into a neighbour that reduces into it."""
    whole = trees("torus:4x4")
    reduces = np.flatnonzero((whole.op == Op.REDUCE) & (whole.chunk == 0))
    row = next(row for row in reduces if whole.dst[row] not in whole.src[reduces])
    added = {name: getattr(whole, name)[row] for name in COLUMNS} | {"src": whole.dst[row], "dst": whole.src[row]}
    circle = replace(whole, **{name: np.append(getattr(whole, name), added[name]) for name in COLUMNS})
    with pytest.raises(UnsupportedError, match="nothing starts the next step"):
        AuthorsInterfaces(circle, 32 * KIB, AUTHORS, interfaces=4).run()


def test_a_double_binary_tree_goes_by_the_ways_of_the_network():
    """Their 10,175 cycles within 6 %, one chunk for each node; whose steps theirs has is not known."""
    request = Request(parse_topology("torus:4x4"), parse_collective("all-reduce"), 32 * KIB, AUTHORS, chunks=16)
    schedule = load_methods()["double-binary-tree"](request)
    result = AuthorsInterfaces(schedule, 32 * KIB, AUTHORS, interfaces=1).run()
    assert (result.cycles, result.data_ok) == (10_747, True)
    with pytest.raises(UnsupportedError, match="this schedule has routes"):
        AuthorsInterfaces(schedule, 32 * KIB, AUTHORS, interfaces=1, faults=())


def test_networks_without_tables_are_refused():
    with pytest.raises(UnsupportedError, match="no dimension-order routing"):
        AuthorsInterfaces(trees("full:4"), 32 * KIB, AUTHORS, interfaces=4)
