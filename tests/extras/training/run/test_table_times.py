"""Training on endpoints: by tables where all runs have them and none takes long, otherwise by messages, all runs by one of them."""

import re
from fractions import Fraction
from typing import Any

import pytest

import certree.api as ct
from certree.extras.endpoints.model.endpoint import load_endpoint
from certree.extras.endpoints.run.endpoint_program import Payload
from certree.extras.endpoints.run.endpoint_runs import made_schedule
from certree.extras.endpoints.run.tables.joint_machine import joint_tables, run_joint
from certree.extras.endpoints.run.tables.together import run_together
from certree.extras.training.model.workload import Communication, Layer, Loop, Part, Workload
from certree.extras.training.run import table_times
from certree.extras.training.run.reports import training_document, training_words
from certree.extras.training.run.runs import TrainingRun
from certree.extras.training.run.table_times import Single, TableTimes
from certree.models.schedule.collective import CollectiveKind
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


def test_collectives_that_meet_are_in_one_run_of_tables() -> None:
    """The second is asked for after a time of computing, while the first is under way."""
    run = trained(1 << 16, 1 << 16)
    assert (run.program, run.no_tables) == ("tables", None)
    first, second = run.training.collectives
    assert first.asked < second.asked < first.ended
    start = int((second.asked - first.asked) * 10**9)
    payloads = [Payload(1 << 16), Payload(1 << 16, start)]
    (both,) = ct.endpoints(NETWORK, payloads=payloads, systems=["ace"], program="tables").results
    assert [(one.ended - first.asked) * 10**9 for one in (first, second)] == list(both.ends)
    assert trained(1 << 16, 1 << 16, program="messages").program == "messages"


def test_collectives_of_two_kinds_in_one_run_are_refused() -> None:
    times = TableTimes(load_endpoint("ace"), load_endpoint("ace").system("ace"), True)
    kinds = CollectiveKind.ALL_REDUCE, CollectiveKind.ALL_TO_ALL
    asked = [(Fraction(0), Single(ct.topology(NETWORK), kind, 1 << 16, None)) for kind in kinds]
    with pytest.raises(ct.UnsupportedError, match="all-to-all is asked for next to all-reduce; collectives in one run"):
        times.ends(asked, together=True)


def apart(cycles: int, *systems: str, **more: Any) -> dict[str, int]:
    """Cycles of two all-reduces of 1 MiB with so much computing between them, by system."""
    asked = Communication(CollectiveKind.ALL_REDUCE, 1 << 20)
    layers = (Layer("a", Part(), Part(), Part(cycles, asked)), Layer("b", Part(), Part(), Part(100, asked)))
    workload, (first, *others) = Workload("two", Loop.DATA, Fraction(10**9), layers), systems
    what_if = [*(f"system={name}" for name in others), *more.pop("what_if", ())]
    run = ct.train(workload, NETWORK, timing="endpoints", iterations=1, program="tables", without_routers=True, system=first,
                   what_if=what_if, **more)  # fmt: skip
    return {first: int(run.seconds * 10**9)} | {
        one.change.removeprefix("system="): int(one.seconds * 10**9) for one in run.alternatives if one.seconds is not None
    }


def test_collectives_that_come_later_meet_less() -> None:
    """Collectives of `ace` meet up to some 8,000 cycles. `ideal` is not slower, whether they do or not."""
    found = {cycles: apart(cycles, "ace", "ideal") for cycles in (6000, 9000, 10000)}
    for cycles, each in found.items():
        assert each["ideal"] <= each["ace"], cycles
    assert found[6000]["ace"] < found[9000]["ace"] < found[10000]["ace"] <= found[9000]["ace"] + 1000


def test_one_collective_takes_as_long_alone_as_in_a_run_of_several() -> None:
    """A collective without overlap runs alone, unless the run that it is compared with has several."""
    alone, several = apart(9000, "ace", overlap=False)["ace"], apart(9000, "ace", what_if=["overlap=none"])["overlap=none"]
    payload = Payload(2 << 20)
    machine = load_endpoint("ace"), load_endpoint("ace").system("ace")
    schedule = made_schedule(ct.topology(NETWORK), ct.collective("all-reduce"), None, {}, payload.size).schedule
    assert several == 9100 + run_together(schedule, *machine, [payload], without_routers=True).ends[0]
    assert alone == 9100 + run_joint(joint_tables(schedule, machine[0], payload.size), *machine, without_routers=True).cycles
    assert alone == several


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
    """All collectives count together; tables that are asked for run."""
    hops = []

    def short(total: int, *, without_routers: bool) -> None:
        assert without_routers == (len(hops) == 3)
        hops.append(total)

    monkeypatch.setattr(table_times, "too_long", short)
    three = trained(1 << 12, 1 << 13, 1 << 12, program="auto")
    alone = [trained(size) for size in (1 << 12, 1 << 13)]
    assert hops[0] == 2 * hops[1] + hops[2]
    assert three.program == "tables"
    assert {run.program for run in alone} == {"tables"}
    assert trained(1 << 12, program="auto", without_routers=True).program == "tables"
    monkeypatch.setattr(table_times, "too_long", lambda total, *, without_routers: f"{total} are too many")
    told = trained(1 << 12)
    assert (told.program, told.no_routers) == ("messages", None)
    assert re.fullmatch(r"1 different collective: \d+ are too many", str(told.no_tables))
    monkeypatch.setattr(
        table_times, "too_long", lambda total, *, without_routers: None if without_routers else f"{total} are too many"
    )
    told, lanes = trained(1 << 20), trained(1 << 20, without_routers=True)
    assert (told.program, told.no_tables, lanes.no_routers) == ("tables", None, None)
    assert "are too many" in str(told.no_routers)
    assert told.seconds == lanes.seconds
    monkeypatch.setattr(table_times, "too_long", lambda total, *, without_routers: f"{total} are too many")
    assert trained(1 << 12, program="tables").program == "tables"
    assert trained(1 << 12, what_if=["communication=free"], program="messages").alternatives[0].seconds is not None


def test_lanes_alone() -> None:
    found = trained(1 << 20, without_routers=True, program="tables"), trained(1 << 20, program="tables")
    assert found[0].training.busy("all") < found[1].training.busy("all")


def test_a_change_to_endpoints_says_what_ran() -> None:
    """The run itself has no endpoints, so the reason for lanes is that of the change."""
    found = ct.train("astra-resnet50", "ace-torus:2x2x2", iterations=1, method="ring", what_if=["system=ace"])
    (changed,) = found.alternatives
    assert (found.program, found.no_routers, changed.program, changed.no_tables) == (None, None, "tables", None)
    assert re.match(r"54 collectives: [\d,]+ flits on links take long through routers", str(changed.no_routers))
    words = training_words(training_document(found)).splitlines()
    assert [line for line in words if "on lanes" in line] == [words[-1]]
    assert "system=ace: " in words[-1]
