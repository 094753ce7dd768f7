"""Combinations of schedules: one of each collective, one after the other, side by side, or merged in several orders."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from certree.extras.joint.check.joint_bounds import Together
from certree.extras.joint.check.joint_checks import share_links
from certree.extras.joint.make.choices import Choice, begin_of
from certree.extras.joint.make.merging import Jobs, Priority, merged
from certree.extras.joint.model.collective_list import Entry, in_order
from certree.extras.joint.model.joint_schedule import JointSchedule, Part
from certree.models.common.errors import UnsupportedError
from certree.models.fine.rebooking import MAX_SLOTS
from certree.models.relays import MEMBERS

Int64 = NDArray[np.int64]
_CHANGES = 8  # of one collective's schedule for another, for an effort of 1
_OTHERS = 32  # combinations, where routers spoil the best one


@dataclass(frozen=True, eq=False)
class Found:
    """Parts with how they were made: the number of each collective's choice. `sequence`: cycles of one after the other."""

    parts: tuple[Part, ...]
    method: str
    chosen: Mapping[str, int]
    sequence: int

    @property
    def key(self) -> tuple[int, int]:
        """The cycle in which all has landed, and the weighted sum of ends."""
        return max(part.landed for part in self.parts), sum(part.entry.weight * part.landed for part in self.parts)

    @property
    def last(self) -> str:
        """The collective that ends last."""
        return max(self.parts, key=lambda part: part.landed).name


