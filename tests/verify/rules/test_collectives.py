"""Wrong schedules of broadcast, reduce, gather, scatter and all-to-all: each rule refuses its own; their right neighbours pass."""

import dataclasses
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from certree.models.network.spec import parse_topology
from certree.models.schedule.collective import WITH_ONE_ROOT, Collective, CollectiveKind
from certree.models.schedule.schedule import Schedule
from certree.verify.bounds.cheap import cheap_bounds
from certree.verify.bounds.instance import Instance
from certree.verify.bounds.witness import WitnessError, check_bound, make_bound
from certree.verify.checker import verify_schedule
from certree.verify.rules.shares import check_shares
from certree.verify.verdict import Findings, Verdict
from tests.transfers import Row, transfers
from tests.verify.build import build

#: on the path 0-1-2 with 0 as the root: transfers and chunks that are right
ROWS = {
    "broadcast": "0>1; 1>2",
    "reduce": "2+1; 1+0",
    "gather": "0:1>0 1:2>1; 1:1>0",
    "scatter": "1:0>1; 1:1>2 0:0>1",
    "all-to-all": "1:0>1 4:2>1; 0:0>1 1:1>2 5:2>1 4:1>0; 2:1>0 3:1>2",
}
ROOTS = {"broadcast": [0], "reduce": [0], "gather": [1, 2], "scatter": [0, 0], "all-to-all": [0, 0, 1, 1, 2, 2]}
TARGETS = {"gather": [0, 0], "scatter": [1, 2], "all-to-all": [1, 2, 0, 2, 0, 1]}


def path(kind: str, rows: Sequence[Row] | str | None = None, **fields: Any) -> Schedule:
    """A collective along the path 0-1-2, root 0 where it has one."""
    collective = Collective(CollectiveKind(kind), 0 if kind in WITH_ONE_ROOT else None)
    chosen = {"roots": ROOTS[kind], "targets": TARGETS.get(kind)} | fields
    return build("mesh:1x3", collective, ROWS[kind] if rows is None else rows, **chosen)


def first(verdict: Verdict) -> tuple[str, tuple[int, ...], str]:
    """The first violation."""
    violation = verdict.violations[0]
    return violation.rule, violation.rows, violation.message


@pytest.mark.parametrize(
    ("kind", "bandwidth", "bound"),
    [("broadcast", 2, 1), ("reduce", 2, 1), ("gather", Fraction(2, 3), Fraction(2, 3)),  # two blocks of three over one link
     ("scatter", Fraction(2, 3), Fraction(2, 3)), ("all-to-all", 1, Fraction(2, 3))],
)  # fmt: skip
def test_right_ones(kind: str, bandwidth: Fraction, bound: Fraction) -> None:
    verdict = verify_schedule(path(kind))
    assert verdict.violations == ()
    assert verdict.quality is not None
    assert (verdict.quality.bandwidth_time, verdict.quality.bandwidth_bound) == (bandwidth, bound)
    assert verdict.quality.latency_bound == 2
    assert ("latency" in verdict.quality.optimal_in) == (kind != "all-to-all")


@pytest.mark.parametrize(("kind", "number"), [(kind, number) for kind in ROWS for number in range(len(transfers(ROWS[kind])))])
def test_each_transfer_is_needed(kind: str, number: int) -> None:
    rows = transfers(ROWS[kind])
    counts = verify_schedule(path(kind, rows[:number] + rows[number + 1 :])).counts
    assert counts["missing"] >= 1


