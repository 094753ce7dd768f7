"""Frontier documents: valid ones are accepted, altered ones are rejected."""

import copy
from fractions import Fraction
from functools import cache
from itertools import combinations

import pytest

from certree.models.common.errors import InputError, UnsupportedError
from certree.models.common.files import sha256
from certree.models.network.spec import parse_topology
from certree.models.network.topology_file import topology_document
from certree.models.schedule.collective import parse_collective
from certree.synth.exact.frontier_search import FrontierSearch
from certree.synth.monitor import Monitor
from certree.verify.exact.encoding.encode import encode
from certree.verify.exact.question import Question
from certree.verify.exact.refutations.refutation import check_refutation, pack, unpack
from certree.verify.exact.rup import ProofError
from certree.verify.frontier.document import check_frontier
from certree.verify.frontier.points import covers, obligations, undominated
from tests.verify.exact.small import barbell, network


def made(topology, kind: str, max_chunks: int, root=None):
    """The document of a search, and what was found."""
    network = parse_topology(topology) if isinstance(topology, str) else topology
    search = FrontierSearch(network, parse_collective(kind, root), max_chunks, 1, Monitor())
    search.run()
    found = search.result
    return found.document()


@cache
def dgx1():
    return made("dgx1", "all-gather", 3)


@cache
def bells():
    return made(barbell(3), "all-gather", 2)


@cache
def ring():
    return made("ring:5", "all-reduce", 3)


def rules(document, topology=None) -> set[str]:
    return {violation.rule for violation in check_frontier(document, "bundle", topology).violations}


def entry(document, name: str, point):
    return next(entry for entry in document[name] if entry["point"] == list(point))


def kinds(document):
    return {tuple(one["point"]): one["proof"]["kind"] for one in document["refuted"]}


def test_the_bundles_hold() -> None:
    assert rules(dgx1()) == rules(bells()) == rules(ring()) == set()
    assert (dgx1()["complete"], dgx1()["all_chunks"]) == (True, False)  # 7/6 rounds per chunk take 6 chunks
    assert kinds(dgx1())[3, 2, 4] == "prices"
    assert kinds(ring()) == {(1, 2, 2): "drat", (3, 3, 4): "drat"}
    assert set(kinds(bells()).values()) == {"distance", "prices", "time-cut"}


def changed(document, change):
    document = copy.deepcopy(document)
    change(document)
    return document


def lines_of(document) -> list[str]:
    return unpack(entry(document, "refuted", (3, 3, 4))["proof"]["lines"]).splitlines(keepends=True)


def with_lines(document, lines: list[str], *, honest: bool) -> None:
    """Other lines for the proof about (3, 3, 4), with or without the digest that they have."""
    proof = entry(document, "refuted", (3, 3, 4))["proof"]
    proof["lines"] = pack("".join(lines))
    if honest:
        proof["sha256"] = sha256("".join(lines).encode())


