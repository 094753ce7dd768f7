"""Joint schedules: each collective by the methods for one, with relays and without, and all of them merged.

Alone, a collective is fastest when all endpoints relay its data; together with others, often when none does. So both are made.
They are merged in several orders and compared with one collective after the other, which uses the fastest of each; the schedule
that ends first is kept, of these the one with the least sum of weighted ends.
"""

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree.api.parsing import Network, topology
from certree.api.settings import machine_for, silent
from certree.extras.joint.check.joint_bounds import Together
from certree.extras.joint.check.joint_checks import share_links, verify_joint
from certree.extras.joint.check.launches import check_launches, orders_of
from certree.extras.joint.make.choices import (
    FEWEST,
    RELAYS,
    Choice,
    at_any_timing,
    begin_of,
    choices_of,
    require_some_others,
    with_few,
    with_late,
)
from certree.extras.joint.make.joint_lengths import joint_bounds
from certree.extras.joint.make.merging import Jobs, Priority, merged
from certree.extras.joint.make.routed import is_late, require_right, with_joint_channels
from certree.extras.joint.model.collective_list import (
    CollectiveList,
    Entry,
    in_order,
    load_collectives,
    require_entry,
    require_no_others,
)
from certree.extras.joint.model.joint_schedule import JointSchedule, Launching, Part
from certree.models.common.errors import InputError, UnsupportedError, located, short, unknown_name
from certree.models.fine.rebooking import MAX_SLOTS
from certree.models.machine.machine import Machine
from certree.models.network.topology import Topology
from certree.models.relays import MEMBERS

Int64 = NDArray[np.int64]
_CHANGES = 8  # of one collective's schedule for another, for an effort of 1
_USES = 1 << 20  # of links and units, in all that is merged, for an effort of 1: half a minute


def joint(
    network: Network,
    collectives: str | Path | Sequence[Entry],
    *,
    machine: str | Path | Machine | None = None,
    effort: int = 1,
    seed: int = 0,
    relay: str | None = None,
    known: dict[Hashable, Any] | None = None,
    progress: Callable[[str], None] | None = None,
) -> JointSchedule:
    """A schedule for several collectives at once on one network: nothing meets on a link, and all ends early.

    Parameters
    ----------
    network : str, path or Topology
        As in `synthesize`.
    collectives : str, path or sequence of Entry
        A TOML file with a table `[[collective]]` for each (docs/explanation/joint.md), or the entries themselves.
    machine : str, path or Machine, optional
        As in `synthesize`.
    effort, seed : int
        As in `synthesize`, for each collective; the same arguments give the same schedule.
    relay : {"all", "members", "fewest"}, optional
        Who may relay the data of a collective: all endpoints, or its members alone; by default both are tried, where members reach
        each other without others. "fewest": members alone where they do, all where they do not.
    known : dict, optional
        Takes the schedules that are made, for further calls on the same network.
    progress : callable, optional
        Receives a line now and then.

    Returns
    -------
    JointSchedule
        Verified, with bounds. It is never slower than its collectives one after the other.

    Raises
    ------
    InputError
        For a file that is malformed, names that occur twice, collectives that wait for each other in a circle, launches that may
        deadlock, and, with members as the only relays, members that do not reach each other,
        or collectives in all of which all endpoints take part.
    UnsupportedError
        Where a collective has no schedule in fine slots, and where routers may spoil what is found: messages may wait for each
        other in a circle in more layers than the machine has virtual channels, or be late while a collective relies on slots.

    Examples
    --------
    >>> import certree.api as ct
    >>> pair = [ct.Entry("a", ct.collective("broadcast", 0), 1024), ct.Entry("b", ct.collective("broadcast", 1), 1024)]
    >>> made = ct.joint("ring:3", pair)
    >>> made.cycles < made.provenance["one_after_the_other_cycles"]
    True
    """
    tell = progress or silent
    of, choices, launching = choices_for(network, collectives, machine, effort, seed, relay, known, tell)
    tell("merging")
    best = _best(of, choices, effort)
    parts = with_joint_channels(JointSchedule(of.topology, of.machine, best.parts))
    if is_late(parts):
        tell("schedules that are right at any timing")
        choices = {
            entry.name: at_any_timing(of.topology, of.machine, entry, choices[entry.name], effort, seed) for entry in of.entries
        }
        best = _best(of, choices, effort)
        parts = with_joint_channels(JointSchedule(of.topology, of.machine, best.parts))
    tell("bounds")
    times = {name: [bound for choice in kept for bound in choice.bounds] for name, kept in choices.items()}
    bounds = joint_bounds(of, [part.schedule for part in best.parts], times)
    provenance = {
        "method": best.method,
        "one_after_the_other_cycles": of.machine.ni_start_cycles + best.sequence,
        "relays": {part.name: choices[part.name][best.chosen[part.name]].relay for part in best.parts},
    }
    found = replace(parts, bounds=tuple(bounds), provenance=provenance, launching=launching)
    require_right(verify_joint(found))
    return found