@pytest.mark.parametrize(
    ("kind", "rows", "rule", "where", "words"),
    [
        *((kind, "", "missing", (), "no transfer brings chunk 0 to node") for kind in ROWS),
        ("broadcast", "0>1 1>2", "not-held", (1,), "node 1 does not hold it yet; it lands there in step 1"),
        ("broadcast", "2>1 0>1; 1>2", "not-held", (0,), "node 2 does not hold it yet"),
        ("broadcast", "0>1; 1+2", "not-held", (1,), "nothing of it to add to"),
        ("broadcast", "0>1; 1>2; 1+2", "duplicate", (2, 1), "node 0 a second time"),
        ("reduce", "2+1 1+0", "causality", (1, 0), "node 0 ends without the contribution of node 2"),
        ("reduce", "2+1; 1+0; 1+0", "duplicate", (2, 1), "nodes 1, 2 a second time"),
        ("reduce", "2+1; 1>0", "missing", (1,), "row 1 (copy of chunk 0, 1>0, step 1) replaced"),
        ("gather", "0:1>0 1:2>1 1:1>0", "capacity", (0, 2), "link 1>0 carries 2 transfers"),
        ("gather", "0:1>0 1:2>1; 0:1>0", "missing", (), "node 0 has no copy of chunk 1 of node 2"),
        ("gather", "0:1>0 1:2>0; 1:1>0", "link", (1,), "has no link 2>0"),
        ("scatter", "1:0>1 0:1>2@1 0:0>1@1", "not-held", (1,), "node 1 does not hold it yet"),
        ("scatter", "1:0>1; 1:1>1 0:0>1", "self", (1,), "sends to itself"),
        ("all-to-all", ROWS["all-to-all"][:-6], "missing", (), "node 2 has no copy of chunk 3 of node 1"),
        ("all-to-all", ROWS["all-to-all"] + " 5:0>1@1", "write-conflict", (4, 8), "several copies reach chunk 5 of node 1"),
    ],
)
def test_wrong_ones(kind: str, rows: str, rule: str, where: tuple[int, ...], words: str) -> None:
    found = [violation for violation in verify_schedule(path(kind, rows)).violations if violation.rule == rule]
    assert found[0].rows == where, found
    assert words in found[0].message


def test_iterations_that_collide() -> None:
    """Chunk 1 of the gather takes link 1>0 in step 1, just when the next iteration's chunk 0 does."""
    rule, rows, message = first(verify_schedule(path("gather", period=1, repeats=2)))
    assert (rule, rows) == ("period", (0, 2))
    assert "of iteration 1 (its step 0)" in message
    assert verify_schedule(path("gather", period=2, repeats=9)).valid


@pytest.mark.parametrize("kind", TARGETS)
def test_roots_and_targets_exchanged(kind: str) -> None:
    """A scatter is a gather to its root seen backwards; with its columns exchanged it promises what it does not do."""
    other = {"gather": "scatter", "scatter": "gather"}.get(kind, kind)
    collective = Collective(CollectiveKind(other), 0 if other in WITH_ONE_ROOT else None)
    swapped = dataclasses.replace(
        path(kind), collective=collective, chunk_root=np.array(TARGETS[kind]), chunk_target=np.array(ROOTS[kind])
    )
    assert verify_schedule(swapped).counts["missing"] == len(ROOTS[kind])


@pytest.mark.parametrize(
    ("kind", "chunk", "target"), [("scatter", 0, 2), ("all-to-all", 0, 2), ("all-to-all", 2, 2), ("all-to-all", 5, 0)]
)
def test_unequal_blocks(kind: str, chunk: int, target: int) -> None:
    """One chunk more for one block is one fewer for another, which moves less than the message."""
    targets = [*TARGETS[kind]]
    was, targets[chunk] = targets[chunk], target
    root, verdict = ROOTS[kind][chunk], verify_schedule(path(kind, targets=targets))
    assert verdict.counts["shares"] == (1 if kind == "scatter" else 5)  # all blocks with fewer than the largest has
    found = [violation.message for violation in verdict.violations if violation.rule == "shares"]
    most = f"but 2 chunk(s) from node {root} to node {target}"
    assert all(most in message for message in found)
    assert any(f"0 chunk(s) from node {root} to node {was}, " in message for message in found)


def test_a_block_left_out() -> None:
    """An all-to-all without the chunks of one pair: fewer rounds, and less than promised."""
    rows = [row for row in transfers(ROWS["all-to-all"]) if row[0] != 5]
    lacking = path("all-to-all", rows, roots=ROOTS["all-to-all"][:5], targets=TARGETS["all-to-all"][:5])
    assert verify_schedule(lacking).counts == {"shares": 1}
    assert "0 chunk(s) from node 2 to node 1" in first(verify_schedule(lacking))[2]


