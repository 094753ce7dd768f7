"""Transfers between ranks on networks: routes, rounds by hand, and the verifier's violations where rounds are too few."""

from dataclasses import replace

import numpy as np
import pytest

from certree.models.common.errors import UnsupportedError
from certree.models.network.topology import Topology
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.schedule_columns import Op
from certree.synth.ranks.embedding import Rows, embed
from certree.synth.rounds import rounds_needed
from certree.verify.checker import verify_schedule
from tests.synth.execution import ask


def everyone_to_all(topology: str, *, published: bool = False, **fields: object) -> Schedule:
    """All-gather in one step: every endpoint sends its chunk to every other."""
    request = ask(topology, "all-gather", **fields)
    nodes = request.topology.endpoints
    src, dst = (grid.ravel() for grid in np.meshgrid(nodes, nodes, indexing="ij"))
    rows = Rows()
    rows.add(request.topology.rank[src][src != dst], Op.COPY, 0, src[src != dst], dst[src != dst])
    return embed(request, nodes, rows.columns, method="everyone", options={"rounds": "published" if published else "serialized"})


# What a full exchange loads the fullest link with: N - 1 at the port of a switch; on a path (N/2)^2 in the middle; on a ring of 5,
# in each direction, one route of one hop and two of two.
@pytest.mark.parametrize(
    ("spec", "rounds"),
    [
        ("switch:5", 4),
        ("mesh:6", 9),
        ("ring:5", 3),
        ("full:4", 1),
        ("full:4,capacity=2", 1),
        ("ring:5,capacity=2", 2),
        ("switch:9,capacity=3", 3),
    ],
)
def test_a_step_lasts_as_long_as_its_fullest_link_needs(spec: str, rounds: int) -> None:
    made = everyone_to_all(spec)
    assert made.rounds.tolist() == [rounds]
    assert verify_schedule(made).valid
    if rounds > 1:
        verdict = verify_schedule(replace(made, rounds=np.array([rounds - 1], np.int32)))
        assert not verdict.valid
        assert set(verdict.counts) == {"capacity"}


def test_published_rounds_are_refuted_where_links_are_shared() -> None:
    made = everyone_to_all("switch:5", published=True)
    assert made.rounds.tolist() == [1]
    assert made.provenance["published"] is True
    assert set(verify_schedule(made).counts) == {"capacity"}
    assert verify_schedule(everyone_to_all("full:5", published=True)).valid
    assert "published" not in everyone_to_all("full:5").provenance


def test_a_published_step_lasts_as_long_as_its_largest_message() -> None:
    made = {}
    for spec in ("full:3", "switch:3"):
        request = ask(spec, "all-gather")
        rows = Rows()
        rows.add([0, 1], Op.COPY, 0, 0, 1)  # two chunks for node 1, one for node 2
        rows.add([0, 0, 1], Op.COPY, [0, 1, 1], [0, 1, 1], [2, 0, 2])
        made[spec] = embed(request, np.array([0, 0]), rows.columns, method="m", options={"rounds": "published"})
        assert made[spec].rounds.tolist() == [2, 1]
    assert set(verify_schedule(made["full:3"]).counts) == set()
    assert set(verify_schedule(made["switch:3"]).counts) == {"capacity"}


def test_parallel_links_share_direct_transfers_and_routed_ones() -> None:
    #  0 =2 links= 1(switch) =1 link of 2= 2
    star = Topology(
        "parallel",
        np.array([0, 1, 0]),
        np.array([0, 0, 1, 1, 1, 2]),
        np.array([1, 1, 0, 0, 2, 1]),
        np.array([1, 1, 1, 1, 2, 2]),
        np.full(6, -1),
    )
    request = ask(star, "all-gather")
    rows = Rows()
    rows.add([0, 1], Op.COPY, [0, 0], [0, 2], [2, 0])
    once = embed(request, np.array([0, 2]), rows.columns, method="m", options={})
    assert once.rounds.tolist() == [1]
    rows = Rows()
    rows.add([0, 1, 2, 3], Op.COPY, 0, [0, 0, 2, 2], [2, 2, 0, 0])
    twice = embed(request, np.array([0, 0, 2, 2]), rows.columns, method="m", options={})
    assert twice.rounds.tolist() == [1]  # of the first route's one link and the parallel one each takes one
    assert rounds_needed(twice).tolist() == [1]


def test_every_step_has_rounds_of_its_own() -> None:
    request = ask("mesh:3", "all-gather")
    rows = Rows()
    rows.add([0, 1, 2], Op.COPY, 0, [0, 1, 2], [1, 2, 1])
    rows.add([1, 0, 2], Op.COPY, 3, [1, 0, 2], [0, 2, 0])  # 0 and 1 pass 1>2 and 1>0; 2 passes 2>1, 1>0
    made = embed(request, np.arange(3), rows.columns, method="m", options={})
    assert made.rounds.tolist() == [1, 1, 1, 2]
    assert verify_schedule(made).valid


def test_other_numbers_of_chunks_and_steps_are_refused() -> None:
    with pytest.raises(UnsupportedError, match="everyone cuts this message into 4 chunks; 5 were asked for"):
        everyone_to_all("switch:4", chunks=5)
    assert everyone_to_all("switch:4", chunks=4, steps=1).steps == 1


def test_blocks_are_broadcast_and_keep_their_order() -> None:
    rows = Rows()
    rows.add(np.array([[0], [1]]), Op.REDUCE, 7, np.array([3, 4, 5]), 9)
    rows.add(2, Op.COPY, 8, 1, 0)
    columns = rows.columns
    assert columns["chunk"].tolist() == [0, 0, 0, 1, 1, 1, 2]
    assert columns["src"].tolist() == [3, 4, 5, 3, 4, 5, 1]
    assert columns["op"].tolist() == [0] * 6 + [1]
    assert {len(column) for column in columns.values()} == {7}
    with pytest.raises(ValueError, match="shape mismatch"):
        rows.add([0, 1], 0, 0, [1, 2, 3], 0)
    assert all(len(column) == 0 for column in Rows().columns.values())
