"""The one reader of fields: every kind by itself, what it refuses and in which words, dataclasses by their annotations."""

from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import Annotated, Literal

import pytest

from certree.models.common.errors import InputError, MachineError
from certree.models.common.fields import ABOVE_ZERO, Fields, FromZero, Limits, Positive, Share


class Colour(StrEnum):
    RED = "red"


@dataclass(frozen=True)
class Part:
    name: str
    count: int


@dataclass(frozen=True)
class Whole:
    """A field of every kind that an annotation may be."""

    cycles: FromZero
    width: Annotated[int, Limits(1, 8)]
    rate: Positive
    share: Share
    colour: Colour
    shape: Literal["round", "square"]
    flag: bool
    first: Part
    parts: tuple[Part, ...]
    limit: Positive | None = None


GOOD = {
    "cycles": 0,
    "width": 8,
    "rate": "6.4e-9",
    "share": "1/3",
    "colour": "red",
    "shape": "round",
    "flag": True,
    "first": {"name": "a", "count": 1},
    "parts": [{"name": "b", "count": 2}],
}


def test_a_dataclass_is_read_by_its_annotations():
    whole = Fields(GOOD, "f").read(Whole)
    assert whole == Whole(
        0, 8, Fraction(64, 10**10), Fraction(1, 3), Colour.RED, "round", True, Part("a", 1), (Part("b", 2),), None
    )
    assert Fields({**GOOD, "limit": "2"}, "f").read(Whole).limit == 2
    assert Fields({**GOOD, "limit": None}, "f").read(Whole).limit is None


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("cycles", -1, "f: cycles is -1; allowed: whole numbers from 0"),
        ("cycles", "1", "f: cycles is '1'; allowed: whole numbers from 0"),
        ("width", 9, "f: width is 9; allowed: whole numbers from 1 to 8"),
        ("width", True, "f: width is True; allowed"),
        ("rate", "0", 'f: rate is \'0\'; expected a string such as "6.4e-9" or "1/20", above 0'),
        ("rate", 1, "f: rate is 1; expected a string such as"),
        ("rate", "1e9999", "f: rate is '1e9999'; expected"),
        ("rate", "1/0", "f: rate is '1/0'; expected"),
        ("share", "1.5", '1.5\'; expected a string such as "6.4e-9" or "1/20", from 0 to 1'),
        ("colour", "blue", "f: colour is 'blue'; allowed: red"),
        ("shape", "oval", "f: shape is 'oval'; allowed: round, square"),
        ("flag", 1, "f: flag is 1; allowed: true, false"),
        ("first", 3, "f: first is 3; expected a table of fields"),
        ("first", {"name": 3, "count": 1}, "f: first: name is 3; expected a string"),
        ("first", {"name": "a"}, "f: first: count is missing; known: name, count"),
        ("parts", [], "f: parts is []; expected a list of 1 or more tables"),
        ("parts", [GOOD["first"], {"name": "b", "count": 0}], "f: parts 2: count is 0; allowed: whole numbers from 1"),
        ("widths", 3, "f: unknown field 'widths'; did you mean 'width'? known: cycles, width, "),
        ("widths", 3, "; did you mean 'width'? "),
    ],
)
def test_what_is_wrong_is_said_with_the_field(name, value, reason):
    with pytest.raises(MachineError) as caught:
        Fields({**GOOD, name: value}, "f", MachineError).read(Whole)
    assert reason in str(caught.value)


def test_missing_and_unknown_fields_come_together():
    with pytest.raises(InputError, match=r"^f: a, b are missing; unknown fields 'x', 'y'; known: a, b, c$"):
        Fields({"x": 1, "y": 2}, "f").only("a", "b", optional=["c"])


def test_numbers_in_quotes_and_without():
    strict, either = ({"quotes_optional": flag} for flag in (False, True))
    for value in (20, "20"):
        assert Fields({"draws": value}, "f", **either).whole("draws", 1) == 20
        assert Fields({"draws": [value]}, "f", **either).wholes("draws", 1) == (20,)
        assert Fields({"draws": value}, "f", **either).exact("draws", ABOVE_ZERO) == 20
        assert Fields({"draws": value}, "f", **either).figures("draws") == ("20",)
        assert Fields({"options": {"parts": value}}, "f", **either).mapping("options") == {"parts": "20"}
    for value in ("20.5", "2e1", "-1", "", "٣", 20.0, True, None):
        with pytest.raises(InputError, match=r"draws is .*; allowed: whole numbers from 1"):
            Fields({"draws": value}, "f", **either).whole("draws", 1)
    with pytest.raises(InputError, match="draws is '20'; allowed: whole numbers from 1"):
        Fields({"draws": "20"}, "f", **strict).whole("draws", 1)
    with pytest.raises(InputError, match="draws is 20; expected a string such as"):
        Fields({"draws": 20}, "f", **strict).exact("draws")


def test_lists_and_tables():
    fields = Fields({"sizes": ["1.5KiB", "2B", "3", 4], "lines": [{"name": "a"}, {"name": "a"}], "none": []}, "f")
    assert fields.sizes("sizes") == (1536, 2, 3, 4)
    assert [entry.text("name") for entry in fields.tables("lines")] == ["a", "a"]
    assert fields.tables("more") == []
    for ask, reason in (
        (lambda: fields.tables("lines", distinct="name"), "lines are called a, a; expected a different name for each"),
        (lambda: fields.tables("lines", least=3), "lines is .*; expected a list of 3 or more tables"),
        (lambda: fields.each("lines", lambda entry: None), "lines 1: unknown field 'name'"),
        (lambda: fields.texts("none"), r"none is \[\]; expected a list, not empty"),
        (lambda: Fields({"size": "3 parsecs"}, "f").size("size"), "f: size: size '3 parsecs': expected"),
        (lambda: Fields({"size": 1.5}, "f").size("size"), "f: size: size 1.5: expected"),
        (lambda: Fields({"sizes": [1, "2Mb"]}, "f").sizes("sizes"), "f: sizes: size '2Mb': 'Mb' stands for bits"),
        (lambda: Fields({"way": "fats"}, "f").text("way", known=["fast"]), "unknown way 'fats'; did you mean 'fast'? known: fast"),
    ):
        with pytest.raises(InputError, match=reason.replace("?", r"\?")):
            ask()
