"""Fields of a TOML table, read by kind: what is wrong is said with the file, the field and what is allowed."""

from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from typing import Any, NoReturn

from certree.models.common.errors import InputError


class Fields:
    """One table of a TOML file. Every field is asked for by name and kind; `done` refuses those that nobody asked for."""

    def __init__(self, where: str, table: Mapping[str, Any]) -> None:
        self.where = where
        self._table = table
        self._asked: dict[str, None] = {}

    def __contains__(self, name: str) -> bool:
        return name in self._table

    def raw(self, name: str) -> Any:
        """The value as it stands; None where it is missing."""
        return self._table.get(name)

    def text(self, name: str, *, default: str | None = None, known: Iterable[str] = ()) -> str:
        """A string, one of `known` where there are any."""
        value = self._get(name, default)
        if not isinstance(value, str):
            self.refuse(f"{name} is {value!r}; expected a string")
        allowed = list(known)
        if allowed and value not in allowed:
            self.refuse(f"unknown {name} {value!r}; known: {', '.join(allowed)}")
        return value

    def texts(self, name: str, *, default: list[str] | None = None) -> tuple[str, ...]:
        """A list of strings, not empty."""
        value = self._get(name, default)
        if not isinstance(value, list) or not all(isinstance(entry, str) for entry in value) or not (value or default == []):
            self.refuse(f"{name} is {value!r}; expected a list of strings")
        return tuple(value)

    def text_or_texts(self, name: str, *, known: Iterable[str] = ()) -> tuple[str, ...]:
        """A string or a list of strings, each one of `known` where there are any."""
        if not isinstance(self.raw(name), list):
            return (self.text(name, known=known),)
        allowed, values = list(known), self.texts(name)
        unknown = [value for value in values if allowed and value not in allowed]
        if unknown:
            self.refuse(f"unknown {name} {unknown[0]!r}; known: {', '.join(allowed)}")
        return values

    def fraction(self, name: str, *, default: str | None = None) -> Fraction:
        """An exact number, written as a string: "1/20", "0.203"."""
        text = self.text(name, default=default)
        value = exact_number(text)
        if value is None:
            self.refuse(f"{name} is {text!r}; expected a number such as 1/20 or 0.05, in quotes")
        return value

    def mapping(self, name: str) -> dict[str, str]:
        """A table of strings; empty where it is missing."""
        value = self._get(name, {})
        if not isinstance(value, dict) or not all(isinstance(entry, str) for entry in value.values()):
            self.refuse(f"{name} is {value!r}; expected a table of strings")
        return dict(value)

    def numbers(self, name: str) -> dict[str, int]:
        """A table of whole numbers; empty where it is missing."""
        value = self._get(name, {})
        if not isinstance(value, dict) or not all(type(entry) is int for entry in value.values()):
            self.refuse(f"{name} is {value!r}; expected a table of whole numbers")
        return dict(value)

    def tables(self, name: str) -> Iterator["Fields"]:
        """The entries of an array of tables; none where it is missing."""
        value = self._get(name, [])
        if not isinstance(value, list) or not all(isinstance(entry, dict) for entry in value):
            self.refuse(f"{name} is {value!r}; expected tables")
        for index, entry in enumerate(value):
            yield Fields(f"{self.where}: {name} {index + 1}", entry)

    def done(self) -> None:
        """Refuse fields that were never asked for."""
        unknown = [name for name in self._table if name not in self._asked]
        if unknown:
            self.refuse(f"unknown field {unknown[0]!r}; known: {', '.join(self._asked)}")

    def refuse(self, reason: str) -> NoReturn:
        """Raise InputError for something in this table."""
        raise InputError(f"{self.where}: {reason}")

    def _get(self, name: str, default: Any) -> Any:
        self._asked[name] = None
        value = self._table.get(name, default)
        if value is None:
            self.refuse(f"{name} is missing")
        return value


def exact_number(text: str) -> Fraction | None:
    """The exact value of "3", "7/5", "0.203", "1e7"; None for any other text."""
    try:
        return Fraction(text)
    except (ValueError, ZeroDivisionError):
        return None
