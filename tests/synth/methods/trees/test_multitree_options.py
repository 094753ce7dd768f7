"""MultiTree for some endpoints, and with the k of Section VII-A: rings and butterflies are special cases."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

import certree.api as ct
from certree.models.common.errors import InputError, UnsupportedError
from certree.models.network.families import load_families
from certree.models.network.spec import parse_topology
from certree.models.schedule.collective import parse_collective
from certree.models.schedule.schedule_columns import Op
from certree.verify.checker import verify_schedule

_FAMILIES = load_families()
CORPUS = [spec for name in _FAMILIES for spec in _FAMILIES.examples(name)]
SMALL = [spec for spec in CORPUS if len(parse_topology(spec).endpoints) <= 24]
MOST = 6  # members


def made(network, **options) -> ct.Schedule:
    """An all-gather or what `collective` says."""
    members = options.pop("members", None)
    collective = parse_collective(options.pop("collective", "all-gather"))
    if members is not None:
        collective = replace(collective, members=tuple(members))
    return ct.synthesize(network, method="multitree", size="64KiB", collective=collective, options=options)


def roots(schedule: ct.Schedule) -> np.ndarray:
    """The node that sends copies of each chunk of an all-reduce and receives none."""
    found = np.full(schedule.chunks, -1)
    for chunk in range(schedule.chunks):
        copies = (schedule.op == Op.COPY) & (schedule.chunk == chunk)
        (found[chunk],) = {*schedule.src[copies].tolist()} - {*schedule.dst[copies].tolist()}
    return found


def rows(schedule: ct.Schedule, op: Op, rename=lambda node: node) -> Counter:
    """The transfers of an operation, by the root of their chunk, with steps from 0 and nodes renamed."""
    kept = schedule.op == op
    columns = (roots(schedule)[schedule.chunk[kept]], schedule.src[kept], schedule.dst[kept])
    names = [[rename(node) for node in column.tolist()] for column in columns]
    return Counter(zip((schedule.step[kept] - schedule.step[kept].min()).tolist(), *names, strict=True))


@pytest.mark.parametrize("nodes", [3, 4, 5, 8])
def test_unary_trees_on_a_ring_are_the_ring_algorithm(nodes: int) -> None:
    """Transfer by transfer: sums as they are, copies in the other direction of the ring, which has another name for each node."""
    trees = made(f"ring:{nodes}", k="1", collective="all-reduce")
    ring = ct.synthesize(f"ring:{nodes}", method="ring")
    assert trees.steps == ring.steps == 2 * (nodes - 1)
    assert rows(trees, Op.REDUCE) == rows(ring, Op.REDUCE)
    assert rows(trees, Op.COPY) == rows(ring, Op.COPY, lambda node: -node % nodes)
    assert rows(trees, Op.COPY) != rows(ring, Op.COPY)


@pytest.mark.parametrize("dimensions", [2, 3, 4])
def test_doubling_trees_on_wide_hypercubes_are_the_butterfly(dimensions: int) -> None:
    """Step by step, and node by node: where links are wide enough for its exchanges, every node sends and receives as many chunks
    in each step as with halving-doubling; on links of one unit trees take more steps, since no link is shared."""
    plain = parse_topology(f"hypercube:{dimensions}")
    wide = replace(plain, capacity=plain.capacity << dimensions)
    trees = made(wide, k="2", collective="all-reduce")
    butterfly = ct.synthesize(wide, method="halving-doubling", collective="all-reduce")
    assert trees.steps == butterfly.steps == 2 * dimensions
    for column in ("src", "dst"):
        ours, theirs = (Counter(zip(one.step.tolist(), getattr(one, column).tolist(), strict=True)) for one in (trees, butterfly))
        assert ours == theirs
    if dimensions > 2:
        assert made(plain, k="2", collective="all-reduce").steps > 2 * dimensions


@pytest.mark.parametrize("k", [1, 2, 3, 5])
def test_no_node_has_more_children(k: int) -> None:
    schedule = made("full:9", k=str(k), collective="all-gather")
    keys = zip(
        schedule.chunk.tolist(), schedule.src.tolist(), schedule.step.tolist() if k > 1 else [0] * schedule.transfers, strict=True
    )
    assert max(Counter(keys).values()) == max(1, k - 1)


def test_trees_without_the_option_are_the_same() -> None:
    plain = made("torus:3x3", collective="all-reduce")
    assert plain.provenance["options"] == {"order": "paper", "priority": "root"}
    assert made("torus:3x3", collective="all-reduce", k="1024").transfers == plain.transfers
    everyone = made("torus:3x3", collective="all-reduce", members=range(9))
    assert everyone.digest == plain.digest


@pytest.mark.parametrize("spec", SMALL)
def test_trees_of_some_endpoints(spec: str) -> None:
    """Valid on every small network; members alone are sources and targets, each root is one of them."""
    network = parse_topology(spec)
    members = sorted(
        {int(node) for node in network.endpoints[:: max(1, len(network.endpoints) // MOST)]} | {int(network.endpoints[-1])}
    )
    if len(members) == len(network.endpoints):
        members = members[:-1]
    for options in ({}, {"order": "authors"}, {"priority": "remaining-height", "k": "2"}):
        schedule = made(network, collective="all-reduce", members=members, **options)
        assert verify_schedule(schedule).valid
        assert {*roots(schedule).tolist(), *schedule.src.tolist(), *schedule.dst.tolist()} == set(members)
        assert schedule.transfers == 2 * len(members) * (len(members) - 1)


def test_one_way_links_between_members() -> None:
    """A node that takes no part is passed though its link to a member is free, where nothing else leads on."""
    network = parse_topology("kautz:2x3")
    for members in ([0, 5], [1, 7, 11], [2, 3, 8, 9]):
        assert verify_schedule(made(network, collective="all-gather", members=members)).valid


@pytest.mark.parametrize("spec", ["mesh:4x4", "mesh:3x3"])
def test_unary_trees_may_get_stuck(spec: str) -> None:
    with pytest.raises(UnsupportedError, match=f"trees of {spec} get stuck .* with k=1"):
        made(spec, k="1", collective="all-gather")


@pytest.mark.parametrize("k", ["0", "-1", "x", "1025", "1.5"])
def test_bad_values(k: str) -> None:
    with pytest.raises(InputError, match=f"multitree: option k='{k}'; allowed: 1 to 1024"):
        made("ring:4", k=k, collective="all-gather")


def test_reference_of_growth() -> None:
    """k=3 on a full network whose links are wide: trees of 1, 3, 9 nodes."""
    network = parse_topology("full:9")
    schedule = made(replace(network, capacity=network.capacity * 9), k="3", collective="all-gather")
    assert np.bincount(schedule.step).tolist() == [18, 54]
