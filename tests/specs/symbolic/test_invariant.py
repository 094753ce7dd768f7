"""The inductive invariant: every obligation is proved for any size, every mutant is refuted, and the TLA+ module has the same."""

import re

import pytest
import z3

from certree.extras.tla.check.model_runs import specs_folder
from certree.extras.tla.check.symbolic import invariant
from certree.extras.tla.check.symbolic.interface import Machine
from certree.extras.tla.check.symbolic.invariant import MUTANTS, check_invariant, obligations
from certree.extras.tla.check.symbolic.paced_interface import PacedMachine
from certree.extras.tla.check.symbolic.paced_invariant import PACED_MUTANTS, paced_obligations
from certree.extras.tla.check.symbolic.world import MEMBERS, World
from tests.cli.running import assert_bad_input, certree


def test_all_is_proved_and_all_mutants_are_refuted():
    told = []
    results = check_invariant(lambda *one: told.append(one))
    assert told == [(result, number, len(results)) for number, result in enumerate(results, 1)]
    assert [r.name for r in results if not r.as_expected] == []
    assert {r.result for r in results} == {"proved", "refuted"}
    assert len([r for r in results if r.result == "refuted"]) == len(MUTANTS) + 1


def test_all_is_proved_of_paced_tables():
    results = check_invariant(run="paced")
    assert [r.name for r in results if not r.as_expected] == []
    assert len([r for r in results if r.result == "refuted"]) == len(PACED_MUTANTS) + 1
    claims = paced_obligations(MEMBERS, "")
    for name in sorted({name for _, name in PACED_MUTANTS}):
        assert invariant._ask(claims[name]) == "proved", name


def test_in_the_finite_world_nothing_is_refuted_without_a_mutation():
    """Otherwise the mutants would be refuted for another reason than what they leave out."""
    claims = obligations(MEMBERS, "")
    for name in sorted({name for _, name in MUTANTS}):
        assert invariant._ask(claims[name]) == "proved", name


def test_every_rule_guard_and_conjunct_has_a_mutant():
    parts = {without for without, _ in (*MUTANTS, *PACED_MUTANTS)}
    rules = {f"rule {name}" for name in PacedMachine(World(None))._ruled()}
    assert rules <= parts
    for module in ("interface", "invariant", "paced_interface", "paced_invariant"):
        source = (specs_folder().parent / "extras" / "tla" / "check" / "symbolic" / f"{module}.py").read_text()
        assert set(re.findall(r'unless\(\s*"([^"]+)"', source)) <= parts
    machine = Machine(World(None))
    conjuncts = machine.conjuncts(machine.state)
    # what fires without its dependencies is not late but wrong: NothingMissing is a goal, not a means
    assert {f"conjunct {name}" for name in conjuncts} - {part for part, _ in MUTANTS} == {"conjunct NothingMissing"}
    paced = PacedMachine(World(None))
    assert {f"conjunct {name}" for name in paced.conjuncts(paced.state)} <= {part for part, _ in PACED_MUTANTS}


def test_the_specification_has_the_same_conjuncts():
    text = (specs_folder() / "NIProof.tla").read_text()
    (conjuncts,) = re.findall(r"^SlottedInvariant == (.*)$", text, re.MULTILINE)
    machine = Machine(World(None))
    assert set(conjuncts.split(" /\\ ")) == set(machine.conjuncts(machine.state))


def test_unknown_is_a_failure(monkeypatch):
    monkeypatch.setattr(z3.Solver, "check", lambda solver: z3.unknown)
    monkeypatch.setattr(invariant, "MUTANTS", ())
    outcome = certree("model-check", "symbolic")
    assert outcome.code == 3
    assert "no deadlock: unknown, NOT as expected (proved)" in outcome.out


def test_command(monkeypatch):
    monkeypatch.setattr(invariant, "MUTANTS", MUTANTS[:2])
    outcome = certree("model-check", "symbolic", "--json")
    assert outcome.code == 0
    first, last = outcome.document["models"][0], outcome.document["models"][-1]
    assert (first["mode"], first["expected"], first["result"], first["distinct_states"]) == ("symbolic", "proved", "proved", None)
    assert (last["name"], last["result"]) == ("no busy port, without rule ContentionFree", "refuted")


@pytest.mark.parametrize("arguments", [["MCAllReduce"], ["--schedule", "x"], ["--full"]])
def test_symbolic_takes_nothing_else(arguments):
    assert_bad_input(certree("model-check", "--symbolic", *arguments), "symbolic takes no ")
