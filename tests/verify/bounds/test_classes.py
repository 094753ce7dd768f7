"""Classes of bounds: what each kind assumes, what a document may state, and what files of earlier versions do not state."""

from dataclasses import replace
from typing import Any

import pytest

from certree.api.evidence import add_certificate
from certree.models.machine.machine import load_machine
from certree.models.network.spec import parse_topology
from certree.models.schedule.collective import parse_collective
from certree.models.schedule.made_for import MadeFor
from certree.verify.bounds.classes import TERMS, class_of, name_of, restrictions
from certree.verify.bounds.instance import Instance
from certree.verify.bounds.timed import TimeInstance, check_time_bound, load_time_witnesses, make_time_bound
from certree.verify.bounds.witness import WitnessError, check_bound, load_witnesses, make_bound
from certree.verify.checker import verify_schedule
from tests.synth.execution import make
from tests.verify.class_page import PAGE, page

MULTITREE = load_machine("multitree")
STEPS = {"from": 0, "to": 2, "hops": 2, "label": [0, 1, 2, 1]}
ONE_STEP = {"from": 0, "to": 1, "hops": 1, "label": [0, 1, 1, 1]}
UNEQUAL = {"shares": (1, 0, 0, 0)}


@pytest.mark.parametrize(
    ("network", "collective", "fields", "kind", "witness", "expected"),
    [
        ("ring:4", "all-reduce", {}, "partition", {"part": [0, 1, 2, 3]}, "any shares, no coding"),
        ("ring:4", "all-reduce", {}, "direction", {"set": [0]}, "any shares"),
        ("ring:4", "all-reduce", {}, "counting", {}, "any shares, no coding"),
        ("switch:4", "all-reduce", {}, "counting", {}, "any shares, no coding, switches only forward"),
        ("switch:4", "all-gather", {}, "counting", {}, "any shares"),
        ("ring:4", "all-gather", {}, "cut", {"set": [0]}, "equal shares"),
        ("ring:4", "all-gather", UNEQUAL, "cut", {"set": [1]}, "stated shares"),
        ("ring:4", "all-to-all", {}, "cut", {"set": [0]}, "any shares"),
        ("ring:4", "reduce-scatter", {}, "degree", {"node": 0}, "equal shares"),
        ("ring:4", "reduce-scatter", {}, "subpartition", {"sets": [[0], [1]]}, "any shares"),
        ("ring:4", "all-gather", {}, "metric", {"length": [1] * 8}, "any shares, no coding"),
        ("switch:4", "all-gather", {}, "metric", {"length": [1] * 8}, "any shares, no coding, switches only forward"),
        ("switch:4", "all-to-all", {}, "metric", {"length": [1] * 8}, "any shares, no coding"),
        ("switch:4,reducing=switches", "all-gather", {}, "metric", {"length": [1] * 8}, "any shares, no coding"),
        ("ring:4", "all-reduce", {"delay": 3}, "distance", STEPS,
            "any shares, delay 3, no routes through endpoints, whole steps"),
        ("ring:4", "all-gather", {}, "distance", STEPS, "equal shares, delay 1, no routes through endpoints, whole steps"),
        ("ring:4", "all-gather", {"delay": 3}, "distance", ONE_STEP, "any shares, whole steps"),
    ],
)  # fmt: skip
def test_class_of_each_kind(
    network: str, collective: str, fields: dict[str, Any], kind: str, witness: dict[str, Any], expected: str
) -> None:
    of = Instance(parse_topology(network), parse_collective(collective), **fields)
    assert make_bound(of, kind, witness)["class"] == expected.split(", ")


def test_time_bounds_of_each_kind() -> None:
    def classes(network: str, collective: str, kind: str, witness: dict[str, Any]) -> list[str]:
        of = TimeInstance(Instance(parse_topology(network), parse_collective(collective)), 64, MULTITREE)
        return list(make_time_bound(of, kind, witness)["class"])

    pair = {"from": [0], "to": [1], "label": [5, 5 + 153 + 1]}
    cut = make_bound(Instance(parse_topology("ring:2"), parse_collective("all-gather")), "cut", {"set": [0]})
    assert classes("ring:2", "all-gather", "flow", pair) == ["equal shares", "machine"]
    assert classes("ring:2", "all-reduce", "flow", pair) == ["any shares", "no coding", "machine"]
    assert classes("ring:2", "all-to-all", "flow", pair) == ["any shares", "machine"]
    assert classes("ring:2", "all-gather", "load", {"bound": cut}) == ["equal shares", "machine"]
    assert classes("ring:2", "all-gather", "radius", {}) == ["any shares", "machine"]
    assert classes("ring:2", "reduce-scatter", "radius", {}) == ["any shares", "no coding", "machine"]
    assert classes("switch:3", "reduce-scatter", "receptions", {"to": 0, "from": [1]}) == [
        "equal shares", "no coding", "switches only forward", "machine"]  # fmt: skip
    assert classes("switch:3", "all-reduce", "additions", {}) == ["any shares", "no coding", "switches only forward", "machine"]


