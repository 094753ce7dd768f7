"""The page that says what checks each sentence of the table contract: generated, and all that it names exists."""

import re

from certree.verify.rule import load_rules
from tests.verify.tables.traceability import HEAD, PAGE, ROOT, entries, labels, page, sentences

RULES = set(load_rules())


def test_the_page_is_the_generated_one() -> None:
    assert PAGE.read_text() == page(), "`python -m tests.verify.tables.traceability` writes it anew"


def test_rows_have_as_many_cells_as_the_head() -> None:
    assert {line.count("|") for line in page().splitlines() if line.startswith("|")} == {HEAD.splitlines()[-1].count("|")}


def test_labels_of_assertions_are_unique() -> None:
    assert len(labels()) == len(set(labels())) > 0


def test_sentences_are_numbered_once_and_every_row_is_about_one() -> None:
    found = sentences()
    assert len(found) == len(set(found))
    assert set(entries()) <= set(found)
    assert all(any(evidence.values()) for evidence in entries().values())


def test_rules_guards_assertions_and_tests_exist() -> None:
    known = set(labels())
    for sentence, evidence in entries().items():
        assert set(evidence["rules"]) <= RULES, sentence
        assert set(evidence["assertions"]) <= known, sentence
        for guard in evidence["guards"]:
            module, definition, *label = guard.split("!")
            text = (ROOT / "specs" / f"{module}.tla").read_text()
            body = re.search(rf"^{definition}(\([^)]*\))? ==(.*?)(?=^\S|\Z)", text, re.MULTILINE | re.DOTALL)
            assert body, f"{sentence}: {guard}"
            assert all(f"{name}::" in body[2] for name in label), f"{sentence}: {guard}"
        for test in evidence["tests"]:
            file, name = test.split("::")
            assert f"def {name}(" in (ROOT / file).read_text(), f"{sentence}: {test}"
