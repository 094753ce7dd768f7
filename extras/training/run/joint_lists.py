"""Lists of collectives for joint schedules: those of an iteration of training, of all groups."""

import math
from collections import Counter
from dataclasses import replace

from certree.api.reports.text import one_line
from certree.extras.joint.model.collective_list import MOST, Entry
from certree.extras.training.model.queue import Asked
from certree.extras.training.model.training import train
from certree.extras.training.run.runs import TrainingRun
from certree.extras.training.run.settings import Settings, Timing
from certree.extras.training.run.timers import Timers, collective_among
from certree.models.common.errors import InputError

_LETTERS = 40  # of a layer in the name of a collective


def joint_list(run: TrainingRun) -> list[Entry]:
    """The collectives of one iteration of a training run, for `ct.joint`: of each group all its groups of ranks.

    A collective may start when the accelerators would ask for it if no collective took any time, and is `after` those whose results
    they need before that. A group has the endpoints that `train` was given, or all.

    Parameters
    ----------
    run : TrainingRun
        What `train` returned.

    Returns
    -------
    list of Entry

    Raises
    ------
    InputError
        For groups with networks of their own, for an alltoallv, and for more than MOST collectives.

    Examples
    --------
    >>> import certree.api as ct
    >>> run = ct.train("transformer:layers=1,width=64,heads=4,sequence=64,tensor=2,data=2", "ring:4", method="ring")
    >>> [entry.name for entry in ct.joint_list(run)][:2]
    ['0.projection forward tensor 0', '0.projection forward tensor 1']
    """
    settings = run.settings
    asked = _asked(settings)
    names = _names(settings, asked)
    entries = []
    for number, entry in enumerate(asked):
        start = math.ceil(entry.asked * settings.machine.clock_hz)
        places = settings.places(entry.communication.group)
        for place, members in enumerate(places):
            after = tuple(name for other in entry.after for name in _met(settings, asked[other], names[other], members))
            collective = collective_among(settings.topology, entry.communication.kind, members).fitted(settings.topology)
            entries.append(Entry(names[number][place], collective, entry.communication.bytes, start, after))
    return entries


def require_list(settings: Settings) -> None:
    """Raise InputError unless there is a list of the collectives of an iteration; settings may still be without a run."""
    _asked(replace(settings, workload=settings.workload if settings.overlap else settings.workload.all_at_the_end()))


def _asked(settings: Settings) -> tuple[Asked, ...]:
    """The collectives of an iteration of settings of a run, asked for as if none took any time."""
    free = replace(settings, timing=Timing.CLOSED_FORM, speeds=replace(settings.speeds, free=True))
    asked = train(settings.workload, Timers(free).servers(), 1).collectives  # the workload of a run is scaled already
    if any(entry.communication.demand for entry in asked):
        raise InputError(f"{settings.workload.name} has an alltoallv, which is not for joint schedules")
    count = sum(len(settings.places(entry.communication.group)) for entry in asked)
    if count > MOST:
        raise InputError(f"{settings.workload.name} has {count} collectives an iteration; allowed: {MOST}; take fewer layers")
    return asked


def _names(settings: Settings, asked: tuple[Asked, ...]) -> list[list[str]]:
    """The name of each collective in each group of ranks; those of further micro-batches are numbered."""
    seen: Counter[str] = Counter()
    found = []
    for entry in asked:
        group = entry.communication.group
        name = f"{one_line(settings.workload.layers[entry.layer].name)[:_LETTERS]} {entry.phase}"
        seen[name] += 1
        name += f" {seen[name]}" if seen[name] > 1 else ""
        places, shown = settings.places(group), one_line(group)[: _LETTERS // 2]
        found.append([f"{name} {shown} {place}" for place in range(len(places))] if len(places) > 1 else [f"{name} {shown}"])
    return found


def _met(settings: Settings, other: Asked, names: list[str], members: tuple[int, ...] | None) -> list[str]:
    """The names of a collective in those groups of ranks that have one of these members."""
    places = settings.places(other.communication.group)
    return [
        name for name, its in zip(names, places, strict=True) if its is None or members is None or not set(its).isdisjoint(members)
    ]
