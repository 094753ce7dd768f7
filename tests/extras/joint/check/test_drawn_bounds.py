"""Bounds on drawn workloads: no schedule ends, or has a weighted sum of ends, below what the joint bounds say.

Each draw is compared with three schedules that are made in different routes: the joint one, the one without relays, and one
collective after the other. Groups and sizes are few, so that schedules of single collectives are made once for each network.
"""

from collections.abc import Hashable
from dataclasses import replace
from random import Random
from typing import Any

import pytest

from certree.extras.joint.check.joint_checks import verify_joint
from certree.extras.joint.make.alone import alone
from certree.extras.joint.make.joining import joint
from certree.extras.joint.model.collective_list import Entry
from tests.bench.small.joints import drawn

NETWORKS = ("ring:4", "full:4", "switch:4", "mesh:2x3", "full:6", "hypercube:3", "torus:2x2x2", "fattree:2x2")
SIZES = (512, 2048)
STORE = 12  # collectives of a network


def _workload(store: list[Entry], draws: Random) -> list[Entry]:
    """Two to four of the collectives with other starts, weights and waits; the same one may occur twice."""
    entries: list[Entry] = []
    for number in range(draws.randint(2, 4)):
        after = (draws.choice(entries).name,) if entries and draws.random() < 0.3 else ()
        start = draws.randrange(3000) if draws.random() < 0.3 else 0
        of = draws.choice(store)
        entries.append(replace(of, name=f"c{number}", start=start, after=after, weight=draws.randint(1, 9)))
    return entries


def _check(network: str, count: int) -> None:
    draws = Random(f"bounds on {network}")
    known: dict[Hashable, Any] = {}
    store: list[Entry] = []
    while len(store) < STORE:
        store += [replace(entry, size=draws.choice(SIZES)) for entry in drawn(network, draws)]
    for _ in range(count):
        entries = _workload(store[:STORE], draws)
        made = joint(network, entries, known=known)
        verdict = verify_joint(made)
        assert verdict.valid, verdict.violations
        assert verdict.least is not None
        in_turn, _ = alone(network, entries, known=known)
        for one in (made, joint(network, entries, relay="fewest", known=known), in_turn):
            assert verdict.least.cycles <= one.cycles, (entries, verdict.least, one)
            assert verdict.least.weighted_ends <= one.weighted_ends, (entries, verdict.least, one)


@pytest.mark.parametrize("network", NETWORKS)
def test_200_draws(network: str) -> None:
    _check(network, 200 // len(NETWORKS))


def test_some_draws() -> None:
    _check("full:4", 2)
