"""Spreading steps of several rounds whose transfers pass several links."""

from collections import Counter
from dataclasses import replace
from itertools import count
from random import Random

import numpy as np
import pytest
from numpy.typing import NDArray

from certree.models._lists import first_fit
from certree.models.network.topology import NodeKind
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.schedule_columns import Op
from certree.models.schedule.unit_rounds import in_unit_rounds, spread
from tests.models.examples import network, schedule


def everybody_to_everybody(endpoints: int, rounds: list[int]) -> Schedule:
    """Each endpoint sends its chunk to all others in one step, through a switch; in later steps, endpoint 0 to endpoint 1.

    Link 2i leads up from endpoint i, link 2i + 1 down to it.
    """
    links = [ends for node in range(endpoints) for ends in ((node, endpoints), (endpoints, node))]
    star = network(endpoints + 1, links, kind=np.append(np.zeros(endpoints, np.int8), NodeKind.SWITCH))
    rows = [(src, Op.COPY, 0, src, dst) for src in range(endpoints) for dst in range(endpoints) if src != dst]
    rows += [(0, Op.COPY, step, 0, 1) for step in range(1, len(rounds))]
    routes = [(2 * src, 2 * dst + 1) for *_, src, dst in rows]
    return schedule(star, "all-gather", range(endpoints), rows, route=range(len(rows)), routes=routes, rounds=rounds)


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
    fields = {"route": [0, 1, 2, 0], "routes": ((6, 0, 3, 1, 9), (7, 1, 4, 2, 10), (8, 2, 5, 0, 11)), "rounds": [2, 1]}
    long = schedule(network(12, joined, kind=kind), "all-gather", range(3), "0:0>3 1:1>4 2:2>5; 0:0>3", **fields)
    spread = in_unit_rounds(long)
    assert spread.step.tolist() == [0, 1, 2, 3]
    assert spread.steps == 4


def test_routes_that_overfill_a_step_stay_contended():
    spread = in_unit_rounds(everybody_to_everybody(4, [2]))
    assert spread.steps == 2
    assert max(np.bincount(spread.step)) > 4


def plain_first_fit(whole: Schedule, rows: NDArray[np.int64]) -> list[int]:
    """The first round in which each row, in turn, finds room on its links."""
    used: Counter[tuple[int, int]] = Counter()
    taken = []
    for row in rows.tolist():
        pairs = whole.topology.pair_of_link[list(whole.routes[whole.route[row]])].tolist()
        at = next(at for at in count() if all(used[pair, at] < whole.topology.pair_capacity[pair] for pair in pairs))
        used.update((pair, at) for pair in pairs)
        taken.append(at)
    return taken


def test_rows_take_the_first_round_with_room():
    """Random routes through a switch, one step of them three times, with other chunks."""
    rng = Random(3)
    one = everybody_to_everybody(7, [12])
    for _ in range(20):
        rows = np.array(sorted(rng.sample(range(one.transfers), 25)))
        chunk = np.concatenate([(one.src[rows] + turn) % 7 for turn in range(3)])
        columns = {name: np.tile(getattr(one, name)[rows], 3) for name in ("op", "src", "dst", "route")}
        step = np.repeat(np.arange(3, dtype=np.int32), 25)
        whole = replace(one, chunk=chunk.astype(np.int32), step=step, rounds=np.full(3, 25, np.int32), **columns)
        offset, length = spread(whole)
        assert offset.reshape(3, 25).tolist() == [plain_first_fit(whole, np.arange(25))] * 3
        assert length.tolist() == [25] * 3


def test_rows_that_share_no_round_take_one_each_and_what_overfills_a_link_is_alone():
    """Rows 0 and 1 are a group that link 0 cannot carry at once; row 2, after them, passes link 1 twice, as row 3 does."""
    ends = np.array([0, 1, 2, 4, 6], np.int32)
    claims = ends, np.array([0, 0, 1, 1, 1, 1], np.int32)
    groups = np.array([0, 2, 3, 4], np.int32), np.arange(4, dtype=np.int32)
    later = np.array([0, 1, 1, 1], np.int32), np.array([1], np.int32)
    key, one = np.zeros(4, np.int64), np.ones(2, np.int32)
    assert first_fit(claims, one, groups, later, key).tolist() == [0, 1, 1, 0]
    with pytest.raises(ValueError, match="do not fit each other"):
        first_fit(claims, one[:1], groups, later, key)
