"""The ring algorithm: steps by formula, validity by execution, and the cycles it follows."""

from dataclasses import replace

import numpy as np
import pytest

from certree.models.network.spec import parse_topology
from certree.models.network.topology import NodeKind, Topology
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.schedule_columns import Op
from certree.synth.graphs.cycle import hamiltonian_cycle
from certree.synth.method import load_methods
from certree.verify.checker import verify_schedule
from tests.synth.execution import ask, execute, rounds_of

ring = load_methods()["ring"]
COLLECTIVES = {"all-gather": 1, "reduce-scatter": 1, "all-reduce": 2}
BOTH = {"bidirectional": "true"}

NETWORKS = [
    "ring:3",
    "ring:8",
    "torus:3x3",
    "torus:3x5",
    "torus:4x4",
    "torus:3x3x3",
    "mesh:2x2",
    "mesh:3x4",
    "mesh:4x3",
    "mesh:2x3x3",
]
NETWORKS += ["hypercube:3", "full:5", "torus:4x4,without-link=3-7", "mesh:3x3,without-node=4", "torus:3x3,without-node=8"]


def links_used(made: Schedule, step: int) -> set[tuple[int, int]]:
    now = made.step == step
    return set(zip(made.src[now].tolist(), made.dst[now].tolist(), strict=True))


@pytest.mark.parametrize("collective", COLLECTIVES)
@pytest.mark.parametrize(("spec", "options"), [("ring:2", {}), *((spec, options) for spec in NETWORKS for options in ({}, BOTH))])
def test_steps_chunks_and_links(spec: str, collective: str, options: dict[str, str]) -> None:
    """Both directions halve the chunks; every step uses the same links."""
    made = ring(ask(spec, collective, options=options))
    nodes, directions, used = len(made.topology.endpoints), 1 + len(options), links_used(made, 0)
    assert (made.steps, made.chunks) == (COLLECTIVES[collective] * (nodes - 1), directions * nodes)
    assert all(links_used(made, step) == used for step in range(made.steps))
    assert len(used) == directions * nodes
    assert not options or used == {(dst, src) for src, dst in used}
    execute(made)


def test_a_one_way_ring_is_followed_in_its_direction() -> None:
    execute(ring(ask("ring:4,without-link=0>1,without-link=1>2,without-link=2>3,without-link=3>0")))
    execute(ring(ask("ring:5,without-link=0>1,without-link=4>0")))  # node 0 keeps 4 <- 0 <- 1, the others a path both ways


@pytest.mark.parametrize(
    "spec", ["mesh:16x15", "torus:16x16", "torus:4x4x4", "hypercube:6", "torus:9x9", "torus:8x8,without-link=3-4"]
)
def test_large_cycles_visit_every_node_once_over_links(spec: str) -> None:
    order = hamiltonian_cycle(ask(spec), both_ways=True)
    topology = parse_topology(spec)
    assert sorted(order) == topology.endpoints.tolist()
    assert all(after in topology.neighbours(here) for here, after in zip(order, order[1:] + order[:1], strict=True))


def test_a_ring_is_followed_in_the_order_of_its_ids() -> None:
    assert hamiltonian_cycle(ask("ring:7"), both_ways=True) == list(range(7))


def test_coordinates_from_elsewhere_do_no_harm() -> None:
    grid = parse_topology("mesh:2x4")
    for strange in (np.array([[-3, -5]] * 8), np.zeros((8, 0)), np.full((8, 2), 3), grid.coordinates[::-1]):
        topology = replace(grid, coordinates=strange.astype(np.int32))
        assert sorted(hamiltonian_cycle(ask(topology), both_ways=True)) == list(range(8))


def test_the_ring_of_figure_1() -> None:
    """What the MultiTree paper tells of its Fig. 1: segment c goes c+1 -> c+2 -> ... -> c, then c -> c+1 -> ... -> c-1."""
    made = ring(ask("ring:4"))
    rows = set(zip(*(getattr(made, name).tolist() for name in ("op", "chunk", "step", "src", "dst")), strict=True))
    told = {(Op.REDUCE, 0, 0, 1, 2), (Op.REDUCE, 0, 1, 2, 3), (Op.REDUCE, 0, 2, 3, 0), (Op.REDUCE, 1, 0, 2, 3)}
    told |= {(Op.COPY, 0, 3, 0, 1), (Op.COPY, 0, 4, 1, 2), (Op.COPY, 0, 5, 2, 3)}
    assert told <= rows
    assert rows == {
        (op, chunk, step, (src + c) % 4, (dst + c) % 4)
        for op, _, step, src, dst in told - {(0, 1, 0, 2, 3)}
        for c in range(4)
        for chunk in [c]
    }


