"""MultiTree: the paper's worked example, its step counts and those of the released program; networks with switches."""

import pytest

from certree.hw.tables.lowering import lower
from certree.models.network.spec import parse_topology
from certree.models.tables.table_columns import NIL
from certree.synth.method import load_methods
from certree.synth.packing.growth import grow_trees
from tests.hw.tables.test_lowering import table_of
from tests.synth.execution import ask, execute, make, valid
from tests.verify.build import network

multitree = load_methods()["multitree"]

# Fig. 3c: trees in turn, two rounds of step 1, then step 2 (here from 0); node 2 is the Y neighbour of node 0.
FIGURE_3 = [
    (0, 0, 0, 2),
    (1, 0, 1, 3),
    (2, 0, 2, 0),
    (3, 0, 3, 1),
    (0, 0, 0, 1),
    (1, 0, 1, 0),
    (2, 0, 2, 3),
    (3, 0, 3, 2),  # sequence number 7 of the text: the link 3 -> 2 in tree 3 ends step 1
    (0, 1, 2, 3),
    (1, 1, 3, 2),
    (2, 1, 0, 1),
    (3, 1, 1, 0),
]


def test_the_trees_of_figure_3() -> None:
    grown = grow_trees(parse_topology("mesh:2x2"))
    assert list(zip(*(column.tolist() for column in (grown.chunk, grown.step, grown.src, grown.dst)), strict=True)) == FIGURE_3


R, G = "REDUCE", "GATHER"
#: Fig. 5: (op, flow, parent, children, step), steps from 0 where the paper counts from 1. Its text does not carry every field of
#: the drawing; what it does not, follows from the trees of Fig. 3, and nothing that can be read contradicts them.
FIGURE_5 = [
    [(R, 3, 1, [], 0), (R, 1, 1, [], 1), (R, 2, 2, [1], 1), (G, 0, NIL, [1, 2], 2), (G, 2, 2, [1], 3)],
    [(R, 2, 0, [], 0), (R, 0, 0, [], 1), (R, 3, 3, [0], 1), (G, 1, NIL, [0, 3], 2), (G, 3, 3, [0], 3)],
    [(R, 1, 3, [], 0), (R, 0, 0, [3], 1), (R, 3, 3, [], 1), (G, 2, NIL, [0, 3], 2), (G, 0, 0, [3], 3)],
    [(R, 0, 2, [], 0), (R, 1, 1, [2], 1), (R, 2, 2, [], 1), (G, 3, NIL, [1, 2], 2), (G, 1, 1, [2], 3)],
]


@pytest.mark.parametrize("node", range(4))
def test_the_tables_of_figure_5(node: int) -> None:
    asked = ask("mesh:2x2", message_bytes=4096)
    tables = lower(multitree(asked), 4096, asked.machine)
    assert table_of(tables, node) == FIGURE_5[node]


@pytest.mark.parametrize(
    ("spec", "steps"),
    [("mesh:4x4", 8), ("mesh:8x8", 32), ("torus:4x4", 5), ("torus:8x8", 17), ("torus:8x8,without-link=3-4", 21), ("full:9", 1)],
)
def test_steps_of_one_phase(spec: str, steps: int) -> None:
    for collective, phases in (("all-gather", 1), ("reduce-scatter", 1), ("all-reduce", 2)):
        made = multitree(ask(spec, collective))
        nodes = len(made.topology.endpoints)
        assert (made.steps, made.chunks, made.transfers) == (phases * steps, nodes, phases * nodes * (nodes - 1))


@pytest.mark.parametrize("collective", ["all-gather", "reduce-scatter", "all-reduce"])
@pytest.mark.parametrize(
    "spec",
    [
        "ring:2",
        "ring:5",
        "mesh:2x2",
        "mesh:3x4",
        "torus:4x4",
        "torus:3x3x2",
        "hypercube:3",
        "full:6",
        "mesh:3x3,without-node=4",
        "torus:4x4,without-link=3>0",
        "torus:4x4,capacity=3",
        "ring:5,without-link=1>0",
    ],
)
def test_it_does_what_the_collective_promises(spec: str, collective: str) -> None:
    execute(multitree(ask(spec, collective)))


