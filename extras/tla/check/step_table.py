"""Counterexamples of models that print no legend: the changes of each step, variable by variable."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from certree.extras.tla.check.tlc import State

MAX_STEPS = 60
_HEADS = ("step", "what changed")


def table_of_changes(trace: Sequence[State]) -> str:
    """One line per step, with its changes; the first line is the start. Steps before the last MAX_STEPS are left out, and the table
    says so. Empty without a trace."""
    if not trace:
        return ""
    rows = [("0", "the start")]
    for number, (before, after) in enumerate(pairwise(trace), 1):
        found = [change for name in after for change in _changes(name, before[name], after[name])]
        rows.append((str(number), "; ".join(found) or "nothing"))
    lines = [f"{step:<4}  {what}" for step, what in [_HEADS, *rows[-MAX_STEPS:]]]
    if len(rows) > MAX_STEPS:
        lines.insert(1, f"... {len(rows) - MAX_STEPS} earlier lines")
    return "\n".join(lines) + "\n"


def _changes(place: str, old: Any, new: Any) -> Iterator[str]:
    """The differences between two values, each with its place within them."""
    if old == new:
        return
    if isinstance(old, Mapping) and isinstance(new, Mapping) and old.keys() == new.keys():
        for key in new:
            yield from _changes(f"{place}[{_text(key, in_set=True)}]", old[key], new[key])
    elif isinstance(old, tuple) and isinstance(new, tuple) and len(old) == len(new):
        for number, (before, after) in enumerate(zip(old, new, strict=True), 1):
            yield from _changes(f"{place}[{number}]", before, after)
    elif isinstance(old, frozenset) and isinstance(new, frozenset):
        gone = sorted(f"without {_text(member, in_set=True)}" for member in old - new)
        come = sorted(f"with {_text(member, in_set=True)}" for member in new - old)
        yield f"{place} {', '.join(gone + come)}"
    else:
        yield f"{place} {_text(old)} -> {_text(new)}"


def _text(value: Any, *, in_set: bool = False) -> str:
    """A value in TLC's notation; strings without quotes. Within sets, and as arguments, records are pairs of field and value."""
    if in_set and isinstance(value, tuple) and value and all(_is_field(pair) for pair in value):
        value = dict(value)
    if isinstance(value, Mapping):
        return f"[{', '.join(f'{_text(key)} |-> {_text(member, in_set=in_set)}' for key, member in value.items())}]"
    if isinstance(value, frozenset):
        return f"{{{', '.join(sorted(_text(member, in_set=True) for member in value))}}}"
    if isinstance(value, tuple):
        return f"<<{', '.join(_text(member, in_set=in_set) for member in value)}>>"
    return str(value)


def _is_field(pair: Any) -> bool:
    return isinstance(pair, tuple) and len(pair) == 2 and isinstance(pair[0], str)
