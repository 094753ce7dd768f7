"""Accelerators by name, from tables of workload files, and with fields that users change."""

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from fractions import Fraction
from typing import Any

from certree.extras.training.model.accelerators.accelerator import Accelerator
from certree.extras.training.model.accelerators.chips import Chip
from certree.extras.training.model.accelerators.systolic import SystolicArrays
from certree.models.common.errors import InputError, short, unknown_name
from certree.models.common.fields import Fields, Limits
from certree.models.common.presets import Presets

FORMAT, VERSION = "certree-accelerator", 1
ACCELERATORS = Presets("certree.extras.training.model.accelerators", "presets", "accelerator")
NAME = "name"  # of the accelerator, among the changes
_OF_CHIPS = ("efficiency", "batch", "element_bytes")  # fields that users change
_SIZES, _RATES = (1, 2, 4, 8), Limits(10**6, 10**18)
_LEAST = Fraction(1, 1000)  # efficiency


def load_chip(name: str) -> Chip:
    """The chip of a preset or a TOML file; InputError names the field, and for unknown names the nearest."""
    found = Fields.of_format(ACCELERATORS.load(name), FORMAT, VERSION, name)
    peaks = found.table_of("operations_per_second").only(optional=map(str, _SIZES))
    rates = {size: peaks.exact(str(size), _RATES) for size in _SIZES if str(size) in peaks}
    if not rates:
        found.refuse("operations_per_second has no peak; expected one by the bytes of a number, such as 2")
    memory, title = found.exact("memory_bytes_per_second", _RATES), found.text("name")
    found.texts("sources")
    found.done()
    return Chip(title, memory, rates, element_bytes=2 if 2 in rates else min(rates))


def parse_accelerator(texts: str | Sequence[str] | Mapping[str, str] | None) -> dict[str, str]:
    """The changes that texts such as `h100`, `batch=8` name, by field; the name of an accelerator is that of `name`. InputError."""
    listed = [texts] if isinstance(texts, str) else texts or ()
    values = listed.values() if isinstance(listed, Mapping) else listed
    if not isinstance(listed, Mapping | Sequence) or not all(isinstance(one, str) for one in (*listed, *values)):
        raise InputError(f"accelerator {short(texts)}: expected texts such as 'h100' and 'batch=8', or a mapping of texts")
    if isinstance(listed, Mapping):
        listed = [f"{field}={value}" for field, value in listed.items()]
    found: dict[str, str] = {}
    for text in listed:
        field, equals, value = text.partition("=")
        field, value = (field, value) if equals else (NAME, text)
        if not (field and value):
            raise InputError(f"accelerator {text!r}: expected a name such as h100, or FIELD=VALUE")
        if field in found:
            raise InputError(f"accelerator: {field} is given twice")
        found[field] = value
    return found


def read_accelerator(table: Any, changed: Mapping[str, str], where: str) -> Accelerator:
    """The accelerator that `changed` names, or else that of a table of a file, with the other fields of `changed`; InputError.

    A table names an accelerator by `name`, or states systolic arrays. An accelerator that `changed` names computes the batch of the
    table, on numbers of the size that the table states.
    """
    stated = Fields(table, f"{where}: accelerator")
    if NAME not in changed and NAME not in stated:
        return _systolic(stated.read(SystolicArrays), dict(changed), where)
    if NAME in stated:
        stated.only(NAME, optional=_OF_CHIPS)
    kept = _OF_CHIPS if NAME in stated else ("batch", "element_bytes")
    known = {name: str(stated.table[name]) for name in kept if name in stated.table}
    chip = load_chip(changed.get(NAME) or stated.text(NAME))
    return _chip(chip, known | {name: value for name, value in changed.items() if name != NAME}, where)


def _systolic(base: SystolicArrays, values: dict[str, Any], where: str) -> SystolicArrays:
    _require_known(values, [entry.name for entry in fields(SystolicArrays)])
    if values.get("double_buffered") in ("true", "false"):
        values["double_buffered"] = values["double_buffered"] == "true"
    return replace(base, **Fields(values, f"{where}: accelerator", quotes_optional=True).values(SystolicArrays))


def _chip(base: Chip, values: Mapping[str, str], where: str) -> Chip:
    _require_known(values, _OF_CHIPS)
    entry = Fields(values, f"{where}: accelerator", quotes_optional=True)
    efficiency = entry.exact("efficiency") if "efficiency" in values else base.efficiency
    if not _LEAST <= efficiency <= 1:
        entry.refuse(f"efficiency is {values['efficiency']}; expected a share of the peak from 1/1000 to 1")
    batch = entry.whole("batch", 1, default=base.batch)
    return replace(
        base, efficiency=efficiency, batch=batch, element_bytes=entry.whole("element_bytes", 1, default=base.element_bytes)
    )


def _require_known(values: Mapping[str, str], known: Sequence[str]) -> None:
    unknown = next((name for name in values if name not in known), None)
    if unknown is not None:
        raise InputError(unknown_name("accelerator field", unknown, sorted(known)))