def choices_for(
    network: Network,
    collectives: str | Path | Sequence[Entry],
    machine: str | Path | Machine | None,
    effort: int,
    seed: int,
    relay: str | None,
    known: dict[Hashable, Any] | None,
    tell: Callable[[str], None],
) -> tuple[Together, Mapping[str, Sequence[Choice]], Launching | None]:
    """The collectives that are asked for on their network, and by name the schedules that each may have, the fastest first; and
    their launches, where they are stated. Arguments and errors as `joint`."""
    wanted = topology(network)
    if relay not in (None, *RELAYS, FEWEST):
        raise InputError(unknown_name("relay", str(relay), (*RELAYS, FEWEST)))
    if not isinstance(effort, int) or effort < 1:
        raise InputError(f"effort is {short(effort)}; allowed: 1 or more")
    relays = RELAYS if relay is None else (MEMBERS if relay == FEWEST else relay,)
    on = machine_for(wanted, machine, tell)
    launching = None
    if isinstance(collectives, str | Path):
        listed = load_collectives(Path(collectives), wanted, on)
        entries = listed.entries
        if listed.launches:
            launching = launching_of(wanted, listed, str(collectives))
    elif not isinstance(collectives, list | tuple):
        raise InputError(f"collectives are {short(collectives)}; allowed: a file, or a list of ct.Entry")
    else:
        for entry in collectives:
            require_entry(entry)
        entries = in_order(replace(entry, collective=entry.collective.fitted(wanted)) for entry in collectives)
    if relay == MEMBERS:
        require_some_others(wanted, entries)
    made: dict[Hashable, list[Choice]] = {} if known is None else known
    choices: dict[str, Sequence[Choice]] = {}
    for entry in entries:
        entry.require_members(wanted)
        if relay == MEMBERS:
            require_no_others(wanted, entry)
        key = wanted.digest, str(on), effort, seed, relays, entry.collective, entry.size
        if key not in made:
            tell(f"a schedule for {entry.name}")
            made[key] = choices_of(wanted, on, entry, effort, seed, relays)
        choices[entry.name] = with_late(wanted, on, entry, made[key], relays)
    if sum(min(choice.uses for choice in kept) for kept in choices.values()) > _USES * effort:
        tell("schedules of few transfers")
        for entry in entries:
            if min(choice.uses for choice in choices[entry.name]) > _USES * effort // len(entries):
                choices[entry.name] = with_few(wanted, on, entry, choices[entry.name], relays)
    return Together(wanted, on, entries), choices, launching


def launching_of(network: Topology, listed: CollectiveList, where: str) -> Launching:
    """The launches of a file, which messages call `where`, with an order in which all collectives end; InputError with the circle
    where they deadlock."""
    with located(where):
        verdict = check_launches(network, listed.stated, listed.launches, listed.contexts)
    if verdict.order is None:
        repair = f"launch in one order at all ranks, or with contexts = {verdict.enough}"
        raise InputError(f"{where}: launches may deadlock: {verdict.circle}; {repair}")
    orders = orders_of(network, listed.stated, listed.launches)
    return Launching(listed.contexts, {rank: tuple(names) for rank, names in orders.items()}, verdict.order)


@dataclass(frozen=True, eq=False)
class _Found:
    """Parts with how they were made: the number of each collective's choice. `sequence`: cycles of one after the other."""

    parts: tuple[Part, ...]
    method: str
    chosen: Mapping[str, int]
    sequence: int

    @property
    def key(self) -> tuple[int, int]:
        """When all has landed, and the weighted sum."""
        return max(part.landed for part in self.parts), sum(part.entry.weight * part.landed for part in self.parts)

    @property
    def last(self) -> str:
        """The collective that ends last."""
        return max(self.parts, key=lambda part: part.landed).name