def test_a_proof_with_one_changed_line_is_refused() -> None:
    lines = lines_of(ring())
    for number in range(0, len(lines), max(1, len(lines) // 20)):
        other = [*lines[:number], lines[number].replace(" 0", " 7 0").replace("d ", ""), *lines[number + 1 :]]
        assert rules(changed(ring(), lambda document, other=other: with_lines(document, other, honest=False))) >= {"proof-digest"}


def test_a_step_that_does_not_follow_is_refused_with_whatever_digest() -> None:
    for rule, lines in (
        ("proof-step", ["1 0\n", *lines_of(ring())]),
        ("proof-open", lines_of(ring())[:-1]),
        ("proof-deletion", ["d 1 2 3 4 5 0\n"]),
        ("proof-malformed", ["x\n"]),
    ):
        assert rule in rules(changed(ring(), lambda document, lines=lines: with_lines(document, lines, honest=True)))


def test_a_proof_of_another_formula_is_refused() -> None:
    def exchange(document) -> None:
        one, other = entry(document, "refuted", (3, 3, 4)), entry(document, "refuted", (1, 2, 2))
        one["proof"] = other["proof"]

    assert "proof-foreign" in rules(changed(ring(), exchange))
    unordered = changed(ring(), lambda document: entry(document, "refuted", (3, 3, 4))["proof"].update(ordered=False))
    assert "proof-foreign" in rules(unordered)


def test_evidence_of_another_topology_is_refused() -> None:
    other = parse_topology("ring:8")
    found = rules(changed(dgx1(), lambda document: document.update(topology=topology_document(other))))
    assert {"frontier-point", "proof-malformed"} <= found  # prices for other links
    found = rules(changed(ring(), lambda document: document.update(topology=topology_document(parse_topology("ring:6")))))
    assert {"frontier-point", "proof-foreign"} <= found
    assert rules(dgx1(), other) == {"topology"}
    assert "witness-value" in rules(changed(made("ring:4", "all-gather", 2), lambda d: d.update(topology=topology_document(other))))


CHANGES = {
    "frontier-point": [
        lambda d: d["points"][0].update(schedule=d["points"][1]["schedule"]),
        lambda d: d["points"][1]["schedule"]["transfers"]["step"].__setitem__(-1, 0),
        lambda d: d["points"][1]["schedule"].update(rounds=[1, 3]),
        lambda d: d["points"][1].update(point=[2, 2, 4]),
        lambda d: d["points"].append(d["points"][0]),
        lambda d: d["points"][1]["schedule"].update(collective={"kind": "all-reduce", "root": None}),
        lambda d: d["points"][1].update(schedule={}),
        lambda d: d["points"][1]["schedule"].update(certificate={"optimal": True}),
    ],
    "frontier-claim": [
        lambda d: d.update(complete=False),
        lambda d: d.update(all_chunks=True),
        lambda d: d.update(all_chunks=0),
        lambda d: d.update(undecided=[[1, 1, 1]]),
        lambda d: d.update(model="with scratch buffers"),
        lambda d: d.update(scratch=1),
        lambda d: d.update(memory=24),
        lambda d: d["refuted"].pop(),
        lambda d: d["points"].pop(),
        lambda d: d.update(max_chunks=4),
        lambda d: d["step_bounds"][0].update(steps=3),
        lambda d: d["step_bounds"][0].update(rounds_per_chunk="2"),
    ],
    "proof-weak": [lambda d: d["refuted"].append({"point": [3, 3, 5], "proof": entry(d, "refuted", (3, 3, 3))["proof"]})],
    "proof-distance": [lambda d: entry(d, "refuted", (1, 1, 8))["proof"].update(hops=3)],
    "proof-implied": [lambda d: d["refuted"].append({"point": [3, 2, 5], "proof": {"kind": "implied", "by": [3, 2, 4]}})],
    "proof-malformed": [
        lambda d: d["refuted"][0].update(proof={"kind": "word of honour"}),
        lambda d: d["refuted"][0].update(proof=None),
        lambda d: d["refuted"].append(d["refuted"][0]),
        lambda d: entry(d, "refuted", (3, 2, 4))["proof"].pop("price"),
        lambda d: d["step_bounds"][0].update(price=[[1]]),
    ],
    "witness-value": [lambda d: d["bandwidth"].update(value="1/2")],
}
FORMULA_CHANGES = [
    lambda d: entry(d, "refuted", (3, 3, 4))["proof"].update(lines="?"),
    lambda d: entry(d, "refuted", (3, 3, 4))["proof"].update(lines=d["refuted"][-1]["point"]),
    lambda d: entry(d, "refuted", (3, 3, 4))["proof"].pop("sha256"),
    lambda d: entry(d, "refuted", (3, 3, 4))["proof"].update(ordered=1),
]


@pytest.mark.parametrize(
    ("document", "rule", "change"),
    [(dgx1, rule, change) for rule, changes in CHANGES.items() for change in changes]
    + [(ring, "proof-malformed", change) for change in FORMULA_CHANGES],
)
def test_what_was_changed_is_found(document, rule: str, change) -> None:
    assert rule in rules(changed(document(), change))


def test_all_chunks_are_claimed_where_bounds_meet_the_points() -> None:
    """The DGX-1: 3/2 rounds per chunk in two steps, by prices; 7/6 in any number, by a cut."""
    whole = made("dgx1", "all-gather", 6)
    assert (whole["all_chunks"], [(one["steps"], one["rounds_per_chunk"]) for one in whole["step_bounds"]]) == (True, [(2, "3/2")])
    assert rules(whole) == set()
    assert rules(changed(whole, lambda d: d.update(step_bounds=[]))) == {"frontier-claim"}
    assert "frontier-claim" in rules(changed(whole, lambda d: d["step_bounds"][0]["price"][0].__setitem__(slice(32), [0] * 32)))
    weak = {"steps": 2, "rounds_per_chunk": "1", "price": [[1] * len(whole["step_bounds"][0]["price"][0])] * 2}
    assert "frontier-claim" in rules(changed(whole, lambda d: d.update(step_bounds=[weak])))


def test_schedules_with_several_buffers_are_no_points() -> None:
    """The machine of the frontier has one accumulator for each node and chunk, or scratch slots that it counts itself."""

    def buffer(document) -> None:
        made = document["points"][0]["schedule"]
        zeros = [0] * len(made["transfers"]["chunk"])
        made |= {"version": 2, "buffers": 2, "certificate": None}
        made["transfers"] |= {"src_buffer": zeros, "dst_buffer": zeros}

    found = check_frontier(changed(ring(), buffer), "changed").violations
    assert any("the schedule uses buffers (version 2)" in violation.message for violation in found)


def test_a_point_that_another_covers_is_found() -> None:
    document = changed(
        dgx1(), lambda d: d["points"].append({"point": [2, 2, 4], "schedule": made("dgx1", "all-gather", 1)["points"][0]})
    )
    assert "frontier-point" in rules(document)  # the schedule is that of (1, 2, 2)
    both = made("ring:4", "all-gather", 1)
    slow = copy.deepcopy(both["points"][0])
    slow["point"][2], slow["schedule"]["rounds"] = 3, [1, 2]
    assert rules(changed(both, lambda d: d["points"].append(slow))) == {"frontier-dominated"}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda d: d.update(version=1), "version 1 cannot be read"),
        (lambda d: d.update(more=1), "unknown field 'more'; did you mean 'model'. known: topology, collective"),
        (lambda d: d.update(max_chunks=0), "max_chunks is 0; allowed: whole numbers from 1 to 4096"),
        (lambda d: d["points"][0].update(point=[0, 1, 1]), "is not a point"),
        (lambda d: d["refuted"][0].update(point=[1, 3, 2]), "fewer rounds than steps"),
        (lambda d: d.update(points=[1]), "points 1 is 1; expected a table of fields"),
        (lambda d: d.update(collective={"kind": "broadcast", "root": None}), "broadcast needs a root"),
        (lambda d: d.update(undecided=None), "undecided is None; expected a list"),
        (lambda d: d.update(step_bounds=d["step_bounds"] * 65), "65 step_bounds; at most 64 are checked"),
        (lambda d: d.update(step_bounds=[{}]), "step_bounds 1: steps, rounds_per_chunk, price are missing"),
    ],
)
def test_what_is_no_bundle(change, words: str) -> None:
    with pytest.raises(InputError, match=words):
        check_frontier(changed(dgx1(), change), "bundle")