def test_a_file_may_name_few_of_many_blocks() -> None:
    """What is missing is counted, not listed: all pairs of 250,000 endpoints would fill 500 GB."""
    many = parse_topology("switch:250000")
    for kind, source, target, lacking, blocks in (
        ("gather", 7, 1, "node 0 to node 1", 249_999),
        ("scatter", 1, 7, "node 1 to node 0", 249_999),
        ("all-to-all", 1, 7, "node 0 to node 1", 250_000 * 249_999),
    ):
        findings = Findings()
        root = 1 if kind in WITH_ONE_ROOT else None
        check_shares(build(many, kind, [], collective_root=root, roots=[source], targets=[target]), findings)
        verdict = findings.verdict()
        assert verdict.counts == {"shares": blocks - 1}
        assert f"0 chunk(s) from {lacking}, but 1 chunk(s) from node {source} to node {target}: " in first(verdict)[2]


@pytest.mark.parametrize("kind", TARGETS)
def test_a_chunk_that_stays_where_it_is(kind: str) -> None:
    """Padding with chunks that need no transfer would make the message look larger than what is moved."""
    padded = path(kind, roots=[*ROOTS[kind], 0], targets=[*TARGETS[kind], 0])
    rule, rows, message = first(verify_schedule(padded))
    assert (rule, rows) == ("shares", ())
    assert f"chunk {len(ROOTS[kind])} is for node 0 itself" in message
    every = path(kind, roots=[*ROOTS[kind], 0, 1, 2], targets=[*TARGETS[kind], 0, 1, 2]) if kind == "all-to-all" else padded
    assert verify_schedule(every).counts.keys() == {"shares"}


def test_the_whole_schedule_repeated_is_as_good() -> None:
    """Twice the chunks in twice the time: the same multiple of M/B."""
    twice = build(
        "mesh:1x3",
        Collective(CollectiveKind.GATHER, 0),
        transfers("0:1>0 1:2>1; 1:1>0; 2:1>0 3:2>1; 3:1>0"),
        roots=ROOTS["gather"] * 2,
        targets=TARGETS["gather"] * 2,
    )
    once, both = verify_schedule(path("gather")).quality, verify_schedule(twice).quality
    assert once is not None
    assert both is not None
    assert once.bandwidth_time == both.bandwidth_time == once.bandwidth_bound


@pytest.mark.parametrize("kind", CollectiveKind)
def test_transfers_that_pass_endpoints_may_need_one_step_only(kind: str) -> None:
    """On a direct network a route may pass nodes; then the distance bounds the number of steps no longer."""
    collective = Collective(CollectiveKind(kind), 0 if kind in WITH_ONE_ROOT else None)
    if kind != "gather":
        shares = (Fraction(1, 3),) * 3
        assert _latency(Instance(parse_topology("mesh:1x3"), collective, shares, passing=True)) == 1
        return
    straight = path("gather", "0:1>0 1:2>0", route=[-1, 0], routes=((3, 1),), rounds=[2])
    topology = straight.topology
    assert [(topology.src[link], topology.dst[link]) for link in (3, 1)] == [(2, 1), (1, 0)]
    quality = verify_schedule(straight).quality
    assert quality is not None
    assert (quality.latency_steps, quality.latency_bound) == (1, 1)
    assert quality.bandwidth_time == quality.bandwidth_bound == Fraction(2, 3)
    farther = make_bound(Instance(topology, collective), "distance", {"from": 2, "to": 0, "hops": 2, "label": [2, 1, 0]})
    with pytest.raises(WitnessError, match="however far they lead"):
        check_bound(Instance.of(straight), farther)


def _latency(of: Instance) -> int:
    (bound,) = [bound for bound in cheap_bounds(of) if bound["quantity"] == "latency"]
    return int(check_bound(of, bound))
