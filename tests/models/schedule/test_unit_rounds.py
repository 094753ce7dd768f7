"""Spreading steps of several rounds whose transfers pass several links."""

import numpy as np
import pytest

from certree.models.network.topology import NodeKind, Topology
from certree.models.schedule.collective import parse_collective
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.unit_rounds import in_unit_rounds


def star(endpoints: int) -> Topology:
    """Endpoints 0 .. n - 1 around a switch: link 2i leads up from endpoint i, link 2i + 1 down to it."""
    ends, switch = np.arange(endpoints), np.full(endpoints, endpoints)
    src, dst = np.stack((ends, switch), axis=1).ravel(), np.stack((switch, ends), axis=1).ravel()
    kind = np.array([NodeKind.ENDPOINT] * endpoints + [NodeKind.SWITCH])
    links = 2 * endpoints
    return Topology("star", kind, src, dst, np.ones(links), np.full(links, -1))


def everybody_to_everybody(endpoints: int, rounds: list[int]) -> Schedule:
    """Each endpoint sends its chunk to all others in one step, through the switch; in later steps, endpoint 0 to endpoint 1."""
    pairs = [(src, dst, 0) for src in range(endpoints) for dst in range(endpoints) if src != dst]
    pairs += [(0, 1, step) for step in range(1, len(rounds))]
    src, dst, step = np.array(pairs).T
    routes = sorted({(2 * a, 2 * b + 1) for a, b, _ in pairs})
    return Schedule(
        topology=star(endpoints),
        collective=parse_collective("all-gather"),
        chunk_root=np.arange(endpoints),
        rounds=np.array(rounds),
        chunk=src,
        op=np.ones(len(src), np.int8),
        step=step,
        src=src,
        dst=dst,
        route=np.array([routes.index((2 * a, 2 * b + 1)) for a, b, _ in pairs]),
        routes=tuple(routes),
    )


@pytest.mark.parametrize("endpoints", [2, 3, 6, 8, 11])
def test_routes_over_a_switch_fit_the_rounds_of_their_step(endpoints: int):
    """n - 1 rounds hold a permutation each; first fit in row order would need a power of two."""
    spread = in_unit_rounds(everybody_to_everybody(endpoints, [endpoints - 1, 1]))
    assert spread.steps == endpoints
    for step in range(endpoints - 1):
        rows = spread.step == step
        assert len(set(spread.src[rows].tolist())) == len(set(spread.dst[rows].tolist())) == rows.sum()


def test_a_step_that_cannot_be_coloured_in_its_rounds_gets_longer():
    """Three routes, any two of which share a link, and no link is in all three: load 2, but three rounds."""
    kind = np.array([NodeKind.ENDPOINT] * 6 + [NodeKind.SWITCH] * 6)
    joined = [(6, 7), (8, 9), (10, 11), (7, 8), (9, 10), (11, 6)]  # the first three are shared, the others join them
    joined += [(0, 6), (1, 8), (2, 10), (9, 3), (11, 4), (7, 5)]  # to the sources and the destinations
    joined += [(3, 0), (4, 0), (5, 0), (0, 1), (0, 2), (1, 0), (2, 0)]  # so that everybody reaches everybody
    src, dst = np.array(joined).T
    topology = Topology("triangle", kind, src, dst, np.ones(len(src)), np.full(len(src), -1))
    routes = ((6, 0, 3, 1, 9), (7, 1, 4, 2, 10), (8, 2, 5, 0, 11))
    long = Schedule(
        topology, parse_collective("all-gather"), np.arange(3), np.array([2, 1]), np.array([0, 1, 2, 0]),
        np.ones(4, np.int8), np.array([0, 0, 0, 1]), np.array([0, 1, 2, 0]), np.array([3, 4, 5, 3]), np.array([0, 1, 2, 0]), routes,
    )  # fmt: skip
    spread = in_unit_rounds(long)
    assert spread.step.tolist() == [0, 1, 2, 3]
    assert spread.steps == 4


def test_routes_that_overfill_a_step_stay_contended():
    spread = in_unit_rounds(everybody_to_everybody(4, [2]))
    assert spread.steps == 2
    assert max(np.bincount(spread.step)) > 4
