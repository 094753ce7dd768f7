"""The frontier: known points, both kinds of evidence, honest gaps."""

import time

import pytest

from certree.models.common.errors import InputError, UnsupportedError
from certree.models.common.files import canonical_json
from certree.models.network.spec import parse_topology
from certree.models.schedule.collective import parse_collective
from certree.synth.exact import frontier_search as frontier_module
from certree.synth.exact import refuter
from certree.synth.exact.frontier_search import FrontierSearch
from certree.synth.exact.seeds import known_schedules
from certree.synth.monitor import Monitor
from certree.synth.symmetric.symmetry import free_groups
from certree.verify.exact.encoding import encoder as encoder_module
from certree.verify.exact.rup import ProofError
from certree.verify.frontier.document import check_frontier
from tests.verify.exact.small import barbell, network


def found(topology, kind: str, max_chunks: int, root=None, monitor=None):
    """The document of the search, once it is checked."""
    where = parse_topology(topology) if isinstance(topology, str) else topology
    search = FrontierSearch(where, parse_collective(kind, root), max_chunks, 1, monitor or Monitor())
    search.run()
    result = search.result
    document = result.document()
    assert check_frontier(document, "bundle").violations == ()
    return document


def points(document) -> list[tuple[int, int, int]]:
    return [tuple(entry["point"]) for entry in document["points"]]


KNOWN = [
    ("ring:4", "all-gather", 4, [(1, 2, 2), (2, 2, 3)], True),
    ("ring:8", "all-gather", 3, [(1, 4, 4), (2, 4, 7)], True),
    ("hypercube:3", "all-gather", 4, [(1, 3, 3), (2, 3, 5), (3, 3, 7)], True),
    ("hypercube:3", "reduce-scatter", 4, [(1, 3, 3), (2, 3, 5), (3, 3, 7)], True),
    ("torus:4x4", "all-gather", 5, [(1, 4, 4), (4, 4, 15)], True),
    ("torus:4x5", "all-gather", 1, [(1, 4, 5)], False),
    ("torus:5x5", "all-gather", 1, [(1, 4, 6)], True),
    ("torus:6x6", "all-gather", 1, [(1, 6, 9)], False),
    ("dgx1", "all-gather", 6, [(1, 2, 2), (2, 2, 3), (3, 3, 4), (4, 3, 5), (5, 3, 6), (6, 3, 7)], True),
    ("full:5", "all-to-all", 2, [(1, 1, 1)], True),
    ("switch:4", "all-gather", 2, [(1, 1, 3)], True),
    ("switch:4", "all-to-all", 1, [(1, 1, 3)], True),
    ("ring:4,capacity=2", "all-gather", 3, [(1, 2, 2), (2, 2, 2), (3, 2, 5)][1:2], False),
    ("mesh:1x3", "broadcast", 3, [(1, 2, 2), (2, 3, 3), (3, 4, 4)], False),
    ("mesh:1x3", "reduce", 3, [(1, 2, 2), (2, 3, 3), (3, 4, 4)], False),
]


@pytest.mark.parametrize(("spec", "kind", "max_chunks", "expected", "all_chunks"), KNOWN)
def test_known_frontiers(spec: str, kind: str, max_chunks: int, expected, all_chunks: bool) -> None:
    document = found(spec, kind, max_chunks, 0 if kind in ("broadcast", "reduce") else None)
    assert points(document)[-len(expected) :] == expected
    assert document["complete"]
    assert document["all_chunks"] is all_chunks
    if spec == "dgx1":
        assert [3, 2, 4] in [entry["point"] for entry in document["refuted"]]


@pytest.mark.parametrize("nodes", range(3, 17))
def test_the_fewest_steps_of_an_all_reduce_on_a_ring(nodes: int) -> None:
    """One chunk, one accumulator: half the way round, and a step more where three in a row meet twice."""
    document = found(f"ring:{nodes}", "all-reduce", 1)
    steps = nodes // 2 if nodes % 2 == 0 or nodes == 3 else nodes // 2 + 1
    assert points(document) == [(1, steps, steps)]
    assert document["complete"]


@pytest.mark.parametrize(("size", "max_chunks"), [(3, 2), (4, 1)])
def test_a_barbell_comes_ever_closer_to_the_rate_of_its_bridge(size: int, max_chunks: int) -> None:
    document = found(barbell(size), "all-gather", max_chunks)
    assert document["complete"]
    assert not document["all_chunks"]
    assert points(document)[-1][0] == max_chunks
    assert points(document)[-1][2] == size * max_chunks + 1  # nothing has one round less: the last chunk has a step to go


@pytest.mark.parametrize("kind", ["scatter", "gather"])
def test_a_root_sends_or_receives_all_there_is(kind: str) -> None:
    document = found("ring:5", kind, 2, 3)
    assert points(document)[0] == (1, 2, 2)
    assert document["complete"]
    assert document["all_chunks"]


def test_all_reduces_of_several_chunks_are_made_directly() -> None:
    document = found("ring:4", "all-reduce", 4)
    assert points(document) == [
        (1, 2, 2),
        (2, 2, 2),
        (4, 3, 3),
    ]  # 3/4: the bound, where ring and MultiTree take 6 steps for 4 chunks
    assert document["complete"]


def test_removed_nodes_and_links() -> None:
    document = found("torus:3x3,without-node=4,without-link=0-1", "all-gather", 1)
    assert document["complete"]


