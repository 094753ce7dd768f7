"""The trusted encoder compared with exhaustive search, the verifier and known results."""

import pytest

from certree.models.common.errors import InputError, UnsupportedError
from certree.models.network.spec import parse_topology
from certree.models.schedule.collective import Collective, CollectiveKind, parse_collective
from certree.verify.exact.encoding import encoder as encoder_module
from certree.verify.exact.encoding.encode import encode
from certree.verify.exact.encoding.spread import SpreadEncoder
from certree.verify.exact.encoding.sums import SumEncoder
from certree.verify.exact.question import Question
from certree.verify.exact.rows import most_stored
from certree.verify.frontier.answers import why_not
from tests.verify.exact.small import GRAPHS, barbell, network, spreads, sums, wanted
from tests.verify.exact.trusted import answer, needs_its_clauses, solved

SPREADING = ["all-gather", "all-to-all", "broadcast", "scatter", "gather"]


def ask(topology, kind: str, point, root=None) -> bool:
    network = parse_topology(topology) if isinstance(topology, str) else topology
    return answer(Question(network, parse_collective(kind, root), *point))


def test_the_graphs_are_all_of_them() -> None:
    assert [sum(len(graph.kind) == nodes for graph in GRAPHS) for nodes in (2, 3, 4)] == [1, 2, 6]


@pytest.mark.parametrize("graph", GRAPHS, ids=lambda graph: graph.name)
@pytest.mark.parametrize("kind", SPREADING)
def test_what_spreads_agrees_with_exhaustive_search(graph, kind: str) -> None:
    root = 0 if kind in ("broadcast", "scatter", "gather") else None
    small = [(1, 1, 1), (1, 1, 2), (1, 2, 2), (2, 1, 2), (2, 1, 3)]
    if kind != "all-to-all":
        small += [(1, 2, 3), (1, 3, 3)]
    if len(graph.src) <= 8 and kind != "all-to-all":
        small += [(2, 2, 2), (2, 2, 3)]
    if len(graph.src) == 12 and kind == "all-to-all":
        small.remove((1, 2, 2))  # too many states
    for chunks, steps, rounds in small:
        expected = spreads(graph, wanted(CollectiveKind(kind), graph.endpoints.tolist(), root, chunks), steps, rounds)
        assert ask(graph, kind, (chunks, steps, rounds), root) == expected, (chunks, steps, rounds)


@pytest.mark.parametrize("graph", GRAPHS, ids=lambda graph: graph.name)
def test_sums_agree_with_exhaustive_search(graph) -> None:
    nodes = range(len(graph.kind))
    for steps in (1, 2):
        assert ask(graph, "all-reduce", (1, steps, steps)) == sums(graph, 1, steps, [(node, 0) for node in nodes])
        for root in nodes:
            assert ask(graph, "reduce", (1, steps, steps), root) == sums(graph, 1, steps, [(root, 0)])


@pytest.mark.parametrize("graph", [graph for graph in GRAPHS if len(graph.kind) <= 3], ids=lambda graph: graph.name)
def test_more_chunks_and_steps_of_sums_agree_with_exhaustive_search(graph) -> None:
    nodes = range(len(graph.kind))
    for steps in (1, 2):
        assert ask(graph, "reduce-scatter", (1, steps, steps)) == sums(graph, len(nodes), steps, [(node, node) for node in nodes])
        both = [(node, chunk) for node in nodes for chunk in (0, 1)]
        assert ask(graph, "all-reduce", (2, steps, steps)) == sums(graph, 2, steps, both)
    assert ask(graph, "all-reduce", (1, 3, 3)) == sums(graph, 1, 3, [(node, 0) for node in nodes])