def test_time_cuts_are_tight() -> None:
    """On a barbell the last chunk over the bridge still has a step to go: one round more than the plain cut says."""
    proof = entry(bells(), "refuted", (2, 6, 6))["proof"]
    assert proof["kind"] == "time-cut"
    weak = {"point": [2, 6, 7], "proof": proof}
    assert "proof-weak" in rules(changed(bells(), lambda d: d["refuted"].append(weak)))
    inside = {"point": [2, 6, 6], "proof": {**proof, "to": 0 if proof["to"] > 2 else 5}}
    assert "proof-foreign" in rules(changed(bells(), lambda d: d["refuted"].append(inside)))


def test_time_cuts_count_what_passes_reducing_switches() -> None:
    """(1, 1, 2) has a schedule on a star: both transfers go through the switch, though it could have held the chunk as well."""
    star = network([(0, 3), (1, 3), (2, 3)], switches=[3], reducing=[3])
    question = Question(star, parse_collective("all-gather"), 1, 1, 2)
    for inside in ([0, 1, 3], [0, 3], [0]):
        with pytest.raises(ProofError) as refused:
            check_refutation(question, {"kind": "time-cut", "set": inside, "to": 0})
        assert refused.value.rule == "proof-weak"
    check_refutation(question.at((1, 1, 1)), {"kind": "time-cut", "set": [0, 3], "to": 0})