def _best(of: Together, choices: Mapping[str, Sequence[Choice]], effort: int) -> _Found:
    """One after the other, or what is merged, whichever ends first; then with other schedules of those that end last."""
    entries = of.entries
    fastest = dict.fromkeys(choices, 0)
    best = one_after_the_other(entries, choices)
    alone = {name: next((n for n, one in enumerate(kept) if one.relay == MEMBERS), 0) for name, kept in choices.items()}
    longest = 0 if any(entry.late for entry in entries) else max(one.start + choices[one.name][0].cycles for one in entries)
    trials = _Trials(of, choices, best.sequence, _USES * effort)
    light = {name: _light(kept, _USES * effort // len(entries)) for name, kept in choices.items()}
    for chosen in (alone, fastest, *([] if light in (alone, fastest) else [light])):
        best = min(best, _side_by_side(entries, choices, chosen, best.sequence), key=lambda one: one.key)
        if best.key[0] > longest:
            best = trials.better(chosen, best)
    for _ in range(_CHANGES * effort if best.key[0] > longest else 0):
        changed = trials.better(_changed(best, choices), best)
        if changed is best:
            break
        best = changed
    return best


class _Trials:
    """Merged schedules, up to a number of `uses` of links and units in all."""

    def __init__(self, of: Together, choices: Mapping[str, Sequence[Choice]], sequence: int, uses: int) -> None:
        self.of, self.entries, self.choices, self.sequence, self.uses = of, of.entries, choices, sequence, uses
        self.has_parallel = len(of.topology.pair_capacity) < len(of.topology.src)
        self.slot = 1 + sequence // (MAX_SLOTS // 4)

    def better(self, chosen: Mapping[str, int], best: _Found) -> _Found:
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
            found = _Found(parts, method, chosen, self.sequence)
            if found.key < best.key and self._is_valid(parts):
                best = found
        return best

    def _is_valid(self, parts: tuple[Part, ...]) -> bool:
        """Whether messages that name one of parallel links and those that take any of them find lanes: both are booked by pair of
        nodes, which is not always enough."""
        return not self.has_parallel or share_links(JointSchedule(self.of.topology, self.of.machine, parts))


def _changed(found: _Found, choices: Mapping[str, Sequence[Choice]]) -> dict[str, int]:
    """The choices, with the next one of the collective that ends last."""
    return {**found.chosen, found.last: (found.chosen[found.last] + 1) % len(choices[found.last])}


def one_after_the_other(entries: Sequence[Entry], choices: Mapping[str, Sequence[Choice]]) -> _Found:
    """Each as it is alone, by its fastest schedule, or by the one that ends first with its late members: whichever ends earlier."""
    found = [_in_turn(entries, choices, dict.fromkeys(choices, 0))]
    if any(entry.late for entry in entries):
        soonest = {entry.name: _soonest(entry, choices[entry.name]) for entry in entries}
        found.append(_in_turn(entries, choices, soonest))
    return min(found, key=lambda one: one.key)


def _in_turn(entries: Sequence[Entry], choices: Mapping[str, Sequence[Choice]], chosen: Mapping[str, int]) -> _Found:
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
    return _Found(tuple(parts[entry.name] for entry in entries), "one after the other", chosen, now)


def _side_by_side(
    entries: Sequence[Entry], choices: Mapping[str, Sequence[Choice]], chosen: Mapping[str, int], sequence: int
) -> _Found:
    """Each as it is alone, behind those that it waits for and those before it that use one of its links or units.
    O(uses · collectives)."""
    parts: dict[str, Part] = {}
    taken = {name: np.unique(choices[name][number].jobs.places.resource) for name, number in chosen.items()}
    for entry in in_order(sorted(entries, key=lambda entry: entry.start)):
        meets = [other for other in parts if len(np.intersect1d(taken[other], taken[entry.name], assume_unique=True))]
        now = max([entry.start, *(parts[name].landed for name in {*entry.after, *meets})])
        choice = choices[entry.name][chosen[entry.name]]
        parts[entry.name] = Part(entry, begin_of(entry, choice, now), choice.jobs.schedule)
    return _Found(tuple(parts[entry.name] for entry in entries), "side by side", chosen, sequence)


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