@pytest.mark.parametrize(
    ("spec", "steps"),
    [
        ("torus:4x4", 5),
        ("torus:6x6", 10),
        ("torus:8x8", 17),
        ("torus:10x10", 26),
        ("torus:16x16", 64),
        ("mesh:4x4", 10),
        ("mesh:8x8", 34),
    ],
)
def test_steps_of_the_released_program(spec: str, steps: int) -> None:
    made = valid("multitree", spec, "all-gather", options={"order": "authors"})
    assert made.steps == steps


@pytest.mark.parametrize("options", [{}, {"order": "authors"}, {"priority": "remaining-height"}])
@pytest.mark.parametrize(
    ("spec", "steps"), [("switch:16", 15), ("fattree:4x4", 15), ("fattree:8x8", 63), ("bigraph:4x8", 31), ("bigraph:4x16", 63)]
)
def test_with_switches_it_takes_the_steps_of_the_ring(spec: str, steps: int, options: dict[str, str]) -> None:
    """Section VI-A: as many as the ring on fat trees and BiGraphs, nodes on the same switch first."""
    made = valid("multitree", spec, "all-gather", options=options)
    assert made.steps == steps


@pytest.mark.parametrize("order", ["paper", "authors"])
@pytest.mark.parametrize("spec", ["switch:16", "fattree:4x4", "fattree:8x8"])
def test_its_trees_are_stars_on_a_fat_tree(spec: str, order: str) -> None:
    made = make("multitree", spec, "all-gather", options={"order": order})
    assert (made.src == made.chunk_root[made.chunk]).all()


@pytest.mark.parametrize("spec", ["fattree:4x4", "bigraph:4x8"])
def test_nodes_on_the_same_switch_come_first(spec: str) -> None:
    made = make("multitree", spec, "all-gather")
    hops = [len(made.routes[route]) for route in made.route[made.step < 3]]
    assert set(hops) == {2}  # three steps for the three others on the switch


@pytest.mark.parametrize("collective", ["reduce-scatter", "all-reduce"])
def test_links_that_differ_by_direction(collective: str) -> None:
    """Two cables of 1 and 2 one way, 3 and 1 the other, so that no link has its like backwards: reduces get paths of their own."""
    links = [(0, 3, 1), (0, 3, 2), (3, 0, 3), (3, 0, 1), (1, 3, 1), (3, 1, 1), (2, 3, 2), (3, 2, 1)]
    valid("multitree", network("eees", links), collective)
    same_in_all = [(0, 3, 1), (0, 3, 2), (3, 0, 3), (1, 3, 1), (3, 1, 1), (2, 3, 2), (3, 2, 1), (3, 2, 1)]
    valid("multitree", network("eees", same_in_all), collective)


def test_priority_by_remaining_height_helps_irregular_networks() -> None:
    """Section III-C1. Steps of one phase, by root and by remaining height: no fewer everywhere, but fewer on these."""
    steps = {
        spec: tuple(
            make("multitree", spec, "all-gather", options={"priority": name}).steps for name in ("root", "remaining-height")
        )
        for spec in ("mesh:8x8", "leafspine:4x2x4", "mesh:5x5", "mesh:2x9")
    }
    assert steps["mesh:8x8"] == (32, 32)
    assert steps["leafspine:4x2x4"] == (24, 22)


def test_a_link_of_capacity_c_is_used_up_to_c_times_a_step() -> None:
    steps = [grow_trees(parse_topology(f"ring:9,capacity={capacity}")).steps for capacity in (1, 2, 4, 8)]
    assert steps == [4, 4, 4, 4]  # eight nodes over two links: 4, and 4 hops are needed in any case
    steps = [grow_trees(parse_topology(f"mesh:8x8,capacity={capacity}")).steps for capacity in (1, 2, 14)]
    assert steps[0] == 32 > steps[1] >= 16 > steps[2] == 14  # a corner has two links, and the far one is 14 hops away


def test_what_it_records() -> None:
    options = {"order": "paper", "priority": "root"}
    assert make("multitree", "mesh:4x5", seed=3).provenance == {"method": "multitree", "seed": 3, "effort": 1, "options": options}


def test_it_offers_what_it_makes() -> None:
    asked = ask("mesh:2x3")
    assert multitree(asked) is asked.monitor.best