def test_a_spent_budget_leaves_candidates_undecided(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frontier_module, "TOTAL_CONFLICTS", 1)
    document = found("dgx1", "all-gather", 3)
    assert not document["complete"]
    assert document["undecided"]
    assert not {tuple(point) for point in document["undecided"]} & set(points(document))


def test_a_refutation_whose_proof_is_not_accepted_decides_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_):
        raise ProofError("proof-step", "no RUP")

    proved = found("ring:5", "all-reduce", 2)
    by_formula = [one["point"] for one in proved["refuted"] if one["proof"]["kind"] in ("drat", "implied")]
    monkeypatch.setattr(refuter, "check_proof", refuse)
    document = found("ring:5", "all-reduce", 2)
    assert (document["complete"], document["undecided"]) == (False, by_formula)
    assert by_formula
    assert points(document) == points(proved)


def test_a_passed_deadline_finds_nothing_and_says_so() -> None:
    document = found("dgx1", "all-gather", 2, monitor=Monitor(time.monotonic()))
    assert (document["points"], document["complete"]) == ([], False)


def test_a_formula_that_is_too_large_ends_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    lines: list[str] = []
    monkeypatch.setattr(encoder_module, "MAX_CLAUSES", 2_000)
    document = found("mesh:2x3", "all-gather", 2, monitor=Monitor(sink=lines.append))
    assert points(document)
    assert document["undecided"]
    assert "at most 2000 are tried" in lines[-1]


def test_what_was_found_before_an_interruption_is_kept() -> None:
    lines = []

    def stop(line: str) -> None:
        lines.append(line)
        if len(lines) == 3:
            raise KeyboardInterrupt

    search = FrontierSearch(parse_topology("dgx1"), parse_collective("all-gather"), 6, 1, Monitor(sink=stop))
    with pytest.raises(KeyboardInterrupt):
        search.run()
    result = search.result
    assert list(result.points) == [(1, 2, 2), (2, 2, 3)]
    document = result.document()
    assert check_frontier(document, "bundle").valid
    assert not document["complete"]
    assert lines[0] == "frontier: 1 chunks, 2 steps, 2 rounds"


def test_the_same_input_gives_the_same_bytes() -> None:
    assert canonical_json(found("dgx1", "all-gather", 3)) == canonical_json(found("dgx1", "all-gather", 3))


def test_known_schedules_are_beaten_or_kept() -> None:
    """The trees of fat trees are stars; sending directly is the best there is, which the formula would be too large to find."""
    topology, collective = parse_topology("fattree:2x4"), parse_collective("all-gather")
    known = known_schedules(topology, collective, Monitor())
    search = FrontierSearch(topology, collective, 1, 1, Monitor(), known)
    assert search.known["direct"] == (1, 1, 7)
    search.run()
    assert list(search.result.points) == [(1, 1, 7)]
    assert not search.result.undecided


def test_schedules_with_routes_through_endpoints_are_no_start() -> None:
    topology, collective = parse_topology("ring:6"), parse_collective("all-gather")
    known = known_schedules(topology, collective, Monitor())
    assert {"cps", "multitree"} <= set(known)
    assert set(FrontierSearch(topology, collective, 1, 1, Monitor(), known).known) >= {"multitree"}
    assert "cps" not in FrontierSearch(topology, collective, 1, 1, Monitor(), known).known


def test_a_limit_of_memory_costs_steps() -> None:
    star, kind = network([(0, 1), (0, 2), (0, 3)]), parse_collective("all-to-all")
    best = {}
    for memory in (None, 6, 5, 3):
        search = FrontierSearch(star, kind, 1, 1, Monitor(), memory=memory)
        search.run()
        result = search.result
        document = result.document()
        assert check_frontier(document, "bundle").valid
        assert document["complete"]
        best[memory] = points(document)
    assert best[None] == best[6]
    assert best[None][0][1] == 2
    assert best[5][0][1] == 3
    with pytest.raises(UnsupportedError, match="endpoint 0 must store 3 chunks at the start or at the end; memory is 2"):
        FrontierSearch(star, kind, 1, 1, Monitor(), memory=2)


def test_wrong_requests() -> None:
    with pytest.raises(InputError, match="max_chunks 0, effort 1; allowed: whole numbers from 1"):
        FrontierSearch(parse_topology("ring:4"), parse_collective("all-gather"), 0, 1, Monitor())


@pytest.mark.parametrize(
    ("spec", "order"), [("torus:4x4", 16), ("hypercube:3", 8), ("torus:6x6", 36), ("dgx1", 4), ("mesh:1x3", None)]
)
def test_groups_are_groups_of_free_automorphisms(spec: str, order) -> None:
    topology = parse_topology(spec)
    groups = free_groups(topology)
    assert (groups[0].order if groups else None) == order
    links = sorted(zip(topology.pair_src.tolist(), topology.pair_dst.tolist(), topology.pair_capacity.tolist(), strict=True))
    for group in groups:
        elements = set(group.elements)
        for one in group.elements:
            assert sorted((one[a], one[b], size) for a, b, size in links) == links
            assert {tuple(one[node] for node in other) for other in group.elements} == elements
            moved = [one[node] != node for node in topology.endpoints.tolist()]
            assert all(moved) or not any(moved)


def test_capacities_and_kinds_break_symmetry() -> None:
    assert free_groups(network([(0, 1), (1, 2), (2, 3), (3, 0)]))
    assert not free_groups(network([(0, 1, 2), (1, 2), (2, 3), (3, 0, 3)]))
