"""Certificates: made, accepted, and refused after any change."""

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest

from certree.models.schedule.schedule import Schedule
from certree.verify.bounds.instance import Instance
from certree.verify.bounds.witness import WitnessError, make_bound
from certree.verify.certificates.certificate import make_certificate
from certree.verify.checker import verify_schedule
from tests.synth.execution import make
from tests.verify.build import chain_all_reduce, path_all_reduce

Document = dict[str, Any]


def multitree(topology: str, collective: str = "all-reduce") -> Schedule:
    return make("multitree", topology, collective)


def certified(schedule: Schedule, *bounds: Document) -> Schedule:
    return schedule.with_certificate(make_certificate(schedule, bounds))


def singletons(schedule: Schedule) -> Document:
    return make_bound(Instance.of(schedule), "partition", {"part": list(range(len(schedule.topology.kind)))})


def rules(schedule: Schedule, document: Any) -> set[str]:
    verdict = verify_schedule(schedule.with_certificate(document))
    assert verdict.valid == (not verdict.violations)
    assert all("\n" not in violation.message and len(violation.message) < 300 for violation in verdict.violations)
    return {violation.rule for violation in verdict.violations}


@pytest.mark.parametrize("collective", ["all-reduce", "all-gather", "reduce-scatter"])
@pytest.mark.parametrize(
    "topology",
    ["ring:5", "mesh:3x4", "torus:4x4", "hypercube:3", "full:4", "torus:4x4,without-link=0-1", "mesh:3x3,without-node=4",
     "torus:3x3x2", "mesh:3x3,capacity=2", "torus:4x4,without-node=5,without-link=1-2,without-link=9-10"],
)  # fmt: skip
def test_what_is_certified_is_valid_on_every_topology(topology: str, collective: str) -> None:
    schedule = certified(multitree(topology, collective))
    verdict = verify_schedule(schedule)
    assert verdict.valid
    assert verify_schedule(schedule.with_certificate(json.loads(json.dumps(schedule.certificate)))) == verdict
    bare = verify_schedule(schedule.with_certificate(None))
    assert bare.valid
    assert bare.quality == verdict.quality


def test_better_bounds_are_kept_and_reported() -> None:
    schedule = multitree("mesh:4x4")
    verdict = verify_schedule(certified(schedule, singletons(schedule)))
    assert verdict.quality is not None
    assert verdict.quality.witnesses[0]["kind"] == "partition"
    assert "bandwidth" not in verdict.quality.optimal_in


def test_optimal_is_claimed_where_time_meets_bound() -> None:
    schedule = path_all_reduce(period=1)  # one chunk a round on links that must carry each chunk once
    certificate = make_certificate(schedule, [])
    assert certificate["claim"]["optimal_in"] == ["bandwidth", "latency"]
    assert make_certificate(chain_all_reduce(2), [])["claim"]["optimal_in"] == []
    assert make_certificate(path_all_reduce(), [])["claim"]["optimal_in"] == ["latency"]


def test_false_bounds_make_no_certificate() -> None:
    schedule = multitree("mesh:4x4")
    with pytest.raises(WitnessError):
        make_certificate(schedule, [{**singletons(schedule), "value": "1"}])


def put(*path: Any) -> Callable[[Document], None]:
    """Set what lies under the keys to the last argument."""
    *keys, last, value = path

    def change(document: Document) -> None:
        for key in keys:
            document = document[key]
        document[last] = value

    return change


