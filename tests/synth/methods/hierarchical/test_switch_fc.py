"""The switch-fc collectives: Figs. 5, 7 and 8, the printed destinations and the corrected ones, packages on a torus."""

import pytest

from certree.models.schedule.schedule import Schedule
from certree.synth.ranks.group_plans import doubling_offsets, printed_offsets
from certree.verify.checker import verify_schedule
from tests.synth.execution import make, rounds_of, valid

PRINTED = {"formula": "printed"}


def destinations(made: Schedule, step: int) -> dict[int, int]:
    """Where every endpoint sends in a step."""
    now = made.step == step
    return dict(zip(made.src[now].tolist(), made.dst[now].tolist(), strict=True))


def test_figure_7_all_reduce_of_four_nodes() -> None:
    made = valid("switch-fc", "switch-fc:4x4")
    assert (made.chunks, made.steps, rounds_of(made)) == (1, 2, 2)
    assert destinations(made, 0) == {0: 1, 1: 2, 2: 3, 3: 0}
    assert destinations(made, 1) == {0: 2, 1: 3, 2: 0, 3: 1}


def test_figure_8_all_gather_of_four_nodes() -> None:
    made = valid("switch-fc", "switch-fc:4x4", "all-gather")
    assert (made.chunks, made.steps) == (4, 2)
    assert destinations(made, 0) == {0: 1, 1: 2, 2: 3, 3: 0}
    assert destinations(made, 1) == {0: 2, 1: 3, 2: 0, 3: 1}
    own = made.chunk[(made.step == 1) & (made.src == 0)]
    assert sorted(own.tolist()) == [0, 3]  # all its data: its own and what node 3 sent


@pytest.mark.parametrize("nodes", [4, 8])
def test_figure_5_all_to_all_needs_as_many_steps_as_distances(nodes: int) -> None:
    made = valid("switch-fc", f"switch-fc:{nodes}x{nodes}", "all-to-all")
    assert (made.steps, rounds_of(made)) == (nodes - 1, nodes - 1)
    for step in range(nodes - 1):
        assert destinations(made, step) == {i: (i + step + 1) % nodes for i in range(nodes)}
    ring = valid("ring-all-to-all", f"ring:{nodes}", "all-to-all")
    assert (ring.steps, rounds_of(ring)) == (nodes * (nodes - 1) // 2,) * 2
    if nodes == 8:  # Section V-A: "save 21 steps"
        assert ring.steps - made.steps == 21


@pytest.mark.parametrize("network", ["full:2", "full:8", "full:16", "switch:32", "switch-fc:16x16", "hypercube:3"])
def test_corrected_destinations_are_right_for_every_power_of_two(network: str) -> None:
    options = {"factors": str(len(make("cps", network).topology.endpoints))}
    for collective in ("all-reduce", "all-gather", "all-to-all"):
        valid("switch-fc", network, collective, options=options)


def test_the_printed_destinations_agree_up_to_eight_nodes() -> None:
    for nodes in (2, 4, 8):
        assert printed_offsets(nodes) == doubling_offsets(nodes)
        valid("switch-fc", f"full:{nodes}", options=PRINTED)
    assert (printed_offsets(16), doubling_offsets(16)) == ((1, 2, 4, 6), (1, 2, 4, 8))


def test_the_printed_all_reduce_of_sixteen_nodes_is_refuted() -> None:
    """At every rank two contributions count twice and two are missing."""
    made = make("switch-fc", "full:16", options=PRINTED)
    verdict = verify_schedule(made)
    assert dict(verdict.counts) == {"duplicate": 16, "missing": 16}
    first = verdict.violations[0].message
    assert "row 58 (reduce of chunk 0, 10>0) counts the contributions of nodes 9, 10 a second time" in first
    missing = next(violation.message for violation in verdict.violations if violation.rule == "missing")
    assert "node 0 lacks the contributions of nodes 1, 2" in missing
    assert made.provenance["published"] is True


def test_the_printed_all_gather_of_sixteen_nodes_is_refuted() -> None:
    verdict = verify_schedule(make("switch-fc", "full:16", "all-gather", options=PRINTED))
    assert dict(verdict.counts) == {"missing": 32}


def test_steps_in_packages_are_those_of_each_dimension() -> None:
    made = make("switch-fc", "switch-fc:2x3x4x4")
    assert made.steps == 2 + 2 * (2 - 1) + 2 * (3 - 1)
    vertical = made.step == 2  # from a package to the one in the other row: 12 endpoints on
    assert ((made.dst[vertical] - made.src[vertical]) % 24 == 12).all()


@pytest.mark.parametrize("network", ["hier-torus:2x3x3", "switch-fc:2x2x4x3", "full:5"])
def test_rings_inside_packages_too(network: str) -> None:
    """The hierarchical torus' own algorithm: any number of nodes, 2 (n - 1) steps along every dimension."""
    ring = {"local": "ring"}
    made = valid("switch-fc", network, options=ring)
    sizes = [int(size) for size in str(made.provenance["options"]["factors"]).split("x")]
    assert made.steps == sum(2 * (size - 1) for size in sizes)
    for collective in ("all-gather", "all-to-all"):
        valid("switch-fc", network, collective, options=ring)
