"""Every registered rule: its example breaks it and no other, and the page of the rules is the one that is generated."""

import re
from pathlib import Path

import pytest

import certree.verify
from certree.verify.bounds.timed import load_time_witnesses
from certree.verify.bounds.witness import load_witnesses
from certree.verify.exact.refutations.refutation import load_refutations
from certree.verify.rule import Subject, load_rules
from certree.verify.verdict import Findings
from tests.verify.provoke import provoke
from tests.verify.rule_page import PAGE, page

FOLDER = Path(str(certree.verify.__file__)).parent
ROOT = Path(__file__).parents[2]
RULES = load_rules()


@pytest.mark.parametrize("name", list(RULES))
def test_the_example_of_a_rule_breaks_it_and_no_other(name: str) -> None:
    rule = RULES[name]
    if rule.example.startswith("tests/"):
        file = ROOT / rule.example
        assert file.is_file(), f"{name}: the example {rule.example} is not a file"
        assert f'"{name}"' in file.read_text(), f'{name}: its example {rule.example} does not have the name as "{name}"'
    else:
        found = provoke(rule)
        messages = "\n".join(f"{violation.rule}: {violation.message}" for violation in found)
        assert {violation.rule for violation in found} == {name}, f"the example {rule.example} breaks:\n{messages or 'nothing'}"


def test_the_page_of_the_rules_is_the_generated_one() -> None:
    assert PAGE.read_text() == page(), "`python -m tests.verify.rule_page` writes it anew"


def test_every_subject_has_rules() -> None:
    assert {RULES[name].about for name in RULES} == set(Subject)


def test_what_is_reported_is_registered() -> None:
    with pytest.raises(ValueError, match="'no-such-rule' is not a registered rule"):
        Findings().add("no-such-rule", 0, (), "message")
    code = "\n".join(path.read_text() for path in sorted(FOLDER.rglob("*.py")))
    named = set(re.findall(r'(?:WitnessError|ProofError)\((?:[a-z_]+, )*"([a-z-]+)"', code))
    assert len(named) >= 10
    assert named <= set(RULES)


def test_every_kind_of_evidence_is_explained() -> None:
    pages = PAGE.parents[1] / "explanation"
    text = (pages / "bounds.md").read_text() + (pages / "frontiers.md").read_text()
    assert all(f"| `{kind}` |" in text for kind in (*load_witnesses(), *load_time_witnesses(), *load_refutations()))