@pytest.mark.parametrize(
    ("spec", "kind", "point", "exists"),
    [
        ("ring:4", "all-gather", (1, 2, 2), True),
        ("ring:4", "all-gather", (2, 2, 3), True),
        ("ring:4", "all-gather", (3, 2, 4), False),
        ("hypercube:3", "reduce-scatter", (3, 3, 7), True),
        ("hypercube:3", "reduce-scatter", (2, 3, 4), False),
        ("dgx1", "all-gather", (2, 2, 3), True),
        ("dgx1", "all-gather", (3, 2, 4), False),
        ("ring:5", "all-reduce", (1, 2, 2), False),  # possible with scratch buffers, not with one accumulator
        ("ring:5", "all-reduce", (1, 3, 3), True),
        ("ring:8", "all-reduce", (1, 4, 4), True),
        ("ring:4,capacity=2", "all-gather", (2, 2, 2), True),
        ("ring:4,without-link=0>1", "all-gather", (1, 2, 2), False),
        ("ring:4,without-link=0>1", "all-gather", (1, 3, 3), True),
        ("switch:4", "all-gather", (1, 1, 3), True),
        ("switch:4", "all-gather", (1, 1, 2), False),
        ("switch:4", "all-reduce", (1, 2, 2), True),
        ("switch:4", "all-to-all", (1, 1, 3), True),
        ("switch:4", "reduce-scatter", (1, 2, 2), False),
        ("switch:4", "reduce-scatter", (1, 1, 3), True),
    ],
)
def test_known_points(spec: str, kind: str, point, exists: bool) -> None:
    assert ask(spec, kind, point) is exists


def test_the_bridge_of_a_barbell_carries_one_chunk_a_round() -> None:
    assert not ask(barbell(3), "all-gather", (1, 3, 4))
    assert ask(barbell(3), "all-gather", (1, 3, 5))
    assert not ask(barbell(4), "all-gather", (1, 4, 4))


def test_endpoints_behind_switches_do_not_forward_within_a_step() -> None:
    path = network([(0, 3), (3, 1), (1, 4), (4, 2)], switches=[3, 4])
    assert not ask(path, "broadcast", (1, 1, 2), 0)
    assert ask(path, "broadcast", (1, 2, 2), 0)


def test_routes_through_several_switches_keep_their_direction() -> None:
    line = network([(0, 3), (1, 3), (3, 4), (2, 4)], switches=[3, 4])
    for root in (0, 1, 2):
        assert ask(line, "reduce", (1, 2, 2), root)
    assert ask(network([(0, 3), (1, 3), (3, 4), (2, 4)], switches=[3, 4], reducing=[3]), "reduce", (1, 2, 2), 0)


def test_parallel_links_add_up() -> None:
    twice = network([(0, 1), (0, 1), (1, 2, 3)])
    assert ask(twice, "broadcast", (2, 2, 2), 0)
    assert not ask(twice, "broadcast", (3, 2, 2), 0)


CONSTRAINTS = [
    (SpreadEncoder, "_start_and_end", "mesh:1x3", "all-gather", (1, 1, 1)),
    (SpreadEncoder, "_causality", "mesh:1x3", "all-gather", (1, 1, 2)),
    (SpreadEncoder, "_contention", "ring:4", "all-gather", (3, 2, 4)),
    (SpreadEncoder, "add_rounds", "ring:4", "all-gather", (3, 2, 4)),
    (SumEncoder, "_start_and_end", "ring:4", "all-reduce", (1, 1, 1)),
    (SumEncoder, "_carrying", "ring:4", "all-reduce", (1, 1, 1)),
    (SumEncoder, "_writes", "ring:5", "all-reduce", (1, 2, 2)),
    (SumEncoder, "_landing", "ring:4", "all-reduce", (1, 1, 1)),
    (SumEncoder, "_contention", "ring:4", "all-reduce", (5, 3, 3)),
]


@pytest.mark.parametrize(("encoder", "dropped", "spec", "kind", "point"), CONSTRAINTS)
def test_every_family_of_clauses_is_needed(encoder, dropped, spec, kind, point) -> None:
    assert needs_its_clauses(Question(parse_topology(spec), parse_collective(kind), *point), encoder, dropped)


def test_an_index_that_does_not_exist_is_no_new_variable() -> None:
    encoder = encode(Question(parse_topology("ring:4"), parse_collective("all-gather"), 1, 2, 2))
    with pytest.raises(KeyError):
        encoder.holds[0, 9, 0]  # type: ignore[attr-defined]