def test_one_refutation_serves_points_that_are_harder() -> None:
    ring = Question(parse_topology("ring:4"), parse_collective("all-gather"), 3, 3, 4)
    assert [ring.implies(point) for point in ((3, 3, 4), (4, 3, 4), (3, 3, 3), (3, 2, 4))] == [True] * 4
    assert [ring.implies(point) for point in ((2, 3, 4), (3, 4, 4), (3, 3, 5))] == [False] * 3
    sums = Question(parse_topology("ring:4"), parse_collective("all-reduce"), 3, 3, 4)
    assert sums.implies((3, 2, 3))
    assert not sums.implies((3, 2, 4))  # its steps cannot be split
    switch = Question(parse_topology("switch:4"), parse_collective("all-gather"), 1, 2, 2)
    assert not switch.implies((1, 1, 2))
    far = Question(parse_topology("ring:4"), parse_collective("all-gather"), 1, 1, 4)
    assert far.enough_rounds == 4
    assert far.implies((2, 1, 100))  # more rounds would not have helped


@pytest.mark.parametrize(
    "asked",
    [
        Question(parse_topology("mesh:1x2"), parse_collective("broadcast", 0), 3000, 1, 1, 4000),
        Question(parse_topology("mesh:1x3"), parse_collective("all-to-all"), 1000, 2, 2, None, 900),
        Question(parse_topology("mesh:1x2"), parse_collective("all-reduce"), 2500, 1, 1, None, 1),
    ],
)
def test_limits_of_room_are_counted_before_a_formula_is_made(asked: Question) -> None:
    with pytest.raises(UnsupportedError, match="clauses; at most 4000000 are tried"):
        encode(asked)


@pytest.mark.parametrize(
    ("point", "proof"),
    [  # a formula of 100000 rounds, a time-cut of 16777216 steps
        ([1, 1, 100000], {"kind": "drat", "formula": "", "ordered": False, "sha256": sha256(b""), "lines": pack("")}),
        ([1, 1 << 24, 1 << 24], {"kind": "time-cut", "set": [0], "to": 0}),
    ],
)
def test_refutations_of_absurd_size_are_refused(point, proof) -> None:
    assert rules(changed(dgx1(), lambda d: d["refuted"].append({"point": point, "proof": proof}))) == {"proof-foreign"}


def test_a_frontier_of_too_many_candidates_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="4096 chunks and 8192 steps make more than 16384 candidates"):
        check_frontier(changed(dgx1(), lambda d: d.update(max_chunks=4096)), "bundle")
    search = FrontierSearch(parse_topology("ring:4"), parse_collective("all-gather"), 4096, 1, Monitor())
    search.run()
    with pytest.raises(UnsupportedError, match="too many for a frontier"):
        _ = search.result


def test_networks_of_too_many_paths_are_refused() -> None:
    """Paths through a nest of switches that leads nowhere."""
    nest = network([(0, 1), (0, 2), *combinations(range(2, 14), 2)], switches=range(2, 14))
    with pytest.raises(UnsupportedError, match="more than 1000000 paths through switches"):
        Question(nest, parse_collective("all-gather"), 1, 1, 1).arcs  # noqa: B018


def test_coverage_and_candidates() -> None:
    assert covers((1, 2, 2), (2, 2, 4))
    assert not covers((2, 2, 3), (1, 2, 2))  # fewer rounds per chunk, but of more chunks
    assert undominated([(1, 4, 4), (2, 4, 8), (4, 4, 15), (5, 4, 19)]) == [(1, 4, 4), (4, 4, 15)]
    ring = Question(parse_topology("ring:4"), parse_collective("all-gather"), 1, 1, 1)
    assert obligations(ring, [(1, 2, 2), (2, 2, 3)], 3) == [(1, 1, 4), (2, 2, 2), (3, 4, 4)]
    assert Fraction(dgx1()["bandwidth"]["value"]) * 8 == Fraction(7, 6)
