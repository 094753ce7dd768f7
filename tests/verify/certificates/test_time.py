"""Time bounds in certificates: made for what a schedule was made for, and refused after any change."""

import copy
from dataclasses import replace
from typing import Any

import pytest

from certree.api.evidence import add_certificate, found_time_bounds
from certree.models.machine.machine import load_machine
from certree.models.schedule.made_for import MadeFor
from certree.models.schedule.schedule import Schedule
from certree.verify.bounds.instance import Instance
from certree.verify.bounds.witness import WitnessError
from certree.verify.certificates.certificate import make_certificate
from certree.verify.checker import verify_schedule
from tests.synth.execution import make

MULTITREE = load_machine("multitree")
MALFORMED, WRONG, VALUE, CLAIM = "witness-malformed", "witness-wrong", "witness-value", "certificate-claim"


@pytest.fixture(scope="module")
def schedule() -> Schedule:
    certified, _ = add_certificate(replace(make("multitree", "ring:5"), made_for=MadeFor(1024, MULTITREE)))
    assert isinstance(certified, Schedule)
    return certified


def test_stated_and_read(schedule: Schedule) -> None:
    """2 hops of 153 cycles, 5, a header, all 64 granules on the short path, 17 for the addition."""
    assert schedule.certificate is not None
    time = schedule.certificate["time"]
    assert (time["message_bytes"], time["bound_cycles"], time["bounds"][0]["kind"]) == (1024, 306 + 5 + 1 + 64 + 17, "flow")
    quality = verify_schedule(schedule).quality
    assert quality is not None
    assert quality.time == (MadeFor(1024, MULTITREE), 393, None)


def test_without_a_message_size() -> None:
    certified, _ = add_certificate(replace(make("multitree", "ring:5"), made_for=None))
    assert certified.certificate is not None
    assert "time" not in certified.certificate


@pytest.mark.parametrize(
    ("rule", "place", "value"),
    [
        (CLAIM, "bound_cycles", 392), (CLAIM, "bound_cycles", 394), (CLAIM, "bound_cycles", "393"), (CLAIM, "bound_cycles", None),
        (VALUE, "bounds 0 value", "394"), (WRONG, "machine head_flits", 0), (WRONG, "machine link_latency_cycles", 149),
        (VALUE, "machine reduce_quantum_cycles", 17), (WRONG, "message_bytes", 992), (WRONG, "machine flit_bytes", 64),
        (WRONG, "bounds 0 witness label 2", 400), (MALFORMED, "bounds", []), (MALFORMED, "bounds 0 quantity", "latency"),
        (MALFORMED, "message_bytes", 0), (MALFORMED, "message_bytes", "1024"), (MALFORMED, "machine", {}),
        (MALFORMED, "machine", "multitree"), (MALFORMED, "machine head_flits", -1), (MALFORMED, "more", 1),
    ],
)  # fmt: skip
def test_refused(schedule: Schedule, rule: str, place: str, value: Any) -> None:
    document = copy.deepcopy(dict(schedule.certificate or {}))
    *path, last = place.split()
    entry: Any = document["time"]
    for name in path:
        entry = entry[int(name) if name.isdecimal() else name]
    entry[int(last) if last.isdecimal() else last] = value
    verdict = verify_schedule(schedule.with_certificate(document))
    assert [violation.rule for violation in verdict.violations] == [rule]
    assert verdict.violations[0].message.startswith("certificate: time: ")


@pytest.mark.parametrize("time", [None, [], 1, {}])
def test_not_a_document(schedule: Schedule, time: Any) -> None:
    verdict = verify_schedule(schedule.with_certificate({**(schedule.certificate or {}), "time": time}))
    assert [violation.rule for violation in verdict.violations] == [MALFORMED]


def test_a_bound_that_is_not_proved_makes_no_certificate(schedule: Schedule) -> None:
    (bound, *_) = found_time_bounds(Instance.of(schedule), [], 2048, MULTITREE)
    with pytest.raises(WitnessError):
        make_certificate(schedule, [], None, [bound])
