"""Double binary tree: the trees, the colouring, pipelines with and without overlap, contention on a torus."""

import numpy as np
import pytest

from certree.models.schedule.schedule_columns import Op
from certree.synth.methods.trees.double_binary_tree import ROOT, binary_tree, colours, nccl_trees, rooted_trees
from certree.verify.checker import verify_schedule
from tests.synth.execution import make, rounds_of, valid

NAME = "double-binary-tree"


def test_the_trees_of_the_library() -> None:
    # the drawing in NCCL's source for 14 ranks: 0 - 8, 8 - (4, 12), 4 - (2, 6), 12 - (10, 13), ...
    parent = dict(enumerate(binary_tree(14).tolist()))
    assert [node for node in parent if parent[node] == 8] == [4, 12]
    assert parent[0] == ROOT
    assert (parent[8], parent[2], parent[6], parent[10], parent[13], parent[11]) == (0, 4, 4, 12, 12, 10)
    first, second = nccl_trees(14)
    assert second[13] == ROOT
    assert all(second[13 - rank] == 13 - first[rank] for rank in range(1, 14))
    assert nccl_trees(3).tolist() == [[ROOT, 2, 0], [1, ROOT, 0]]


@pytest.mark.parametrize("count", [*range(2, 40), 64, 100, 511, 512])
def test_no_node_works_for_both_trees_in_one_step(count: int) -> None:
    parents = nccl_trees(count)
    colour = colours(parents)
    for row in parents:
        assert (row == ROOT).sum() == 1
        children = np.bincount(row[row != ROOT], minlength=count)
        assert children.max(initial=0) <= 2
    tree, rank = np.nonzero(parents != ROOT)
    for ends in (rank, parents[tree, rank]):
        assert len(np.unique(np.stack((ends, colour[tree, rank])), axis=1).T) == len(ends)
    inner = [set(row[row != ROOT].tolist()) for row in parents]
    assert len(inner[0] & inner[1]) <= 2  # only the roots, which have one child there


@pytest.mark.parametrize("count", [*range(2, 40), 100, 511, 512])
def test_trees_below_one_root(count: int) -> None:
    parents = rooted_trees(count)
    assert parents[:, 0].tolist() == [ROOT, ROOT]
    colour = colours(parents)
    tree, rank = np.nonzero(parents != ROOT)
    for ends in (rank, parents[tree, rank]):
        assert len(np.unique(np.stack((ends, colour[tree, rank])), axis=1).T) == len(ends)
    inner = [set(row[1:].tolist()) - {0} for row in parents]
    assert not inner[0] & inner[1]


@pytest.mark.parametrize("nodes", [2, 5, 8, 16, 33])
def test_free_of_contention_on_a_single_switch(nodes: int) -> None:
    made = valid(NAME, f"switch:{nodes}", chunks=8, options={"rounds": "published"})
    depth = (nodes - 1).bit_length()
    assert made.steps <= 2 * (2 * depth + 1 + 2 * (8 // 2 - 1)) + 1  # up to two steps a level, two a further chunk of the tree


def test_overlap_starts_down_before_all_is_up() -> None:
    apart, together = (make(NAME, "full:16", chunks=16, options={"overlap": value}) for value in ("false", "true"))
    assert together.steps < apart.steps
    for made, mixed in ((apart, False), (together, True)):
        last_up, first_down = made.step[made.op == Op.REDUCE].max(), made.step[made.op == Op.COPY].min()
        assert (first_down < last_up) == mixed


def test_contention_on_a_torus_is_refuted_as_published() -> None:
    published = make(NAME, "torus:4x4", chunks=8, options={"rounds": "published"})
    verdict = verify_schedule(published)
    assert not verdict.valid
    assert (published.rounds == 1).all()
    serialized = valid(NAME, "torus:4x4", chunks=8)
    assert serialized.step.tolist() == published.step.tolist()
    assert verdict.serialized_rounds == rounds_of(serialized) > rounds_of(published)
    assert set(verdict.counts) == {"capacity"}


def test_the_number_of_chunks_grows_with_the_message() -> None:
    small, large = (make(NAME, "switch:8", message_bytes=size).chunks for size in (1 << 10, 1 << 26))
    assert small < large
    assert make(NAME, "torus:4x4").chunks == make(NAME, "torus:4x4", options={"rounds": "published"}).chunks
