"""The page of edits of guards is that of the modules as they are, and what it says can be found again."""

import pytest

from certree.extras.tla.check.model_file import listed
from tests.cli.running import assert_bad_input, certree
from tools.specs import guard_page as pages
from tools.specs.__main__ import specs
from tools.specs.definitions import module_of
from tools.specs.guard_page import KINDS, PROPERTY, counts_of, kind_of, page_of, section_of, sections_of, text_of
from tools.specs.mutants import source_of
from tools.specs.single_edits import Edit
from tools.specs.survey import GUARDED, Outcome, Survivor, guards_of, models_for, wrong_models_of
from tools.specs.together import ENDLESS, NO_VALUE, NOTHING, asked_of, kills_together

KEPT = pages.page_path().read_text()
SECTIONS = sections_of(KEPT)
OLD = "`python -m tools.specs guards MODULE` writes it anew"


def test_every_module_has_its_edits_on_the_page():
    assert list(SECTIONS) == list(GUARDED), OLD


@pytest.mark.parametrize("module", SECTIONS)
def test_the_edits_of_the_page_are_those_of_the_modules_as_they_are(module):
    assert pages.missing_and_over(module, SECTIONS[module]) == ([], []), OLD
    models = {line.rpartition("(")[2].rstrip(")") for line in SECTIONS[module].splitlines() if line.endswith(")")}
    assert models <= {model.name for model in (*models_for(module, guards=True), *wrong_models_of(module))}, OLD


def test_nothing_is_unexplained_or_undecided():
    for module, section in SECTIONS.items():
        counts = counts_of(section)
        assert (counts[pages.UNEXPLAINED], counts[pages.ENDS_NOT]) == (0, 0), module
    assert page_of(SECTIONS) == KEPT


@pytest.mark.parametrize(
    ("module", "whole", "definition", "after", "property_", "model"),
    [
        ("SubPacketFlow", "SubPacketFlow", "TakeFull", "= Nobody /\\ TRUE", "TakesByTheRules", "MCFlowRulesWormhole"),
        ("NILockstep", "NILockstep", "Fire", "counter' = counter", "FiresByTheRules", "MCNIRulesPaced"),
        ("NISequencer", "NILockstep", "IsDue", "ELSE TRUE /\\", "FiresByTheRules", "MCNIRulesPaced"),
    ],
)
def test_edits_that_survived_are_found(module, whole, definition, after, property_, model):
    """A head takes a full VC that is not for it; a counter advances in the tick of a row; a row fires before the clock starts."""
    (edit,) = [edit for edit in guards_of(module) if edit.definition == definition and after in edit.after]
    edited, steps = (module_of(name, source_of(name)) for name in (module, whole))
    assert kills_together(asked_of(listed().models[model], steps), edited, {1: edit}) == {1: property_}


def test_a_module_without_a_first_state_is_found():
    (edit, *_) = [edit for edit in guards_of("NILockstep") if "s[n] = (-1)" in edit.after]
    module = module_of("NILockstep", source_of("NILockstep"))
    assert kills_together(asked_of(listed().models["MCNIRulesLinePaced"], module), module, {1: edit}) == {1: NOTHING}


def test_kinds_and_counts(monkeypatch):
    edits = [Edit("M", "Step", "conjunct dropped", "/\\ a", f"/\\ TRUE {number}", "") for number in range(7)]
    known = {edits[4].key: Survivor(equivalent=True, why=""), edits[5].key: Survivor(equivalent=False, why="")}
    monkeypatch.setattr(pages, "known_survivors", lambda: known)
    told = [("NoBusyPort", "MCM"), (NOTHING, "MCM"), (NO_VALUE, "MCM"), (ENDLESS, "MCM"), (ENDLESS, "MCM"), ("", ""), ("", "")]
    outcomes = [Outcome(edit, found, model) for edit, (found, model) in zip(edits, told, strict=True)]
    assert [kind_of(outcome) for outcome in outcomes] == list(KINDS)
    section = section_of(outcomes)
    assert section.splitlines()[0] == "- `Step`, conjunct dropped: `/\\ a` becomes `/\\ TRUE 0`: NoBusyPort (MCM)"
    assert section.splitlines()[1].endswith(": *no first state*")
    assert section.splitlines()[4].endswith(": *equivalent*")
    assert counts_of(section) == dict.fromkeys(KINDS, 1)
    page = page_of({"Schedule": section})
    assert "| `Schedule` | 7 | 1 | 1 | 1 | 1 | 1 | 1 | 1 |" in page
    assert sections_of(page) == {"Schedule": section}


def test_command_writes_the_section_and_fails_for_survivors(tmp_path, monkeypatch):
    path = tmp_path / "EDITS.md"
    monkeypatch.setattr(pages, "page_path", lambda: path)
    edit = Edit("Schedule", "Move", "conjunct dropped", "a", "b", "")
    for found, model, code in (("InTime", "MCM", 0), ("", "", 1), (ENDLESS, "MCM", 1)):
        outcomes = [Outcome(edit, found, model)]
        monkeypatch.setattr("tools.specs.__main__.survey", lambda name, report, guards, told=outcomes: told)
        assert guards("Schedule").code == code
        assert text_of(edit) in path.read_text()
    assert counts_of(sections_of(path.read_text())["Schedule"])[PROPERTY] == 0


def guards(*names):
    return certree("guards", *names, program=specs, name="python -m tools.specs")


def test_bad_input():
    assert_bad_input(guards("Shedule"), "unknown module 'Shedule'")
