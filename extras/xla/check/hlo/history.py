"""The history of a block: the operations that made it, told by a second execution that records every move."""

from collections.abc import Iterable

from certree.extras.runtimes.check.sums import Value
from certree.extras.runtimes.model.layout import Cell, Layout, Part
from certree.extras.xla.check.hlo.devices import Executed, executed
from certree.extras.xla.check.hlo.events import Kind
from certree.extras.xla.check.hlo.values import Values
from certree.extras.xla.model.hlo import HloModule

MOST_TOLD = 32


def history(module: HloModule, layout: Layout, cell: Cell, before: Executed) -> tuple[str, ...]:
    """The operations that made a block of a result, the last one first, each with the places of what computed its indices. Of two
    summands the one is followed that has what is not due, or lacks more. `before`: the execution that found the block wrong."""
    done = executed(module, everything=True, grain=before.grain, folds=before.turns is not None, turns=before.turns)
    values, due = Values(done), layout.due(cell[0])[cell[2]]
    (device,) = [at for at, rank in enumerate(done.rank.tolist()) if rank == cell[0]]
    event, found = int(done.outputs[device, cell[2]]), list[str]()
    while len(found) < MOST_TOLD:
        batch, at = done.events.batch(event)
        if batch.operation is not None:
            from_where = f" (indices and conditions from {places_words(batch.sources)})" if batch.sources else ""
            found.append(f"{batch.words()}{from_where}")
        if batch.kind <= Kind.INPUT:
            break
        event = int(batch.one[at])
        if batch.kind is Kind.SUM:
            event = max((event, int(batch.two[at])), key=lambda one: _wrong(values.by_event[one], due))
    return tuple(found)


def _wrong(value: Value, due: frozenset[Part]) -> tuple[bool, int, int]:
    """How wrong a summand is: whether it has a fault, how much it has that is not due, how much it lacks."""
    return bool(value.fault), len(value.parts - due), len(due - value.parts)


def places_words(places: Iterable[str]) -> str:
    """Places in words; lines as ranges, such as `lines 6-11, 24`."""
    lines = sorted(int(one[5:]) for one in places if one.startswith("line "))
    others = sorted(one for one in places if not one.startswith("line "))
    ranges: list[list[int]] = []
    for line in lines:
        if ranges and ranges[-1][1] == line - 1:
            ranges[-1][1] = line
        else:
            ranges.append([line, line])
    words = ", ".join(f"{first}-{last}" if last > first else str(first) for first, last in ranges)
    return ", ".join([f"lines {words}"] * bool(lines) + others)


def history_words(found: tuple[str, ...]) -> str:
    """The last operations in words, those that change what a block is."""
    words = [one.partition(" (")[0] for one in found]
    named = [one for one, before in zip(words, [*words[1:], ""], strict=True) if not _is_told_apart(one, before)]
    return f"made by {named[0]}{''.join(f', after {one}' for one in named[1:4])}" if named else "it is an input"


def _is_told_apart(one: str, before: str) -> bool:
    """Whether an operation changes the shape alone, or is a loop in which what came before happened."""
    where, _, name = one.partition(": ")
    return name.startswith(_SHAPES) or (name.startswith("stablehlo.while") and f" of {where}" in before)


_SHAPES = ("stablehlo.reshape", "stablehlo.transpose", "stablehlo.broadcast_in_dim")
