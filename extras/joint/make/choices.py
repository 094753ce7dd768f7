"""The schedules that a joint schedule may be made of: each collective by the methods for one, with relays and without."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree.api.synthesis import synthesize
from certree.extras.joint.make.late_ranks import early_first
from certree.extras.joint.make.merging import Jobs, in_equal_slots
from certree.extras.joint.model.collective_list import Entry, can_do_without_others
from certree.models.common.columns import numbered
from certree.models.common.errors import InputError, UnsupportedError
from certree.models.fine.fine_tolerance import tolerates
from certree.models.fine.rebooking import with_guards
from certree.models.forms.lowerings.to_one_iteration import ToOneIteration
from certree.models.machine.machine import Machine
from certree.models.network.topology import Topology
from certree.models.relays import ALL, MEMBERS, relayed
from certree.models.schedule.collective import CollectiveKind
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.symmetric.symmetric_schedule import AnySchedule, written_out
from certree.verify.order.races import race_of

Int64 = NDArray[np.int64]
RELAYS = (ALL, MEMBERS)
#: members alone where they reach each other, all where they do not
FEWEST = "fewest"
_PAIRWISE: dict[str, Any] = {"method": "direct", "options": {"steps": "by-distance"}}
_DIRECT = CollectiveKind.ALL_REDUCE, CollectiveKind.REDUCE_SCATTER, CollectiveKind.ALL_GATHER, CollectiveKind.ALL_TO_ALL
_KEPT = 3  # schedules of a collective with late members
_REBOOKED = 1 << 15  # transfers


@dataclass(frozen=True, eq=False)
class Choice:
    """A schedule of a collective in fine slots on the whole network; `relay`: who may relay its data. `bounds`: those
    on the time of its run that its certificate has for the whole network."""

    relay: str
    jobs: Jobs
    bounds: Sequence[Mapping[str, Any]] = ()

    @property
    def uses(self) -> int:
        """How often its transfers take a link or a unit."""
        return len(self.jobs.places.row)

    @property
    def cycles(self) -> int:
        """The number of cycles from its first slot until all has landed."""
        return self.jobs.times.cycles - self.jobs.times.machine.ni_start_cycles


def require_some_others(network: Topology, entries: Sequence[Entry]) -> None:
    """Raise InputError where all endpoints take part in every collective, so that there are no relays to leave out."""
    if all(entry.collective.fitted(network).members is None for entry in entries):
        raise InputError(f"relay {MEMBERS}: all endpoints take part in every collective; name the members of one")


def choices_of(network: Topology, machine: Machine, entry: Entry, effort: int, seed: int, relays: Sequence[str]) -> list[Choice]:
    """The schedules of a collective, the fastest first."""
    found, error = [], None
    for relay in relays if can_do_without_others(network, entry) else RELAYS[:1]:
        try:
            made = synthesize(network, entry.collective, size=entry.size, machine=machine, relay=relay, effort=effort, seed=seed)
            bounds = (made.certificate or {}).get("time", {}).get("bounds", []) if made.topology is network else []
            found.append(Choice(relay, Jobs.of(_on(network, made, entry, machine)), bounds))
        except UnsupportedError as refused:
            error = refused
    if not found:
        raise UnsupportedError(f"{entry.name}: {error}")
    return sorted(found, key=lambda choice: choice.cycles)


def with_few(
    network: Topology, machine: Machine, entry: Entry, choices: Sequence[Choice], relays: Sequence[str]
) -> Sequence[Choice]:
    """The choices of a collective and, where it has one, a schedule of few transfers, which is quickly merged: everyone sends to
    everyone else, in as many steps as there are others."""
    if entry.collective.kind not in _DIRECT or entry.late:
        return choices
    for relay in reversed(relays) if can_do_without_others(network, entry) else RELAYS[:1]:
        with suppress(UnsupportedError):
            made = synthesize(network, entry.collective, size=entry.size, machine=machine, relay=relay, **_PAIRWISE)
            return [*choices, Choice(relay, Jobs.of(_on(network, made, entry, machine)))]
    return choices


def at_any_timing(
    network: Topology,
    machine: Machine,
    entry: Entry,
    choices: Sequence[Choice],
    effort: int,
    seed: int,
    relays: Sequence[str] = RELAYS,
) -> Sequence[Choice]:
    """The schedules of a collective that are right whenever messages arrive, the fastest first, of these or, where none is, of
    those for paced runs; all of these where there is none at all. Late rows of others may read what should have come later."""
    kept = [choice for choice in choices if race_of(choice.jobs.schedule) is None]
    for relay in () if kept else relays if can_do_without_others(network, entry) else RELAYS[:1]:
        with suppress(UnsupportedError):
            made = synthesize(
                network, entry.collective, size=entry.size, machine=machine, run="paced", relay=relay, effort=effort, seed=seed
            )
            jobs = Jobs.of(_on(network, made, entry, machine))
            kept += [Choice(relay, jobs)] if race_of(jobs.schedule) is None else []
    return sorted(kept, key=lambda choice: choice.cycles) or choices


def with_late(
    network: Topology, machine: Machine, entry: Entry, choices: Sequence[Choice], relays: Sequence[str]
) -> Sequence[Choice]:
    """The choices of a collective with late members, with the best of those in which the others add up first."""
    if not entry.late:
        return choices
    others = []
    for relay in relays if can_do_without_others(network, entry) else RELAYS[:1]:
        part, collective = relayed(network, entry.collective, relay)
        for schedule in early_first(part, machine, replace(entry, collective=collective)):
            try:
                others.append(Choice(relay, Jobs.of(schedule if part is network else moved(schedule, network, entry))))
            except UnsupportedError:  # links in another unit
                break
    others.sort(key=lambda choice: begin_of(entry, choice, 0) + choice.cycles)
    return [*choices, *others[:_KEPT]]


def begin_of(entry: Entry, choice: Choice, now: int) -> int:
    """The first cycle in which the unchanged schedule of a collective can begin: none of its members is asked to send earlier."""
    times = choice.jobs.times
    return max(now - int(times.fire.min(initial=0)), int((choice.jobs.releases(entry) - times.fire).max(initial=0)), 0)


def _on(network: Topology, made: AnySchedule, entry: Entry, machine: Machine) -> Schedule:
    """A schedule on all of the network, in fine slots, one iteration; of more than _REBOOKED transfers in slots that are as long as
    its steps, where nothing meets in these. UnsupportedError where its part of the network counts links
    in another unit."""
    one = ToOneIteration().apply(written_out(made))
    if one.topology is not network:
        one = moved(one, network, entry)
    if one.transfers > _REBOOKED and not one.has_fine_slots:
        quick = in_equal_slots(one, entry.size, machine)
        if tolerates(quick, 0):
            return quick
    return with_guards(one, entry.size, machine, 0)


def moved(schedule: Schedule, network: Topology, entry: Entry) -> Schedule:
    """A schedule on a network without some endpoints, on the network with them. UnsupportedError for links in another unit."""
    part = schedule.topology
    number = _link_numbers(part, network)
    same = part.scale == network.scale and np.array_equal(part.capacity, network.capacity[number])
    if not same or part.rates is not None:
        raise UnsupportedError(f"{part.name} counts links in another unit than {network.name}")
    routes = tuple(tuple(number[list(route)].tolist()) for route in schedule.routes)
    collective = entry.collective.fitted(network)
    return replace(schedule, topology=network, collective=collective, routes=routes, certificate=None)


def _link_numbers(part: Topology, network: Topology) -> Int64:
    """The number in the network of each link of a part of it; parallel links in their order."""
    width = len(network.kind)

    def keys(of: Topology) -> tuple[Int64, Int64]:
        pair = of.src.astype(np.int64) * width + of.dst
        return pair, numbered(pair)

    (pair, place), (wide, inner) = keys(part), keys(network)
    order = np.lexsort((inner, wide))
    found: Int64 = order[np.searchsorted(wide[order], pair) + place]
    return found