def test_every_kind_has_a_class_of_known_terms() -> None:
    of = Instance(parse_topology("ring:4"), parse_collective("all-reduce"))
    cut = {"kind": "direction", "witness": {"set": [0]}}
    for kind in (*load_witnesses(), *load_time_witnesses()):
        found = class_of(of, kind, STEPS | {"bound": cut})
        assert {name_of(term) for term in found} <= set(TERMS)


@pytest.mark.parametrize(
    "stated", [["any shares"], ["equal shares", "no coding"], [], "equal shares", None, [1], ["equal shares"] * 2]
)
def test_another_class_is_refused(stated: Any) -> None:
    of = Instance(parse_topology("ring:4"), parse_collective("all-gather"))
    bound = make_bound(of, "cut", {"set": [0]})
    assert check_bound(of, bound) > 0
    with pytest.raises(WitnessError) as error:
        check_bound(of, bound | {"class": stated})
    assert error.value.rule == "witness-class"
    timed = TimeInstance(of, 1024, MULTITREE)
    radius = make_time_bound(timed, "radius", {})
    with pytest.raises(WitnessError) as error:
        check_time_bound(timed, radius | {"class": stated if stated != ["any shares"] else ["equal shares"]})
    assert error.value.rule == "witness-class"


def test_radius_is_for_free_shares_only() -> None:
    of = TimeInstance(Instance(parse_topology("ring:4"), parse_collective("all-reduce")), 1024, MULTITREE)
    with pytest.raises(WitnessError, match="a radius witness bounds an all-gather or reduce-scatter, not a all-reduce") as error:
        make_time_bound(of, "radius", {})
    assert error.value.rule == "witness-foreign"


def test_radius_of_a_path() -> None:
    """Node 1 of a path of 3 is one hop from both ends: 158 cycles, a header, a granule, whatever node roots the message."""
    of = TimeInstance(Instance(parse_topology("mesh:1x3"), parse_collective("all-gather")), 1024, MULTITREE)
    assert make_time_bound(of, "radius", {})["value"] == str(158 + 1 + 1)


def test_files_of_earlier_versions_are_valid() -> None:
    certified, _ = add_certificate(replace(make("multitree", "mesh:3x3", "all-gather"), made_for=MadeFor(1 << 20, MULTITREE)))
    document = dict(certified.certificate or {})
    for part in (document, document["time"]):
        assert all("class" in bound for bound in part["bounds"])
    older = {
        **document,
        "bounds": [{key: bound[key] for key in bound if key != "class"} for bound in document["bounds"]],
        "claim": {key: value for key, value in document["claim"].items() if key != "bandwidth_bound_any_shares"},
    }
    time = {key: value for key, value in document["time"].items() if key != "bound_cycles_any_shares"}
    older["time"] = time | {"bounds": [{key: bound[key] for key in bound if key != "class"} for bound in time["bounds"]]}
    verdict = verify_schedule(certified.with_certificate(older))
    assert verdict.valid, verdict.violations
    assert certified.with_certificate(older).digest == certified.digest


def test_claims_for_any_shares_are_checked() -> None:
    certified, _ = add_certificate(replace(make("multitree", "mesh:3x3", "all-gather"), made_for=MadeFor(1 << 20, MULTITREE)))
    document = dict(certified.certificate or {})
    claim = document["claim"] | {"bandwidth_bound_any_shares": document["claim"]["bandwidth_bound"]}
    assert claim != document["claim"]
    assert set(verify_schedule(certified.with_certificate({**document, "claim": claim})).counts) == {"certificate-claim"}
    time = document["time"] | {"bound_cycles_any_shares": document["time"]["bound_cycles"]}
    assert time != document["time"]
    assert set(verify_schedule(certified.with_certificate({**document, "time": time})).counts) == {"certificate-claim"}


def test_restrictions() -> None:
    assert restrictions(["any shares", "no coding", "switches only forward", "machine"]) == []
    assert restrictions(["equal shares", "delay 2", "machine"]) == ["equal shares", "delay 2"]


def test_the_page_of_the_classes_is_the_generated_one() -> None:
    assert PAGE.read_text() == page(), "`python -m tests.verify.class_page` writes it anew"