TAMPERINGS: dict[str, tuple[Callable[[Document], Any], str]] = {
    "another format": (put("format", "certree-schedule"), "certificate"),
    "another version": (put("version", 2), "certificate"),
    "version as a truth value": (put("version", True), "certificate"),
    "a field too many": (put("note", "trust me"), "certificate"),
    "a field too few": (lambda d: d.pop("bounds"), "certificate"),
    "bounds that are not a list": (put("bounds", {}), "certificate"),
    "claim that is not an object": (put("claim", []), "certificate"),
    "claim with a field too many": (put("claim", "fastest", True), "certificate"),
    "claim with a field too few": (lambda d: d["claim"].pop("optimal_in"), "certificate"),
    "digest that is not a text": (put("schedule", 7), "certificate"),
    "another topology": (put("topology", "0" * 64), "certificate-topology"),
    "another schedule": (put("schedule", "0" * 64), "certificate-schedule"),
    "bandwidth time too good": (put("claim", "bandwidth_time", "1/2"), "certificate-claim"),
    "bandwidth time too modest": (put("claim", "bandwidth_time", "9"), "certificate-claim"),
    "bandwidth time as a float": (put("claim", "bandwidth_time", 1.0), "certificate-claim"),
    "bandwidth bound too good": (put("claim", "bandwidth_bound", "1"), "certificate-claim"),
    "bandwidth bound too modest": (put("claim", "bandwidth_bound", "1/16"), "certificate-claim"),
    "latency steps too few": (put("claim", "latency_steps", 6), "certificate-claim"),
    "latency steps too many": (put("claim", "latency_steps", 99), "certificate-claim"),
    "latency steps as text": (put("claim", "latency_steps", "16"), "certificate-claim"),
    "latency bound too high": (put("claim", "latency_bound", 16), "certificate-claim"),
    "latency bound too modest": (put("claim", "latency_bound", 1), "certificate-claim"),
    "optimal where it is not": (put("claim", "optimal_in", ["bandwidth"]), "certificate-claim"),
    "optimal in all": (put("claim", "optimal_in", ["bandwidth", "latency"]), "certificate-claim"),
    "bound with a better value": (put("bounds", 0, "value", "1"), "witness-value"),
    "bound with a modest value": (put("bounds", 0, "value", "1/2"), "witness-value"),
    "bound with a changed witness": (put("bounds", 0, "witness", "part", 0, 1), "witness-value"),
    "bound for the other quantity": (put("bounds", 0, "quantity", "latency"), "witness-wrong"),
    "bound of an unknown kind": (put("bounds", 0, "kind", "oracle"), "witness-malformed"),
    "bound that is not an object": (put("bounds", 0, None), "witness-malformed"),
    "bound of another collective": (
        put("bounds", 0, {"kind": "cut", "quantity": "bandwidth", "value": "1/2", "witness": {"set": [0]}}),
        "witness-foreign",
    ),
    "the better bound dropped": (lambda d: d["bounds"].clear(), "nothing"),
}


@pytest.mark.parametrize("name", TAMPERINGS)
def test_any_change_is_refused(name: str) -> None:
    tamper, rule = TAMPERINGS[name]
    schedule = multitree("mesh:4x4")
    document = copy.deepcopy(make_certificate(schedule, [singletons(schedule)]))
    assert rules(schedule, document) == set()
    tamper(document)
    if rule == "nothing":  # the checker's own count of messages shows the same bound
        assert rules(schedule, document) == set()
    else:
        assert rule in rules(schedule, document)


@pytest.mark.parametrize("document", [[], "certificate", 7, {}])
def test_what_is_no_certificate_is_refused(document: Any) -> None:
    assert rules(path_all_reduce(), document) == {"certificate"}


def test_the_certificate_of_another_schedule_or_topology_is_refused() -> None:
    mesh, torus = multitree("mesh:4x4"), multitree("torus:4x4")
    foreign = make_certificate(torus, [singletons(torus)])
    assert {"certificate-topology", "certificate-schedule", "witness-value", "certificate-claim"} <= rules(mesh, foreign)
    slower = path_all_reduce(delay=1, period=3)
    assert "certificate-schedule" in rules(slower, make_certificate(path_all_reduce(), []))


def test_a_right_certificate_does_not_save_a_wrong_schedule() -> None:
    wrong = path_all_reduce([])
    verdict = verify_schedule(certified(wrong))
    assert {violation.rule for violation in verdict.violations} == {"missing"}
    assert verdict.quality is None
