"""One reader for the fields of TOML and JSON documents.

Every field is read by name and kind. Errors state the file, the field and the allowed values; for unknown names also the closest
known one. A dataclass can be read at once: `Fields.read` takes kinds and ranges from its annotations.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, dataclass, fields, is_dataclass
from enum import Enum
from fractions import Fraction
from functools import cache
from typing import Annotated, Any, ClassVar, Literal, NoReturn, TypeVar, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray

from certree.models.common.columns import int_column
from certree.models.common.errors import InputError, known_names, short, unknown_name
from certree.models.common.files import check_format
from certree.models.common.quantities import read_size

T = TypeVar("T")
NAMED = 8  # unknown fields that an error lists at most
_NUMBER = re.compile(r"-?[0-9]{1,20}(/0*[1-9][0-9]{0,19}|(\.[0-9]{1,20})?(e[+-]?[0-9]{1,3})?)", re.ASCII)


@dataclass(frozen=True)
class Limits:
    """The range of a number, in the annotation of a dataclass field; `above`: `low` itself is excluded."""

    low: int = 0
    high: int | None = None
    above: bool = False

    def hold(self, value: int | Fraction) -> bool:
        """Whether the value lies in the range."""
        return (self.low < value if self.above else self.low <= value) and (self.high is None or value <= self.high)

    def __str__(self) -> str:
        low, joint = (f"above {self.low}", " and at most") if self.above else (f"from {self.low}", " to")
        return low if self.high is None else f"{low}{joint} {self.high}"


ABOVE_ZERO = Limits(0, above=True)
FromZero = Annotated[int, Limits(0)]  # an `int` without limits is from 1
Positive = Annotated[Fraction, ABOVE_ZERO]  # a `Fraction` without limits is from 0
Share = Annotated[Fraction, Limits(0, 1)]


class Fields:
    """One table of a document, at `where`; `error` makes the exception for a message.

    With `quotes_optional`, whole numbers may stand in quotes and exact numbers without. Tables of a list are counted from `first`.
    """

    first: ClassVar[int] = 1

    def __init__(
        self, table: Any, where: str, error: Callable[[str], Exception] = InputError, *, quotes_optional: bool = False
    ) -> None:
        if not isinstance(table, Mapping):
            raise error(f"{where} is {short(table)}; expected a table of fields")
        self.where, self.table, self.error = where, table, error
        self._lenient, self._joint = quotes_optional, ": "
        self._asked: dict[str, None] = {}

    @classmethod
    def of_format(
        cls, document: Any, form: str, version: int, where: str, error: Callable[[str], Exception] = InputError, *more: int
    ) -> "Fields":
        """The fields of a document other than `format` and `version`, after checking them; the version is `version`
        or one of `more`."""
        try:
            document = check_format(document, form, version, where, *more)
        except InputError as reason:
            raise error(str(reason)) from None
        return cls({name: value for name, value in document.items() if name not in ("format", "version")}, where, error)

    def __contains__(self, name: str) -> bool:
        self._asked[name] = None
        return name in self.table

    def only(self, *needed: str, optional: Iterable[str] = ()) -> "Fields":
        """These fields, after checking that all required ones are present and no others."""
        known = [*needed, *optional]
        missing = [name for name in needed if name not in self.table]
        unknown = [name for name in self.table if name not in known][:NAMED]
        if missing or unknown:
            words = [f"{', '.join(missing)} {'are' if missing[1:] else 'is'} missing"] if missing else []
            words += [f"unknown field{'s' if unknown[1:] else ''} {', '.join(map(short, unknown))}"] if unknown else []
            self.refuse("; ".join([*words, known_names(known, unknown[:1])]))
        return self

    def done(self) -> None:
        """Refuse fields that were never read."""
        self.only(optional=self._asked)

    def refuse(self, reason: str) -> NoReturn:
        """Raise the error for something in this table."""
        raise self.error(f"{self.where}: {reason}")

    def raw(self, name: str, default: Any = MISSING) -> Any:
        """The value as it stands; refused where it is missing, without a default."""
        self._asked[name] = None
        value = self.table.get(name, default)
        if value is MISSING:
            self.refuse(f"{name} is missing")
        return value

    def whole(self, name: str, low: int = 0, high: int | None = None, *, default: int | Any = MISSING) -> int:
        """A whole number from `low` to `high`."""
        return self._whole(name, self.raw(name, default), Limits(low, high))

    def whole_or_none(self, name: str, low: int = 0, high: int | None = None) -> int | None:
        """A whole number, or None where it is missing or null."""
        value = self.raw(name, None)
        return None if value is None else self._whole(name, value, Limits(low, high), " or null")

    def wholes(self, name: str, low: int = 0, high: int | None = None) -> tuple[int, ...]:
        """A list of whole numbers, not empty."""
        return tuple(self._whole(f"{name} {index}", value, Limits(low, high)) for index, value in enumerate(self.entries(name)))

    def exact(self, name: str, limits: Limits | None = None, *, default: str | Any = MISSING) -> Fraction:
        """An exact number, as a string: "1/20", "0.203", "6.4e-9"."""
        return self._exact(name, self.raw(name, default), limits)

    def exacts(self, name: str, limits: Limits | None = None) -> tuple[Fraction, ...]:
        """A list of exact numbers, not empty."""
        return tuple(self._exact(f"{name} {index}", value, limits) for index, value in enumerate(self.entries(name)))

    def text(self, name: str, *, default: str | Any = MISSING, known: Iterable[str] = ()) -> str:
        """A string, one of `known` where there are any."""
        return self._text(name, self.raw(name, default), known)

    def texts(self, name: str, *, default: list[str] | Any = MISSING, known: Iterable[str] = ()) -> tuple[str, ...]:
        """A list of strings, not empty unless the default is."""
        if name not in self and default is not MISSING:
            return tuple(default)
        return tuple(self._text(name, value, known) for value in self.entries(name, empty=default == []))

    def text_or_texts(self, name: str, *, known: Iterable[str] = ()) -> tuple[str, ...]:
        """A string or a list of strings, each one of `known` where there are any."""
        if isinstance(self.raw(name), list):
            return self.texts(name, known=known)
        return (self.text(name, known=known),)

    def figure(self, name: str) -> str:
        """A number or text as written: 20 and "20" are "20"."""
        return self._text(name, self._written(self.raw(name)))

    def figures(self, name: str) -> tuple[str, ...]:
        """A number or text as written, or a list of these."""
        value = self.raw(name)
        values = self.entries(name) if isinstance(value, list) else [value]
        return tuple(self._text(name, self._written(one)) for one in values)

    def choice(self, name: str, allowed: Iterable[T], *, default: T | Any = MISSING) -> T:
        """One of the allowed values, of the same type."""
        value, known = self.raw(name, default), list(allowed)
        if not any(type(value) is type(one) and value == one for one in known):
            listing = ", ".join(str(one).lower() if isinstance(one, bool) else str(one) for one in known)
            self.refuse(f"{name} is {short(value)}; allowed: {listing}")
        found: T = value
        return found

    def size(self, name: str) -> int:
        """The number of bytes of a size such as "64MiB", or of a bare whole number."""
        return self._size(name, self.raw(name))

    def sizes(self, name: str, *, default: list[str] | Any = MISSING) -> tuple[int, ...]:
        """A list of sizes such as "64MiB", in bytes."""
        if name not in self and default is not MISSING:
            return tuple(self._size(name, value) for value in default)
        return tuple(self._size(name, value) for value in self.entries(name, empty=default == []))

    def entries(self, name: str, *, empty: bool = False) -> list[Any]:
        """A list as it stands; not `empty` unless that is allowed."""
        value = self.raw(name)
        if not isinstance(value, list) or not (value or empty):
            self.refuse(f"{name} is {short(value)}; expected a list{'' if empty else ', not empty'}")
        return value

    def mapping(self, name: str) -> dict[str, str]:
        """A table of numbers and strings as they are written; empty where it is missing."""
        inner = self.table_of(name, {})
        return {key: inner.figure(key) for key in inner.table}

    def numbers(self, name: str) -> dict[str, int]:
        """A table of whole numbers; empty where it is missing."""
        inner = self.table_of(name, {})
        return {key: inner.whole(key) for key in inner.table}

    def table_of(self, name: str, default: Any = MISSING) -> "Fields":
        """A table inside this one."""
        return self.inner(self.raw(name, default), name)

    def tables(self, name: str, *, least: int = 0, distinct: str | None = None) -> list["Fields"]:
        """The entries of an array of tables, at least `least` of them, with distinct values of the field `distinct`; an empty list
        where it is missing."""
        value = self.raw(name, [])
        if not isinstance(value, list) or len(value) < least:
            self.refuse(f"{name} is {short(value)}; expected a list of {f'{least} or more ' if least else ''}tables")
        entries = [self.inner(entry, f"{name} {number}") for number, entry in enumerate(value, self.first)]
        names = [entry.text(distinct) for entry in entries] if distinct else []
        if len(set(names)) < len(names):
            self.refuse(f"{name} are called {', '.join(names)}; expected a different {distinct} for each")
        return entries

    def each(self, name: str, read: Callable[["Fields"], T], *, least: int = 0, distinct: str | None = None) -> tuple[T, ...]:
        """The result of `read` for each of `tables`; it must read all of their fields."""
        entries = self.tables(name, least=least, distinct=distinct)
        found = tuple(map(read, entries))
        for entry in entries:
            entry.done()
        return found

    def inner(self, value: Any, name: str) -> "Fields":
        """The fields of a table that was found inside this one."""
        found = type(self)(value, f"{self.where}: {name}", self.error, quotes_optional=self._lenient)
        found._joint = "."  # columns of tables are called transfers.step and the like
        return found

    def column(self, name: str, low: int, high: int, length: int | None = None) -> NDArray[np.int32]:
        """A list or numpy array of whole numbers as a column; see `int_column`."""
        return int_column(self.raw(name), f"{self.where}{self._joint}{name}", low, high, length, self.error)

    def columns(self, limits: Mapping[str, tuple[int, int]]) -> dict[str, NDArray[np.int32]]:
        """Columns of one length, each within its limits."""
        found: dict[str, NDArray[np.int32]] = {}
        length = None
        for name, (low, high) in limits.items():
            found[name] = self.column(name, low, high, length)
            length = len(found[name])
        return found

    def read(self, kind: type[T]) -> T:
        """A dataclass, each field by its annotation: int (from 1), Fraction (from 0), others with `Limits`; str, bool, Enum,
        Literal; dataclasses and tuples of them; each | None. Fields with a default may be missing."""
        return kind(**self.values(kind))

    def values(self, kind: type[Any]) -> dict[str, Any]:
        """The values for the constructor of the dataclass. A field's metadata may give its name in the document."""
        entries = {entry.metadata.get("field", entry.name): entry for entry in fields(kind)}
        optional = [name for name, entry in entries.items() if not (entry.default is MISSING and entry.default_factory is MISSING)]
        self.only(*(name for name in entries if name not in optional), optional=optional)
        hints = _hints(kind)  # type: ignore[arg-type]
        return {entries[name].name: self._value(name, hints[entries[name].name]) for name in entries if name in self.table}

    def _value(self, name: str, hint: Any) -> Any:
        hint, *extras = get_args(hint) if get_origin(hint) is Annotated else (hint,)
        value, origin, inner = self.raw(name), get_origin(hint), get_args(hint)
        if type(None) in inner:
            return None if value is None else self._value(name, next(one for one in inner if one is not type(None)))
        if hint is int:
            return self._whole(name, value, *(extras or [Limits(1)]))
        if hint is Fraction:
            return self._exact(name, value, *(extras or [Limits()]))
        if hint is bool:
            return self.choice(name, (True, False))
        if origin is Literal:
            return self.choice(name, inner)
        if origin is tuple:
            return tuple(entry.read(inner[0]) for entry in self.tables(name, least=1))
        if is_dataclass(hint):
            return self.table_of(name).read(hint) if not isinstance(value, hint) else value  # type: ignore[arg-type]
        return hint(self.choice(name, map(str, hint))) if issubclass(hint, Enum) else self._text(name, value)

    def _whole(self, name: str, value: Any, limits: Limits, besides: str = "") -> int:
        if self._lenient and isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 20:
            value = int(value)
        if type(value) is not int or not limits.hold(value):
            self.refuse(f"{name} is {short(value)}; allowed: whole numbers {limits}{besides}")
        return value

    def _exact(self, name: str, value: Any, limits: Limits | None = None) -> Fraction:
        text = self._written(value)
        number = exact_number(text) if isinstance(text, str) else None
        if number is None or not (limits is None or limits.hold(number)):
            self.refuse(f'{name} is {short(value)}; expected a string such as "6.4e-9" or "1/20"{f", {limits}" if limits else ""}')
        return number

    def _written(self, value: Any) -> Any:
        return str(value) if self._lenient and type(value) is int else value

    def _text(self, name: str, value: Any, known: Iterable[str] = ()) -> str:
        if not isinstance(value, str):
            self.refuse(f"{name} is {short(value)}; expected a string")
        allowed = [*known]
        if allowed and value not in allowed:
            self.refuse(unknown_name(name, value, allowed))
        return value

    def _size(self, name: str, value: Any) -> int:
        try:
            return read_size(value)
        except InputError as reason:
            return self.refuse(f"{name}: {reason}")


@cache
def _hints(kind: type[Any]) -> dict[str, Any]:
    return get_type_hints(kind, include_extras=True)


def exact_number(text: str) -> Fraction | None:
    """The exact value of "3", "7/5", "0.203", "1e7"; None for any other text."""
    return Fraction(text) if _NUMBER.fullmatch(text.strip()) else None
