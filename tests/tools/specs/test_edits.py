"""Single edits of the modules: what they are, what finds them, and the survivors that `specs/edits.toml` explains."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from certree.extras.tla.check.model_file import listed
from certree.extras.tla.check.tlc import Result, TlcError
from tests.cli.running import assert_bad_input, certree
from tools.specs import survey as edits
from tools.specs import together
from tools.specs.__main__ import specs
from tools.specs.definitions import module_of, reached_from
from tools.specs.mutants import source_of
from tools.specs.single_edits import Edit, edits_of
from tools.specs.survey import EDITED, Outcome, counted, known_survivors, models_for
from tools.specs.together import (
    ASSUMPTION,
    NO_VALUE,
    asked_of,
    is_readable,
    kill_alone,
    kills_of_runs,
    kills_together,
    with_meaning,
)

TEXT = """---- MODULE M ----
EXTENDS Integers
CONSTANTS MinTicks, MaxTicks
VARIABLES x, y
Limit == MaxTicks
Init ==
  /\\ x = 0
  /\\ y = 0
Step(k) ==
  /\\ x + k < Limit
  /\\ ~(y > 3 /\\ k = 1)
  /\\ x' = x + k
  /\\ UNCHANGED y
Next == \\E k \\in 1..2 : Step(k)
Spec == Init /\\ [][Next]_<<x, y>>
Unused == x = 1
====
"""
MODULE = module_of("M", TEXT)


def changed(name):
    return {(edit.kind, edit.after) for edit in edits_of(MODULE, [name], most=1000)}


def test_definitions_that_steps_use():
    assert reached_from({"M": MODULE}, {"Spec"}) == {"Spec", "Init", "Next", "Step", "Limit"}
    assert MODULE.definitions["Step"].parameters == ("k",)
    assert (MODULE.constants, MODULE.variables) == (("MinTicks", "MaxTicks"), ("x", "y"))


def test_single_edits():
    assert changed("Limit") == {("wrong variable", "MinTicks")}
    assert changed("Step") == {
        ("conjunct dropped", "/\\ TRUE"), ("update left out", "/\\ x' = x"), ("other operator", "/\\ x - k < Limit"),
        ("other operator", "/\\ x + k <= Limit"), ("other operator", "/\\ ~(y >= 3 /\\ k = 1)"),
        ("off by one", "/\\ ~(y > 4 /\\ k = 1)"),
        ("off by one", "/\\ ~(y > 2 /\\ k = 1)"), ("off by one", "/\\ ~(y > 3 /\\ k = 2)"),
        ("off by one", "/\\ ~(y > 3 /\\ k = 0)"),
        ("other operator", "/\\ ~(y > 3 /\\ k # 1)"), ("other operator", "/\\ ~(y > 3 \\/ k = 1)"),
        ("other operator", "/\\ x' = x - k"),
        ("wrong variable", "/\\ UNCHANGED x"), ("wrong variable", "/\\ ~(x > 3 /\\ k = 1)"),
        ("wrong variable", "/\\ y + k < Limit"),
        ("wrong variable", "/\\ x' = y + k"),
    }  # fmt: skip


def test_one_seed_makes_one_list_of_edits_with_each_kind_once_first():
    first = edits_of(MODULE, ["Step"], most=4)
    assert first == edits_of(MODULE, ["Step"], most=4)
    assert len({edit.kind for edit in first}) == 4  # of five
    assert first != edits_of(MODULE, ["Step"], most=4, seed=2)


def schedule_edits():
    module = module_of("Schedule", source_of("Schedule"))
    steps = reached_from({"Schedule": module}, {"Spec"}) - {"vars", "Spec"}
    return module, dict(enumerate(edits_of(module, steps, most=1), 1))


def test_edits_of_schedules_are_found_in_one_run():
    module, found = schedule_edits()
    found = dict(list(found.items())[-5:])
    unreadable = Edit("Schedule", "AllDone", "other operator", "done = Transfers", "done = = Transfers", " done = = Transfers")
    without_value = Edit("Schedule", "AllDone", "off by one", "done = Transfers", "done = 1", " done + 1 = 1")
    readable = with_meaning(module, {**found, 98: unreadable, 99: without_value})
    assert readable == {**found, 99: without_value}
    asked = asked_of(listed().models["MCScheduleMembers"], module)
    kills = kills_together(asked, module, readable)
    assert kills.pop(99) == NO_VALUE
    assert len(kills) >= 3
    assert set(kills.values()) <= {*asked.invariants, *asked.starts, *asked.steps, "no deadlock"}


@pytest.mark.parametrize(
    ("module", "whole", "model", "definition", "after", "found"),
    [
        ("AceEngine", "AceEngine", "MCAceEngineSums", "Lacks", " {}", "NeedsComeFirst"),
        ("NILanes", "NILockstep", "MCNILockstepLineSums", "IsFirstInUnit", " TRUE", "SumsInOrder"),
        ("SubPacketFlow", "SubPacketFlow", "MCSubPacketFlowRingWormhole", "HeadWaits", " h = 1", "FreeVcsCanBeTaken"),
        ("TraceSubPacketFlow", "TraceSubPacketFlow", "MCTraceSubPacketFlowFollowing", "IsNext", " TRUE", "LeavesInOrder"),
    ],
)
def test_names_of_modules_may_be_variables_of_their_parts(module, whole, model, definition, after, found):
    """A module may call its variables and properties as it likes, and definitions of one part may be steps of another."""
    edited, steps = (module_of(name, source_of(name)) for name in (module, whole))
    asked = asked_of(listed().models[model], steps)
    assert kills_together(asked, edited, {1: Edit(module, definition, "", "", "", after)}) == {1: found}


def test_edits_that_must_be_constants_and_whole_runs():
    module = module_of("AllReduce", source_of("AllReduce"))
    asked = asked_of(listed().models["MCAllReduceScatter"], module)
    (due,) = [edit for edit in edits_of(module, ["Due"], most=100) if r"\notin" in edit.after]
    assert kill_alone(asked, module, due) == "OnlyPromised"
    ended = Edit("AllReduce", "AllFinished", "other operator", "", "", r" \E due \in Due : result[due] # <<>>")
    assert kills_of_runs(asked, module, {1: ended}) == {}  # it may rest, but fairness still makes it go on


def test_a_property_without_a_value_hides_no_other(monkeypatch):
    """Where none but it would fail, no property finds the edit."""
    edit = Edit("AllReduce", "Finish", "", "", "", "")

    def watched(asked, module, edits, unasked):
        if unasked.get("WatchedTypeOK") != {1, 2}:
            number = len(unasked.get("WatchedTypeOK", ())) + 1
            raise TlcError("TLC", f"Error: Evaluating invariant WatchedTypeOK failed.\n/\\ whichEdit = {number}\n")
        printed = {"edit 1 RightResult", *(f"begins {number}" for number in edits)}
        return SimpleNamespace(printed=printed, result=Result.SUCCESS)

    monkeypatch.setattr(together, "_watched", watched)
    assert kills_together(None, None, {1: edit, 2: edit, 3: edit}) == {1: "RightResult", 2: NO_VALUE}


def test_edits_of_a_trace_are_those_of_its_own_definitions(monkeypatch):
    """The specification is called TraceSpec, and most of its steps are those of the module that it extends."""
    for name in ("kills_together", "kills_of_runs"):
        monkeypatch.setattr(edits, name, lambda asked, module, edits: {})
    monkeypatch.setattr(edits, "with_meaning", lambda module, told: told)
    own = module_of("TraceSubPacketFlow", source_of("TraceSubPacketFlow")).definitions.keys()
    changed = {outcome.edit.definition for outcome in edits.survey("TraceSubPacketFlow")}
    assert changed >= {"Entry", "IsOnTheRoute", "IsNext", "LoggedTake", "LoggedSend", "TraceInit", "TraceNext"}
    assert changed <= own - {"TraceSpec", "traceVars"}


def test_what_stops_tlc_in_one_model_is_asked_about_in_others(monkeypatch):
    models = models_for("Schedule")[:3]
    told = {models[0].name: NO_VALUE, models[1].name: "InTime", models[2].name: "ExactlyOnce"}
    asked_about = []

    def kills(asked, module, edits):
        asked_about.append((asked.name, len(edits)))
        return {number: told[asked.name] for number in edits if number != 1 or told[asked.name] == NO_VALUE}

    monkeypatch.setattr(edits, "models_for", lambda module, guards: models)
    monkeypatch.setattr(edits, "asked_of", lambda model, whole: SimpleNamespace(name=model.name, spec="Spec", variables="vars"))
    monkeypatch.setattr(edits, "with_meaning", lambda module, told: told)
    monkeypatch.setattr(edits, "is_readable", lambda module, edit: True)
    monkeypatch.setattr(edits, "kills_together", kills)
    monkeypatch.setattr(edits, "kills_of_runs", lambda model, module, edits: {})
    monkeypatch.setattr(edits, "kill_alone", lambda asked, module, edit: told[asked.name])
    outcomes = list(edits.survey("Schedule"))
    assert [count for _, count in asked_about] == [len(outcomes), len(outcomes), 1]
    assert {(outcome.found, outcome.model) for outcome in outcomes[1:]} == {("InTime", models[1].name)}
    assert (outcomes[0].found, outcomes[0].model, outcomes[0].by_property) == (NO_VALUE, models[0].name, False)


def test_tables_that_do_not_fit_together_are_found_by_an_assumption():
    module = module_of("AceEngine", source_of("AceEngine"))
    (nobody,) = [edit for edit in edits_of(module, ["Due"], most=100) if r"m \notin Nodes" in edit.after]
    assert not is_readable(module, nobody)  # it is no set
    assert is_readable(module, replace(nobody, body=module.definitions["Due"].body))
    nothing = replace(nobody, body=" [c \\in Chunks |-> [k \\in DOMAIN Plan[c] |-> [n \\in Nodes |-> {}]]]")
    assert kill_alone(asked_of(listed().models["MCAceEngineSums"], module), module, nothing) == ASSUMPTION


@pytest.mark.parametrize("module", EDITED)
def test_survivors_are_edits_of_the_modules_as_they_are(module):
    """Otherwise: `python -m tools.specs edits MODULE`, and see what survives now."""
    text = " ".join(module_of(module, source_of(module)).text.split())
    assert models_for(module)
    for _, definition, before, after in (key for key in known_survivors() if key[0] == module):
        assert definition in module_of(module, source_of(module)).definitions
        assert " ".join(before.split()) in text
        assert before != after


def test_survivors_that_are_not_explained_fail(monkeypatch):
    edit, other = Edit("Schedule", "Move", "x", "a", "b", ""), Edit("Schedule", "Move", "x", "a", "c", "")
    outcomes = [Outcome(edit, "", ""), Outcome(other, NO_VALUE, "M"), Outcome(other, "InTime", "M")]
    assert counted("Schedule", outcomes).words.splitlines() == [
        "Schedule: 3 edits; 1 found by a property, 1 stop TLC, 0 without end; 0 equivalent, 0 open, 1 unexplained",
        "  Move: a -> b",
    ]
    monkeypatch.setattr("tools.specs.__main__.survey", lambda name, report: outcomes)
    assert edited("Schedule").code == 1
    known = {edit.key: edits.Survivor(equivalent=False, why="a model with three")}
    monkeypatch.setattr(edits, "known_survivors", lambda: known)
    outcome = edited("Schedule")
    assert outcome.code == 0
    assert "0 equivalent, 1 open, 0 unexplained" in outcome.out
    deprecated = certree("model-check", "--edits", "Schedule")
    assert (deprecated.code, deprecated.out) == (0, outcome.out)
    assert deprecated.err == "warning: model-check --edits is deprecated; use python -m tools.specs edits\n"


def edited(*names):
    return certree("edits", *names, program=specs, name="python -m tools.specs")


def test_bad_input():
    assert_bad_input(edited("Shedule"), "unknown module 'Shedule'")
    assert_bad_input(certree("model-check", "--edits", "Shedule"), "unknown module 'Shedule'", notes=1)
    assert_bad_input(certree("model-check", "--edits", "--full"), "edits takes no --full")


def test_an_installed_wheel_says_where_the_programs_are(monkeypatch, tmp_path):
    installed = tmp_path / "certree" / "cli" / "commands" / "model_checks" / "model_check.py"
    monkeypatch.setattr("certree.extras.tla.command.model_check.__file__", str(installed))
    for option in ("--edits", "--kills"):
        assert_bad_input(certree("model-check", option), f"python -m tools.specs {option[2:]}", notes=1)
