"""Patterns of language: each is found in a text that has it, and texts that need not change have none."""

from pathlib import Path

import pytest

from tools.words import PATTERNS, places


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ('"""By row the cycle."""', 1, "a docstring begins with 'By'"),
        ('x = 1\n\n\ndef f():\n    """Of both."""', 5, "a docstring begins with 'Of'"),
        ('class A:\n    """The same."""', 2, "a docstring begins with 'The same'"),
        ('def f():\n    """Those of x."""', 2, "a docstring begins with 'Those'"),
        ('def f():\n    """As `g`."""', 2, "a docstring begins with 'As'"),
        ('def f():\n    """Its length."""', 2, "a docstring begins with 'Its'"),
        ('def f():\n    """What a place holds."""', 2, "a docstring begins with 'What'"),
        ('def f():\n    """InputError where it is wrong."""', 2, "a docstring begins with 'InputError where'"),
        ('def f():\n    """See `g`."""', 2, "a docstring begins with 'See'"),
        ('"""A text.\n\nWait so many cycles.\n"""', 3, "so many"),
        ("x = 1  # judged later", 1, "judged"),
        ('raise ValueError("a page beside it")', 1, "beside"),
    ],
)
def test_places_of_a_module(text: str, line: int, words: str) -> None:
    found = list(places(Path("a.py"), text))
    assert [place[:2] for place in found] == [(line, words)]
    assert found[0][2] in {pattern.instead for pattern in PATTERNS}


def test_places_of_a_page() -> None:
    page = "A page.\n\n```console\n$ echo so many\n```\n\nOne of so many makers.\n"
    assert [(line, words) for line, words, _ in places(Path("a.md"), page)] == [(7, "so many"), (7, "makers")]


def test_names_and_good_sentences_are_no_places() -> None:
    text = 'beside = {"Byte": 1}\n\n\ndef judge():\n    """Bytes of both, the same for all: by row."""\n    return "Of both"\n'
    assert list(places(Path("a.py"), text)) == []


def test_docstrings_of_tests_may_begin_with_what() -> None:
    text = '"""What is wrong stays so."""\n'
    assert list(places(Path("tests/test_a.py"), text)) == []
    assert [words for _, words, _ in places(Path("a.py"), text)] == ["a docstring begins with 'What'"]
    assert list(places(Path("a.py"), '"""What-if runs."""\n')) == []
