"""MultiTree: the paper's worked example and step counts, and validity by playing."""

import pytest

from certree.models.errors import InputError, UnsupportedError
from certree.models.schedule import Op
from certree.models.topology_spec import parse_topology
from certree.synth.method import load_methods
from certree.synth.methods.multitree import grow_trees
from tests.synth.play import ask, play

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


def test_rows_of_the_tables_in_figure_5() -> None:
    made = multitree(ask("mesh:2x2"))
    rows = set(zip(*(getattr(made, name).tolist() for name in ("op", "chunk", "step", "src", "dst")), strict=True))
    # The paper counts steps from 1.
    assert {(Op.REDUCE, 3, 0, 0, 1), (Op.REDUCE, 1, 1, 0, 1), (Op.REDUCE, 2, 1, 0, 2)} <= rows  # accelerator 0
    assert {(Op.COPY, 2, 3, 0, 1), (Op.COPY, 0, 3, 2, 3), (Op.COPY, 1, 3, 3, 2)} <= rows  # GATHER rows of step 4
    assert len(rows) == 2 * 4 * 3


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
    play(multitree(ask(spec, collective)))


def test_a_link_of_capacity_c_is_used_up_to_c_times_a_step() -> None:
    steps = [grow_trees(parse_topology(f"ring:9,capacity={capacity}")).steps for capacity in (1, 2, 4, 8)]
    assert steps == [4, 4, 4, 4]  # eight nodes over two links: 4, and 4 hops are needed in any case
    steps = [grow_trees(parse_topology(f"mesh:8x8,capacity={capacity}")).steps for capacity in (1, 2, 14)]
    assert steps[0] == 32 > steps[1] >= 16 > steps[2] == 14  # a corner has two links, and the far one is 14 hops away


def test_the_same_input_gives_the_same_schedule() -> None:
    first, second = multitree(ask("mesh:4x5", seed=3)), multitree(ask("mesh:4x5", seed=3))
    assert first.digest == second.digest
    assert first.provenance == second.provenance == {"method": "multitree", "seed": 3, "effort": 1, "options": {}}


def test_it_offers_what_it_makes() -> None:
    asked = ask("mesh:2x3")
    assert multitree(asked) is asked.monitor.best


def test_wrong_requests_are_refused() -> None:
    with pytest.raises(InputError, match="multitree: unknown option 'k'; known: none"):
        multitree(ask("ring:4", options={"k": "1"}))
    with pytest.raises(UnsupportedError, match="into 4 chunks; 8 were asked for"):
        multitree(ask("ring:4", chunks=8))
    with pytest.raises(UnsupportedError, match="takes 4 steps here; at most 3"):
        multitree(ask("ring:4", steps=3))