def test_the_formula_is_written_down_with_what_its_variables_mean() -> None:
    formula = encode(Question(parse_topology("ring:4"), parse_collective("all-gather"), 1, 2, 3)).formula
    lines = formula.dimacs(["all-gather on ring:4, (1, 2, 3)"]).decode().splitlines()
    assert lines[0] == "c all-gather on ring:4, (1, 2, 3)"
    assert lines[1] == "c longer[...]: variables 1 to 2: step t lasts k rounds or more [t, k]"
    header = next(line for line in lines if line.startswith("p"))
    assert header == f"p cnf {formula.variables} {len(formula.clauses)}"
    assert len([line for line in lines if line.endswith(" 0")]) == len(formula.clauses)


def test_no_name_in_a_comment_becomes_a_clause() -> None:
    empty = encode(Question(parse_topology("ring:4"), parse_collective("all-gather"), 1, 2, 3)).formula
    written = empty.dimacs(["all-gather on ring\np cnf 1 2\r1 0\u2028-1 0\ud800"])
    clauses = [line for line in written.decode("ascii").splitlines() if not line.startswith("c ")]
    assert clauses == empty.dimacs().decode("ascii").splitlines()[len(empty.notes) :]


def test_what_cannot_be_asked() -> None:
    ring = parse_topology("ring:4")
    with pytest.raises(InputError, match="2 rounds for 3 steps"):
        Question(ring, parse_collective("all-gather"), 1, 3, 2)
    with pytest.raises(InputError, match="chunks is 0; allowed: whole numbers from 1"):
        Question(ring, parse_collective("all-gather"), 0, 1, 1)


def test_a_formula_too_large_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encoder_module, "MAX_CLAUSES", 100)
    with pytest.raises(UnsupportedError, match=r"the formula of \(1, 2, 2\) would have \d+ clauses; at most 100"):
        encode(Question(parse_topology("ring:4"), Collective(CollectiveKind.ALL_GATHER), 1, 2, 2))


def test_a_reducing_switch_adds_and_multicasts() -> None:
    star = [(0, 3), (1, 3), (2, 3)]
    plain, reducing = network(star, switches=[3]), network(star, switches=[3], reducing=[3])
    assert ask(reducing, "all-reduce", (1, 2, 2))  # up into the switch, down to all: each link once
    assert ask(reducing, "all-reduce", (4, 5, 5))  # one chunk a round in a pipeline
    assert not ask(plain, "all-reduce", (4, 5, 5))  # 2(N - 1) / N rounds a chunk, which is more than 5 for 4
    assert ask(reducing, "broadcast", (1, 2, 2), 0)
    assert not ask(plain, "broadcast", (1, 1, 1), 0)


STAR = network([(0, 1), (0, 2), (0, 3)])


@pytest.mark.parametrize(
    ("memory", "steps", "exists"), [(None, 2, True), (6, 2, True), (5, 2, False), (5, 3, True), (3, 4, True), (2, 4, False)]
)
def test_a_hub_with_little_memory_takes_more_steps(memory, steps: int, exists: bool) -> None:
    """All-to-all through a hub in two steps: in between it stores the 6 chunks that are on their way."""
    assert answer(Question(STAR, parse_collective("all-to-all"), 1, steps, 9, memory)) is exists


def test_a_schedule_that_needs_more_memory_is_no_answer() -> None:
    asked = Question(STAR, parse_collective("all-to-all"), 1, 2, 9)
    schedule = solved(asked)
    stored = most_stored(asked, schedule)
    assert stored >= 6
    assert why_not(Question(STAR, asked.collective, 1, 2, 9, stored), schedule) is None
    refused = why_not(Question(STAR, asked.collective, 1, 2, 9, 5), schedule)
    assert refused == f"a cell has to store {stored} chunks, more than 5"
    with pytest.raises(UnsupportedError, match="memory can be limited only for collectives that only copy, not for all-reduce"):
        Question(STAR, parse_collective("all-reduce"), 1, 2, 2, 9)
    with pytest.raises(InputError, match="memory is 0; allowed: whole numbers from 1"):
        Question(STAR, parse_collective("all-gather"), 1, 2, 2, 0)
