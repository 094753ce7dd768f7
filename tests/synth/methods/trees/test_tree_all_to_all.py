"""All-to-all on MultiTree's trees: rows by the depth of trees, rounds by subtrees, stars optimal."""

import numpy as np
import pytest

from certree.models.schedule.schedule import Schedule
from certree.synth.packing.growth import grow_trees
from certree.verify.checker import verify_schedule
from tests.synth.execution import make, rounds_of, valid

NAME = "tree-all-to-all"
DIRECT_NETWORKS = ["ring:2", "ring:5", "mesh:3x3", "torus:4x4", "torus:4x4,without-node=5", "full:6", "dgx1", "mesh:3x3,capacity=2"]
SWITCHED = ["switch:5", "fattree:3x3", "bigraph:2x4", "dgx2", "leafspine:3x2x3", "switch-fc:2x2x2x2", "ace-alltoall:2x3"]


def edges_of(schedule: Schedule) -> set[tuple[int, ...]]:
    return set(zip(*(getattr(schedule, name).tolist() for name in ("step", "src", "dst")), strict=True))


@pytest.mark.parametrize("options", [{}, {"order": "authors"}, {"priority": "remaining-height"}])
@pytest.mark.parametrize("spec", DIRECT_NETWORKS + SWITCHED)
def test_every_pair_is_served(spec: str, options: dict[str, str]) -> None:
    made = valid(NAME, spec, "all-to-all", options=options)
    nodes = len(made.topology.endpoints)
    gathered = make("multitree", spec, "all-gather", options=options)
    assert (made.chunks, made.steps) == (nodes * (nodes - 1), gathered.steps)
    assert edges_of(made) == edges_of(gathered)


def test_a_chunk_passes_as_many_edges_as_its_target_is_deep() -> None:
    made = make(NAME, "torus:4x4", "all-to-all")
    trees = grow_trees(made.topology)
    depth = np.zeros((16, 16), np.int64)
    for tree, src, dst in zip(trees.chunk.tolist(), trees.src.tolist(), trees.dst.tolist(), strict=True):  # parents come first
        depth[tree, dst] = depth[tree, src] + 1
    assert made.transfers == depth.sum()
    assert np.bincount(made.chunk).tolist() == depth[~np.eye(16, dtype=np.bool_)].tolist()


@pytest.mark.parametrize(("spec", "nodes"), [("switch:8", 8), ("fattree:4x4", 16), ("full:7", 2)])
def test_stars_meet_the_bound(spec: str, nodes: int) -> None:
    made = make(NAME, spec, "all-to-all")
    verdict = verify_schedule(made)
    assert rounds_of(made) == nodes - 1
    assert "bandwidth" in verdict.quality.optimal_in


def test_messages_of_subtrees_take_their_rounds() -> None:
    # ring:5: in the first of two steps both neighbours get what is theirs and what is for the node behind them
    assert make(NAME, "ring:5", "all-to-all").rounds.tolist() == [2, 1]


@pytest.mark.parametrize(("spec", "rounds"), [("torus:4x4", 12), ("torus:8x8", 80), ("mesh:4x4", 21), ("ring:5", 3)])
def test_greedy_timing_lasts_as_long_as_the_fullest_link(spec: str, rounds: int) -> None:
    made = valid(NAME, spec, "all-to-all", options={"timing": "greedy"})
    load = np.bincount(made.topology.pair_index(made.src, made.dst))
    assert made.steps == rounds_of(made) == load.max() == rounds
    assert rounds <= rounds_of(make(NAME, spec, "all-to-all"))
