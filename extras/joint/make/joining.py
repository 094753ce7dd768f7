"""Joint schedules: each collective by the methods for one, with relays and without, and all of them merged.

Alone, a collective is fastest when all endpoints relay its data; together with others, often when none does. So both are made.
They are merged in several orders and compared with one collective after the other, which uses the fastest of each; the schedule
that ends first is kept, of these the one with the least sum of weighted ends.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from certree.api.parsing import Network, topology
from certree.api.settings import machine_for, silent
from certree.extras.joint.check.joint_bounds import Together
from certree.extras.joint.check.joint_checks import verify_joint
from certree.extras.joint.check.launches import check_launches, orders_of
from certree.extras.joint.make.choices import (
    FEWEST,
    RELAYS,
    Choice,
    at_any_timing,
    choices_of,
    require_some_others,
    with_few,
    with_late,
)
from certree.extras.joint.make.combining import Found, best_of, one_after_the_other, others_of
from certree.extras.joint.make.joint_lengths import joint_bounds
from certree.extras.joint.make.routed import is_right, require_right, with_joint_channels
from certree.extras.joint.model.collective_list import (
    CollectiveList,
    Entry,
    in_order,
    load_collectives,
    require_entry,
    require_no_others,
)
from certree.extras.joint.model.joint_schedule import JointSchedule, Launching
from certree.models.common.errors import InputError, located, short, unknown_name
from certree.models.machine.machine import Machine
from certree.models.network.topology import Topology
from certree.models.relays import MEMBERS

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
        Receives lines of progress.

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
    tried = _best(of, choices, effort, seed, _relays(relay), tell)
    best, choices = tried.found, tried.choices
    tell("bounds")
    times = {name: [bound for choice in kept for bound in choice.bounds] for name, kept in choices.items()}
    bounds = joint_bounds(of, [part.schedule for part in best.parts], times)
    provenance = {
        "method": best.method,
        "one_after_the_other_cycles": of.machine.ni_start_cycles + best.sequence,
        "relays": {part.name: choices[part.name][best.chosen[part.name]].relay for part in best.parts},
    }
    found = replace(tried.joint, bounds=tuple(bounds), provenance=provenance, launching=launching)
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
    relays = _relays(relay)
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


def _relays(relay: str | None) -> tuple[str, ...]:
    """The choices of relays that are tried."""
    return RELAYS if relay is None else (MEMBERS if relay == FEWEST else relay,)


@dataclass(frozen=True, eq=False)
class _Tried:
    """A combination of `choices`; `joint`: with virtual channels for all collectives; `is_right`: whether no router spoils it."""

    found: Found
    choices: Mapping[str, Sequence[Choice]]
    joint: JointSchedule
    is_right: bool

    @classmethod
    def of(cls, together: Together, choices: Mapping[str, Sequence[Choice]], found: Found) -> "_Tried":
        joined = with_joint_channels(JointSchedule(together.topology, together.machine, found.parts))
        return cls(found, choices, joined, is_right(joined))


def _best(
    of: Together,
    choices: Mapping[str, Sequence[Choice]],
    effort: int,
    seed: int,
    relays: Sequence[str],
    tell: Callable[[str], None],
) -> _Tried:
    """The best combination. Where routers spoil it: one after the other, or the best of those that are right at any timing; where
    they spoil these, too, the best of further ones, or the first one, which is refused, if there is none."""
    uses = _USES * effort
    first = _Tried.of(of, choices, best_of(of, choices, effort, uses))
    if first.is_right:
        return first
    tell("schedules that are right at any timing")
    free = {
        entry.name: at_any_timing(of.topology, of.machine, entry, choices[entry.name], effort, seed, relays) for entry in of.entries
    }
    tried = [
        _Tried.of(of, choices, one_after_the_other(of.entries, choices)),
        _Tried.of(of, free, best_of(of, free, effort, uses)),
        _Tried.of(of, free, one_after_the_other(of.entries, free)),
    ]
    right = [one for one in tried if one.is_right]
    for kept in () if right else (choices, free):
        tell("other combinations")
        right += [one for one in (_Tried.of(of, kept, found) for found in others_of(of, kept, effort, uses)) if one.is_right]
    if not right:
        return first
    best = min(right, key=lambda one: one.found.key)
    return replace(best, found=replace(best.found, sequence=min(one.found.sequence for one in right)))


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