def best_of(of: Together, choices: Mapping[str, Sequence[Choice]], effort: int, uses: int) -> Found:
    """One after the other, or what is merged, whichever ends first; then with other schedules of those that end last. `uses`: of
    links and units, in all that is merged."""
    entries = of.entries
    fastest = dict.fromkeys(choices, 0)
    best = one_after_the_other(entries, choices)
    alone = {name: next((n for n, one in enumerate(kept) if one.relay == MEMBERS), 0) for name, kept in choices.items()}
    longest = 0 if any(entry.late for entry in entries) else max(one.start + choices[one.name][0].cycles for one in entries)
    trials = Trials(of, choices, best.sequence, uses)
    light = {name: _light(kept, uses // len(entries)) for name, kept in choices.items()}
    for chosen in (alone, fastest, *([] if light in (alone, fastest) else [light])):
        best = min(best, side_by_side(entries, choices, chosen, best.sequence), key=lambda one: one.key)
        if best.key[0] > longest:
            best = trials.better(chosen, best)
    for _ in range(_CHANGES * effort if best.key[0] > longest else 0):
        changed = trials.better(_changed(best, choices), best)
        if changed is best:
            break
        best = changed
    return best


class Trials:
    """Merged schedules, up to a number of `uses` of links and units in all."""

    def __init__(self, of: Together, choices: Mapping[str, Sequence[Choice]], sequence: int, uses: int) -> None:
        self.of, self.entries, self.choices, self.sequence, self.uses = of, of.entries, choices, sequence, uses
        self.has_parallel = len(of.topology.pair_capacity) < len(of.topology.src)
        self.slot = 1 + sequence // (MAX_SLOTS // 4)

    def better(self, chosen: Mapping[str, int], best: Found) -> Found:
        """The best of what there is and of these choices, merged in each order for which there is time."""
        jobs = {name: self.choices[name][number].jobs for name, number in chosen.items()}
        each = sum(len(one.places.row) for one in jobs.values())
        for method, priority in _priorities(self.entries, jobs):
            if each > self.uses:
                break
            self.uses -= each
            try:
                parts = merged(self.entries, jobs, self.slot, priority)
            except UnsupportedError:
                continue
            found = Found(parts, method, chosen, self.sequence)
            if found.key < best.key and self._is_valid(parts):
                best = found
        return best

    def _is_valid(self, parts: tuple[Part, ...]) -> bool:
        """Whether messages that name one of parallel links and those that take any of them find lanes: both are booked by pair of
        nodes, which is not always enough."""
        return not self.has_parallel or share_links(JointSchedule(self.of.topology, self.of.machine, parts))


def _changed(found: Found, choices: Mapping[str, Sequence[Choice]]) -> dict[str, int]:
    """The choices, with the next one of the collective that ends last."""
    return {**found.chosen, found.last: (found.chosen[found.last] + 1) % len(choices[found.last])}


def one_after_the_other(entries: Sequence[Entry], choices: Mapping[str, Sequence[Choice]]) -> Found:
    """Each as it is alone, by its fastest schedule, or by the one that ends first with its late members: whichever ends earlier."""
    found = [in_turn(entries, choices, dict.fromkeys(choices, 0))]
    if any(entry.late for entry in entries):
        soonest = {entry.name: _soonest(entry, choices[entry.name]) for entry in entries}
        found.append(in_turn(entries, choices, soonest))
    return min(found, key=lambda one: one.key)


def in_turn(entries: Sequence[Entry], choices: Mapping[str, Sequence[Choice]], chosen: Mapping[str, int]) -> Found:
    """Always the one that may start first, of those that wait for none of the others that are left. O(collectives^2)."""
    parts: dict[str, Part] = {}
    now, left = 0, list(entries)
    while left:
        ready = [entry for entry in left if all(name in parts for name in entry.after)]
        entry = min(ready, key=lambda entry: entry.start)
        left.remove(entry)
        choice = choices[entry.name][chosen[entry.name]]
        parts[entry.name] = Part(entry, begin_of(entry, choice, max(now, entry.start)), choice.jobs.schedule)
        now = max(now, parts[entry.name].landed)
    return Found(tuple(parts[entry.name] for entry in entries), "one after the other", chosen, now)


def others_of(of: Together, choices: Mapping[str, Sequence[Choice]], effort: int, uses: int) -> Iterator[Found]:
    """Further combinations, each one after the other and at its best: the same number of choice for all, and another one for each
    collective by itself. At most _OTHERS for an effort of 1, and of `uses` of links and units in all that is merged."""
    first = dict.fromkeys(choices, 0)
    most = max(len(kept) for kept in choices.values())
    same = [{name: min(number, len(kept) - 1) for name, kept in choices.items()} for number in range(most)]
    one_more = [{**first, name: number} for name, kept in choices.items() for number in range(1, len(kept))]
    for chosen in (same + one_more)[: _OTHERS * effort]:
        turn = in_turn(of.entries, choices, chosen)
        yield turn
        trials = Trials(of, choices, turn.sequence, uses)
        best = trials.better(chosen, min(turn, side_by_side(of.entries, choices, chosen, turn.sequence), key=lambda one: one.key))
        uses = trials.uses
        if best is not turn:
            yield best


def side_by_side(
    entries: Sequence[Entry], choices: Mapping[str, Sequence[Choice]], chosen: Mapping[str, int], sequence: int
) -> Found:
    """Each as it is alone, behind those that it waits for and those before it that use one of its links or units.
    O(uses · collectives)."""
    parts: dict[str, Part] = {}
    taken = {name: np.unique(choices[name][number].jobs.places.resource) for name, number in chosen.items()}
    for entry in in_order(sorted(entries, key=lambda entry: entry.start)):
        meets = [other for other in parts if len(np.intersect1d(taken[other], taken[entry.name], assume_unique=True))]
        now = max([entry.start, *(parts[name].landed for name in {*entry.after, *meets})])
        choice = choices[entry.name][chosen[entry.name]]
        parts[entry.name] = Part(entry, begin_of(entry, choice, now), choice.jobs.schedule)
    return Found(tuple(parts[entry.name] for entry in entries), "side by side", chosen, sequence)


def _light(choices: Sequence[Choice], most: int) -> int:
    """The fastest choice with at most N uses of links and units, else the one with the fewest."""
    return min(range(len(choices)), key=lambda number: (max(0, choices[number].uses - most), choices[number].cycles))


def _soonest(entry: Entry, choices: Sequence[Choice]) -> int:
    """The choice that ends first with its late members, of schedules as they are."""
    return min(range(len(choices)), key=lambda number: begin_of(entry, choices[number], 0) + choices[number].cycles)


def _priorities(entries: Sequence[Entry], jobs: Mapping[str, Jobs]) -> Iterator[tuple[str, Priority]]:
    """Orders of all transfers, by name."""
    cycles = {name: one.times.cycles for name, one in jobs.items()}
    number = {entry.name: place for place, entry in enumerate(entries)}
    rank = {name: place for place, name in enumerate(sorted(number, key=lambda name: (-cycles[name], number[name])))}

    def fire(entry: Entry) -> Int64:
        return jobs[entry.name].times.fire

    yield "as alone", lambda entry, _: entry.start + fire(entry)
    yield "longest rest first", lambda entry, _: fire(entry) - cycles[entry.name]
    yield "in proportion", lambda entry, _: fire(entry) * (1 << 20) // cycles[entry.name]
    yield "by weight", lambda entry, _: fire(entry) // entry.weight
    yield "longest first", lambda entry, _: np.full(len(fire(entry)), rank[entry.name], np.int64)
    yield "in the order of the list", lambda entry, _: np.full(len(fire(entry)), number[entry.name], np.int64)
