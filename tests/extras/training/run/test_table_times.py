"""Training on endpoints: by tables where one collective at a time is under way, otherwise by messages, all runs by one of them."""

from fractions import Fraction
from typing import Any

import pytest

import certree.api as ct
from certree.extras.training.run import table_times
from certree.extras.training.run.reports import training_document, training_words
from certree.extras.training.run.runs import TrainingRun
from tests.extras.training.command.test_train import small

NETWORK = "ace-torus:2x2x1"


def cycles(program: str, size: int = 1 << 16, system: str = "ace") -> Fraction:
    (done,) = ct.endpoints(NETWORK, payloads=[size], systems=[system], program=program).results
    return Fraction(done.cycles, 10**9)


def trained(*sizes: int, **more: Any) -> TrainingRun:
    return ct.train(small(*sizes), NETWORK, timing="endpoints", iterations=1, **more)


@pytest.mark.parametrize("system", ["ace", "baseline", "ideal"])
def test_one_collective_takes_what_its_tables_take(system: str) -> None:
    run = trained(1 << 16, system=system)
    assert (run.program, run.no_tables) == ("tables", None)
    assert run.training.busy("all") == cycles("tables", system=system)
    by_name = {program: trained(1 << 16, system=system, program=program) for program in ("tables", "messages")}
    assert by_name["tables"].seconds == run.seconds
    assert by_name["messages"].training.busy("all") == cycles("messages", system=system)
    assert (by_name["messages"].program, by_name["messages"].no_tables) == ("messages", None)


def test_collectives_that_meet_are_messages() -> None:
    run = trained(1 << 16, 1 << 16)
    assert (run.program, run.seconds) == ("messages", trained(1 << 16, 1 << 16, program="messages").seconds)
    assert "65,536 bytes is asked for while another collective is under way" in str(run.no_tables)
    with pytest.raises(ct.UnsupportedError, match="no run of tables: all-reduce of 65,536 bytes is asked for while"):
        trained(1 << 16, 1 << 16, program="tables")


def test_a_run_and_its_changes_have_one_program() -> None:
    """Where one of them has no tables none runs by tables; alone the run would."""
    run = trained(1 << 16, what_if=["system=each", "bandwidth=1/20"])
    assert run.program == "messages"
    assert "is more than 3 % off" in str(run.no_tables)
    assert run.training.busy("all") == cycles("messages")
    one = trained(1 << 16, what_if=["system=each"])
    assert one.program == "tables"
    times = {found.change: found.seconds for found in one.alternatives}
    assert times["system=ideal"] <= one.seconds < times["system=baseline"]
    stated = trained(1 << 16, what_if=["bandwidth=1/20"], program="tables")
    assert [(found.seconds, "no run of tables" in str(found.reason)) for found in stated.alternatives] == [(None, True)]


def test_runs_that_take_long_are_messages(monkeypatch: pytest.MonkeyPatch) -> None:
    """All different collectives count together, each once; tables that are asked for run."""
    hops = []
    monkeypatch.setattr(table_times, "too_long", hops.append)
    three = trained(1 << 12, 1 << 13, 1 << 12, program="auto")
    alone = [trained(size) for size in (1 << 12, 1 << 13)]
    assert hops[0] == hops[1] + hops[2]
    assert three.program == "messages"
    assert {run.program for run in alone} == {"tables"}
    monkeypatch.setattr(table_times, "too_long", lambda total: f"{total} are too many")
    told = trained(1 << 12)
    assert (told.program, told.no_tables) == ("messages", f"1 different collective: {hops[1]} are too many")
    assert trained(1 << 12, program="tables").program == "tables"
    assert trained(1 << 12, what_if=["communication=free"], program="messages").alternatives[0].seconds is not None


def test_lanes_alone() -> None:
    found = trained(1 << 20, without_routers=True, program="tables"), trained(1 << 20, program="tables")
    assert found[0].training.busy("all") < found[1].training.busy("all")


def test_a_change_to_endpoints_says_what_ran() -> None:
    """The run itself has no endpoints, so the reason for messages is that of the change."""
    found = ct.train("astra-resnet50", "ace-torus:2x2x1", iterations=1, method="ring", what_if=["system=ace"])
    (changed,) = found.alternatives
    assert (found.program, found.no_tables, changed.program) == (None, None, "messages")
    assert "while another collective is under way" in str(changed.no_tables)
    words = training_words(training_document(found)).splitlines()
    assert [line for line in words if "not tables" in line] == [words[-1]]
    assert "system=ace: " in words[-1]
