"""Accelerators by name, from tables of workload files, and with fields that users change."""

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from functools import cache
from typing import Any

from certree.extras.training.model.accelerators.accelerator import Accelerator
from certree.extras.training.model.accelerators.chips import Chip
from certree.extras.training.model.accelerators.systolic import SystolicArrays
from certree.models.common.errors import InputError, unknown_name
from certree.models.common.fields import ABOVE_ZERO, Fields
from certree.models.common.presets import Presets

FORMAT, VERSION = "certree-accelerator", 1
ACCELERATORS = Presets("certree.extras.training.model.accelerators", "presets", "accelerator")
NAME = "name"  # of the accelerator, among the changes
_OF_CHIPS = ("efficiency", "batch", "element_bytes")  # fields that users change


@cache
def load_chip(name: str) -> Chip:
    """The chip of a preset or a TOML file; InputError names the field, and for unknown names the nearest."""
    found = Fields.of_format(ACCELERATORS.load(name), FORMAT, VERSION, name)
    peaks = found.table_of("operations_per_second")
    sizes = {text: int(text) for text in peaks.table if text.isascii() and text.isdigit() and len(text) < 3}
    rates = {size: peaks.exact(text, ABOVE_ZERO) for text, size in sizes.items()}
    peaks.done()
    if not rates:
        found.refuse("operations_per_second has no peak; expected one by the bytes of a number, such as 2")
    memory, title = found.exact("memory_bytes_per_second", ABOVE_ZERO), found.text("name")
    found.texts("sources")
    found.done()
    return Chip(title, memory, rates, element_bytes=2 if 2 in rates else min(rates))


def parse_accelerator(texts: str | Sequence[str] | Mapping[str, str] | None) -> dict[str, str]:
    """The changes that texts such as `h100`, `batch=8` name, by field; the name of an accelerator is that of `name`. InputError."""
    if texts is None or isinstance(texts, Mapping):
        return dict(texts or {})
    found: dict[str, str] = {}
    for text in [texts] if isinstance(texts, str) else texts:
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
    efficiency = entry.exact("efficiency", ABOVE_ZERO) if "efficiency" in values else base.efficiency
    if efficiency > 1:
        entry.refuse(f"efficiency is {values['efficiency']}; expected a share of the peak above 0 and at most 1")
    batch = entry.whole("batch", 1, default=base.batch)
    return replace(
        base, efficiency=efficiency, batch=batch, element_bytes=entry.whole("element_bytes", 1, default=base.element_bytes)
    )


def _require_known(values: Mapping[str, str], known: Sequence[str]) -> None:
    unknown = next((name for name in values if name not in known), None)
    if unknown is not None:
        raise InputError(unknown_name("accelerator field", unknown, sorted(known)))
