"""Prepared paths lead from source to target; what is chosen of them loads links evenly."""

import numpy as np
import pytest

from certree.models.common.errors import UnsupportedError
from certree.models.network.spec import parse_topology
from certree.synth.flows import prepared_paths
from certree.synth.flows.block_paths import Paths, least_period
from certree.synth.flows.block_slots import moves_of
from certree.synth.flows.prepared_paths import prepared
from tests.synth.flows.demands import drawn_request

NETWORKS = ["torus:4x4", "mesh:2x3", "dgx1", "fattree:2x3", "h100:2", "mesh:3x3,without-node=4"]


@pytest.mark.parametrize("spec", NETWORKS)
def test_paths_lead_from_source_to_target(spec: str) -> None:
    topology = parse_topology(spec)
    found, count = prepared(topology, 0), len(topology.endpoints)
    for pair in range(count * count):
        ends = [int(topology.endpoints[end]) for end in divmod(pair, count)]
        routes = set()
        for path in range(found.first[pair], found.first[pair + 1]):
            hops = found.paths.pair[found.paths.offset[path] : found.paths.offset[path + 1]]
            nodes = [int(topology.pair_src[hops[0]]), *topology.pair_dst[hops].tolist()]
            assert [nodes[0], nodes[-1]] == ends
            assert (topology.pair_dst[hops[:-1]] == topology.pair_src[hops[1:]]).all()
            assert len(set(nodes)) == len(nodes)
            routes.add(tuple(hops.tolist()))
        assert len(routes) == found.first[pair + 1] - found.first[pair]
        assert bool(routes) == (ends[0] != ends[1])


@pytest.mark.parametrize("spec", NETWORKS)
def test_chosen_paths(spec: str) -> None:
    request = drawn_request(spec, 1, 1 << 20, hot=False)
    topology, demand = request.topology, request.collective.demand
    assert demand is not None
    found, (source, target, size) = prepared(topology, 0), demand.columns
    path, rounds = found.chosen(source, target, size, 8)
    assert (found.first[found.pairs(source, target)] <= path).all()
    assert (path < found.first[found.pairs(source, target) + 1]).all()
    hops = [found.paths.pair[found.paths.offset[one] : found.paths.offset[one + 1]] for one in path.tolist()]
    load = np.zeros(len(topology.pair_src), np.int64)
    for passed, granules in zip(hops, size.tolist(), strict=True):
        load[passed] += granules
    assert rounds == (-(-load // topology.pair_capacity)).max()
    own = np.arange(len(load), dtype=np.int32)
    least = least_period(topology, own, topology.pair_capacity, source.astype(np.int32), target.astype(np.int32), size)
    assert found.least_rounds(source, target, size) == least <= rounds <= found.chosen(source, target, size, 0)[1]


@pytest.mark.parametrize("spec", NETWORKS)
def test_moves_along_paths(spec: str) -> None:
    found = prepared(parse_topology(spec), 3)
    path = np.random.default_rng(0).permutation(len(found.paths.offset) - 1)[:50].astype(np.int32)
    hops = [found.paths.pair[found.paths.offset[one] : found.paths.offset[one + 1]] for one in path.tolist()]
    offset = np.append(0, np.cumsum([len(passed) for passed in hops])).astype(np.int32)
    wanted, moves = moves_of(found.topology, Paths(offset, np.concatenate(hops), 0)), found.moves_along(path)
    for name in ("block", "src", "dst", "offset", "pair", "is_last"):
        assert (getattr(moves, name) == getattr(wanted, name)).all()
    named = [[set_.routes[at] if at >= 0 else None for at in set_.route.tolist()] for set_ in (moves, wanted)]
    assert named[0] == named[1]


def test_a_network_is_prepared_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prepared_paths, "_KEPT", {})
    first = prepared(parse_topology("ring:5"), 0)
    assert prepared(parse_topology("ring:5"), 0) is first
    assert prepared(parse_topology("ring:5"), 1) is not first
    for size in range(6, 6 + prepared_paths.KEPT):
        prepared(parse_topology(f"ring:{size}"), 0)
    assert len(prepared_paths._KEPT) == prepared_paths.KEPT
    assert prepared(parse_topology("ring:5"), 0) is not first


def test_too_many_endpoints() -> None:
    with pytest.raises(UnsupportedError, match="prepared for up to 256 endpoints; ring:300 has 300"):
        prepared(parse_topology("ring:300"), 0)