SWITCHED = ["switch:5", "switch:16", "fattree:4x4", "fattree:8x8", "bigraph:4x8", "dgx2", "ss:24", "switch:8,capacity=2"]


@pytest.mark.parametrize("collective", COLLECTIVES)
@pytest.mark.parametrize("spec", SWITCHED)
def test_with_switches_the_ring_is_the_order_of_the_ranks(spec: str, collective: str) -> None:
    made = ring(ask(spec, collective, options={"rounds": "published"}))
    nodes = len(made.topology.endpoints)
    assert (made.steps, made.chunks, rounds_of(made)) == (COLLECTIVES[collective] * (nodes - 1), nodes, made.steps)
    assert ((made.dst - made.src) % nodes == 1).all()
    assert verify_schedule(made).valid  # one message out of and into every endpoint, one over the cables between switches


def test_both_directions_share_the_one_cable_of_an_endpoint() -> None:
    assert rounds_of(ring(ask("switch:6", options=BOTH))) == 2 * 2 * 5  # twice the chunks, two of them in every step
    assert rounds_of(ring(ask("switch:6,capacity=2", options=BOTH))) == 2 * 5
    assert verify_schedule(ring(ask("fattree:4x4", options=BOTH))).valid


@pytest.mark.parametrize("spec", ["mesh:3x3", "mesh:1x4", "ring:4,without-link=0-1", "torus:4x4", "torus:4x4,without-node=5"])
@pytest.mark.parametrize("options", [{}, BOTH])
def test_in_natural_order_it_needs_no_cycle(spec: str, options: dict[str, str]) -> None:
    made = ring(ask(spec, options={"order": "natural", **options}))
    ends = made.topology.endpoints.tolist()
    assert links_used(made, 0) >= set(zip(ends, ends[1:] + ends[:1], strict=True))
    assert verify_schedule(made).valid


def test_the_way_back_of_a_path_meets_nothing_in_one_direction() -> None:
    assert rounds_of(ring(ask("mesh:1x4", options={"order": "natural"}))) == 6
    assert rounds_of(ring(ask("mesh:1x4", options={"order": "natural"} | BOTH))) == 12


@pytest.mark.parametrize("collective", COLLECTIVES)
@pytest.mark.parametrize(("options", "directions"), [({}, 1), (BOTH, 2)])
def test_by_turns(collective: str, options: dict[str, str], directions: int) -> None:
    """Three rings by turns: what one sends is used three steps later, and no link has more to do in a step."""
    made = ring(ask("torus:2x3", collective, options={**options, "delay": "3"}))
    assert (made.delay, made.steps, made.chunks) == (3, 3 * COLLECTIVES[collective] * 5, 3 * directions * 6)
    assert all(len(set((made.chunk[made.step == step] // (6 * directions)).tolist())) == 1 for step in range(made.steps))
    assert verify_schedule(made).valid
    execute(made)


def test_by_turns_no_step_waits() -> None:
    """With long messages links are never idle: the time is that of the bytes, headers, and the way of the last one."""
    request = ask("switch:16", message_bytes=16 << 20)
    waits, turns = (request.cycles(ring(replace(request, options={"delay": delay}))) for delay in ("1", "2"))
    bytes_alone = 2 * 15 * (16 << 20) // 16 // request.machine.flit_bytes
    assert bytes_alone < turns < bytes_alone * 1.01 < waits


def test_neighbours_below_one_switch() -> None:
    """Endpoints 0, 2, 4 are below one switch, and 1, 3, 5 below another: the ring passes between them twice."""
    pairs = [(end, 6 + end % 2) for end in range(6)] + [(6, 7)]
    src = np.array([a for pair in pairs for a in pair], np.int32)
    dst = np.array([a for pair in pairs for a in pair[::-1]], np.int32)
    kind = np.array([NodeKind.ENDPOINT] * 6 + [NodeKind.SWITCH] * 2, np.int8)
    ones = np.ones(len(src), np.int32)
    network = Topology("two", kind, src, dst, ones, ones)
    far = dict.fromkeys(("cycle", "natural"), 0)
    for order in far:
        made = ring(ask(network, options={"order": order}))
        now = made.step == 0
        far[order] = int(((made.src[now] % 2) != (made.dst[now] % 2)).sum())
    assert far == {"cycle": 2, "natural": 6}
