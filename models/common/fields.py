"""Fields of parameter files, read into the values of a dataclass: exact numbers, with errors that name file and field."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, fields
from fractions import Fraction
from typing import Any

from certree.models.common.errors import InputError

NUMBER = re.compile(r"[0-9]{1,20}(\.[0-9]{1,20})?(e[+-]?[0-9]{1,3})?", re.ASCII)


def read_fields(
    table: Any,
    kind: type[Any],
    where: str,
    least: Mapping[str, int],
    positive: Sequence[str] = (),
    besides: Sequence[str] = ("name",),
) -> dict[str, Any]:
    """The fields of a dataclass but those `besides`, from a table. Those in `least` are whole numbers from there on, others
    strings of rationals from 0 on, or above 0 where they are in `positive`. InputError for what is missing, unknown or out of
    range."""
    if not isinstance(table, Mapping):
        raise InputError(f"{where} is {table!r}; expected a table")
    entries = [entry for entry in fields(kind) if entry.name not in besides]
    names = {entry.name for entry in entries}
    needed = {entry.name for entry in entries if entry.default is MISSING}
    missing, unknown = sorted(needed - table.keys()), sorted(table.keys() - names)
    if missing or unknown:
        told = [f"{' and '.join(missing)} missing"] if missing else []
        told += [f"unknown: {', '.join(unknown)}"] if unknown else []
        raise InputError(f"{where}: {'; '.join(told)}; the fields, with their units, are {', '.join(sorted(names))}")
    return {name: _value(name, value, where, least, name in positive) for name, value in table.items()}


def _value(name: str, value: Any, where: str, least: Mapping[str, int], positive: bool) -> int | Fraction:
    if name in least:
        if type(value) is not int or value < least[name]:
            raise InputError(f"{where}: {name} is {value!r}; expected a whole number from {least[name]}")
        return value
    number = Fraction(value) if isinstance(value, str) and NUMBER.fullmatch(value) else None
    if number is None or (positive and not number):
        raise InputError(f'{where}: {name} is {value!r}; expected a string such as "6.4e-9", {"above" if positive else "from"} 0')
    return number
