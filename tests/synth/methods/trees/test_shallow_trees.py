"""Broadcasts and reduces along link-disjoint trees of few hops: valid on direct networks, and as fast as counted."""

from dataclasses import replace

import numpy as np
import pytest

import certree.api as ct
from certree.models.fine.slots import fine_times
from certree.verify.checker import verify_schedule
from tests.synth.execution import make, valid

NETWORKS = ["ring:2", "ring:5", "mesh:3x3", "torus:3x4", "torus:4x4,without-link=0-1", "dgx1", "full:5", "ace-torus:2x2x2"]


@pytest.mark.parametrize("collective", ["broadcast", "reduce"])
@pytest.mark.parametrize("network", NETWORKS)
def test_it_is_valid(network, collective):
    made = valid("shallow-trees", network, collective, message_bytes=3000, root=1)
    assert made.slot_cycles == 1


@pytest.mark.parametrize("collective", ["broadcast", "reduce"])
def test_each_link_carries_one_tree(collective):
    """On torus:4x4 4 trees of 3 pieces take 60 links, the 4 others lead into the root, or out of it."""
    made = make("shallow-trees", "torus:4x4", collective, root=5, options={"trees": "4", "pieces": "3"})
    links = {(int(src), int(dst)) for src, dst in zip(made.src, made.dst, strict=True)}
    assert (made.chunks, made.transfers, len(links)) == (12, 12 * 15, 60)
    away = made.dst if collective == "broadcast" else made.src
    assert 5 not in away


@pytest.mark.parametrize("pieces", [1, 4])
def test_a_chain_of_two_trees_takes_what_its_messages_take(pieces):
    """On a ring of 4 each direction is a tree: 3 links, one message after the other on each."""
    made = make(
        "shallow-trees", "ring:4", "broadcast", message_bytes=2048 * pieces, root=0, options={"trees": "2", "pieces": str(pieces)}
    )
    route, message = 5 + 150 + 3, 1 + 64
    assert fine_times(made).cycles == 3 * (route + message) + (pieces - 1) * message


@pytest.mark.parametrize(("network", "collective", "size", "most"), [
    ("torus:8x8,without-link=0-1", "broadcast", 65537, 3008), ("torus:8x8", "broadcast", 65537, 2978),
    ("mesh:4x4", "broadcast", 16384, 1400), ("dgx1", "broadcast", 1000, 361), ("dgx1", "reduce", 1000, 480),
])  # fmt: skip
def test_few_hops_pay(network, collective, size, most):
    """At most the cycles that it had when they were measured; the first took 4,608 before there were such trees."""
    assert fine_times(valid("shallow-trees", network, collective, message_bytes=size, root=1)).cycles <= most


def test_auto_takes_them():
    made = ct.synthesize("torus:4x4,without-link=0-1", "broadcast", root=1, size="16KiB")
    assert made.provenance["method"] == "shallow-trees"


@pytest.mark.parametrize("collective", ["broadcast", "reduce"])
def test_tables(collective, tmp_path):
    made = ct.synthesize("mesh:3x3,without-link=0-1", collective, root=4, method="shallow-trees", size="4KiB")
    run = ct.simulate(ct.export(made, "json", tmp_path / "tables"))
    assert (run.cycles, run.contention_cycles, run.late, run.data_ok) == (fine_times(made).cycles, 0, 0, True)


def test_a_piece_that_is_passed_on_too_early_is_found():
    made = valid("shallow-trees", "mesh:3x3", "broadcast", message_bytes=3000, root=4)
    relayed = np.flatnonzero(made.src != 4)
    early = made.step.copy()
    early[relayed[np.argmin(made.step[relayed])]] -= 1
    assert "in-flight" in {one.rule for one in verify_schedule(replace(made, step=early)).violations}
