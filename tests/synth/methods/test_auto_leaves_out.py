"""Method auto leaves out what the checker rejects, says so, and picks the next best."""

import json
from dataclasses import replace

import numpy as np
import pytest

import certree.api as ct
from certree.api.api_errors import DisagreementError
from certree.models.common.errors import RejectedError, UnsupportedError
from certree.models.schedule.collective import CollectiveKind
from certree.models.schedule.schedule import Schedule
from certree.synth.method import METHODS, Method, Options, Request, Tier, load_methods
from certree.synth.methods import auto
from certree.verify.checker import verify_schedule
from tests.cli.running import certree
from tests.synth.execution import ask

SIZE = 1 << 8


def _in_one_step(request: Request, _options: Options) -> Schedule:
    """All transfers of `direct` in one step: faster than anything valid."""
    made = load_methods()["direct"](request)
    assert isinstance(made, Schedule)
    wrong = replace(made, step=np.zeros_like(made.step), rounds=np.ones(1, np.int32), certificate=None)
    return request.offer(wrong)


@pytest.fixture
def wrong(monkeypatch: pytest.MonkeyPatch) -> Method:
    """A registered method that makes invalid schedules, which `auto` tries first."""
    method = Method("in-one-step", _in_one_step, [CollectiveKind.ALL_REDUCE], tier=Tier.ALWAYS, order=1)
    load_methods()
    monkeypatch.setitem(METHODS._entries, "in-one-step", method)
    return method


def test_the_next_best_is_picked(wrong: Method) -> None:
    request = ask("switch:3", message_bytes=SIZE)
    valid = load_methods()["auto"](ask("switch:3", message_bytes=SIZE))
    assert request.cycles(wrong(request)) < request.cycles(valid)
    assert verify_schedule(valid).valid
    told = valid.provenance["auto"]
    assert told["left_out"] == {"in-one-step": told["considered"]["in-one-step"]}
    assert told["left_out"]["in-one-step"].startswith("invalid: capacity: step 0: ")
    assert "in-one-step" not in told["why"]


@pytest.mark.usefixtures("wrong")
def test_a_comparison_goes_on() -> None:
    """An invalid schedule is a row with the reason; the rows of other methods and sizes follow."""
    asked = ("compare", "switch:3", "--size", "256,1KiB", "--methods", "in-one-step,direct", "--simulate", "none")
    told = certree(*asked)
    assert told.code == 0
    assert [line.split()[2:4] for line in told.out.splitlines()[2:]][::2] == [["in-one-step", "invalid"]] * 2
    assert "in-one-step: invalid: " in told.err
    cells = certree(*asked, "--json").document["cells"]
    assert [(cell["valid"], cell.get("time_cycles") is None) for cell in cells] == [(False, True), (True, False)] * 2
    assert "capacity" in cells[0]["refuted"]


@pytest.mark.usefixtures("wrong")
def test_it_does_not_count_for_methods_that_compare() -> None:
    """They leave out what cannot be faster than the best, which an invalid schedule is not."""
    request = ask("switch:3", message_bytes=SIZE)
    made = load_methods()["auto"](request)
    assert request.monitor.best_cycles == request.cycles(made)
    assert verify_schedule(request.monitor.best).valid


def test_nothing_else_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nothing is left out the provenance has no such note, and the schedule is the same as with a wrong candidate."""
    plain = load_methods()["auto"](ask("switch:3", message_bytes=SIZE))
    assert "left_out" not in plain.provenance["auto"]
    method = Method("in-one-step", _in_one_step, [CollectiveKind.ALL_REDUCE], tier=Tier.ALWAYS, order=1)
    monkeypatch.setitem(METHODS._entries, "in-one-step", method)
    assert load_methods()["auto"](ask("switch:3", message_bytes=SIZE)).digest == plain.digest


@pytest.mark.usefixtures("wrong")
def test_the_output_says_so() -> None:
    asked = ("synthesize", "switch:3", "--size", "256")
    outcome = certree(*asked)
    assert outcome.code == 0
    assert "\n  left out: in-one-step: invalid: capacity: step 0: " in outcome.out
    document = json.loads(certree(*asked, "--json").out)
    assert document["valid"]
    assert list(document["left_out"]) == ["in-one-step"]


@pytest.mark.usefixtures("wrong")
def test_a_named_method_that_is_wrong_is_a_fault_of_the_program() -> None:
    outcome = certree("synthesize", "switch:3", "--size", "256", "--method", "in-one-step")
    assert outcome.code == 70
    assert outcome.err.startswith("error: the schedule that was made is invalid: capacity: ")
    with pytest.raises(DisagreementError):
        ct.synthesize("switch:3", method="in-one-step", size=SIZE)


@pytest.mark.usefixtures("wrong")
def test_so_do_searches_with_several_seeds() -> None:
    alone = ct.synthesize("switch:3", size=SIZE)
    spread = ct.synthesize("switch:3", size=SIZE, seeds=2)
    assert spread.digest == alone.digest
    assert spread.provenance["auto"] == alone.provenance["auto"]
    assert "in-one-step" in spread.provenance["auto"]["left_out"]


@pytest.mark.usefixtures("wrong")
def test_no_other_candidate(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fault of the program, and not a request that no method covers."""
    monkeypatch.setattr(auto, "candidates", lambda _: iter([("in-one-step", "in-one-step", {})]))
    with pytest.raises(RejectedError, match=r"^no valid schedule: in-one-step: invalid: capacity: "):
        load_methods()["auto"](ask("switch:3", message_bytes=SIZE))
    assert RejectedError("").exit_code == 70
    assert not issubclass(RejectedError, UnsupportedError)
