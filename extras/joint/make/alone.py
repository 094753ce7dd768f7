"""Collectives that know nothing of each other, each by a schedule that is fastest when it is alone, for comparisons with joint
schedules."""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from certree.api.parsing import Network
from certree.api.settings import silent
from certree.extras.joint.make.choices import Choice, at_any_timing, begin_of
from certree.extras.joint.make.combining import one_after_the_other
from certree.extras.joint.make.joining import choices_for
from certree.extras.joint.model.collective_list import Entry
from certree.extras.joint.model.joint_schedule import JointSchedule, Part
from certree.models.machine.machine import Machine


def alone(
    network: Network,
    collectives: str | Path | Sequence[Entry],
    *,
    machine: str | Path | Machine | None = None,
    effort: int = 1,
    seed: int = 0,
    any_timing: bool = False,
    known: dict[Hashable, Any] | None = None,
    progress: Callable[[str], None] | None = None,
) -> tuple[JointSchedule, JointSchedule]:
    """The collectives one after the other, and independent of each other: each as soon as it may start, though messages of several
    then meet; those that wait for others begin where `run_independent` sets them. Of the first each is after the one before it, so
    that runs say where that does not hold. `any_timing`: independent ones have a schedule
    that is right whatever is late, where there is one. Other arguments and errors as `joint`."""
    tell = progress or silent
    of, choices, _ = choices_for(network, collectives, machine, effort, seed, None, known, tell)
    in_turn = one_after_the_other(of.entries, choices)
    free: dict[Hashable, Sequence[Choice]] = {}
    parts = []
    for entry in of.entries:
        key = entry.collective, entry.size, entry.late
        if key not in free and any_timing:
            tell(f"a schedule for {entry.name} that is right at any timing")
            free[key] = at_any_timing(of.topology, of.machine, entry, choices[entry.name], effort, seed)
        parts.append(_soonest(entry, free.get(key, choices[entry.name])))
    return (
        JointSchedule(of.topology, of.machine, _chained(in_turn.parts), provenance={"method": in_turn.method}),
        JointSchedule(of.topology, of.machine, tuple(parts), provenance={"method": "independent"}),
    )


def _chained(parts: Sequence[Part]) -> tuple[Part, ...]:
    """Parts that follow each other in their order, each after the one that ends before it."""
    ordered = sorted(parts, key=lambda part: part.landed)
    found = ordered[:1]
    for before, part in pairwise(ordered):
        after = tuple(dict.fromkeys((*part.entry.after, before.name)))
        found.append(replace(part, entry=replace(part.entry, after=after)))
    return tuple(found)


def _soonest(entry: Entry, choices: Sequence[Choice]) -> Part:
    """The schedule of a collective that ends first when it is alone."""
    begins = [begin_of(entry, choice, entry.start) for choice in choices]
    number = min(range(len(choices)), key=lambda one: begins[one] + choices[one].cycles)
    return Part(entry, begins[number], choices[number].jobs.schedule)
