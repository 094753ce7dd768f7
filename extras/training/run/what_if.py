"""What-if: the same run with one change, and how much time it saves.

A change is NAME=VALUE:

- `method`, `topology`, `timing`, `system`, `order`, `pieces`: as the arguments of `train`; `GROUP` of a group: its network
- `method=each`: `auto` and every published algorithm, for each kind of collectives; `system=each`: every system of the endpoints
- `compute`, `bandwidth`, `latency`: factors of speeds and of latencies, such as `bandwidth=2`
- `communication=free`: collectives take no time, which nothing can beat on these accelerators
- `overlap=none`: collectives of weight gradients behind all computing
- `links=shared`, `links=own`: collectives of all groups take turns, or those of each group
- `links=joint`: those of all groups of ranks run at once, as in joint schedules; `links=joint-turns`: those of all groups of ranks
  of one kind, and the kinds take turns
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from certree.api import parsing
from certree.api.settings import Tell, machine_for
from certree.extras.training.model.queue import Order
from certree.extras.training.run.runs import Alternative, TrainingRun, run_settings
from certree.extras.training.run.settings import (
    AUTO,
    FACTORS,
    TIMINGS,
    Settings,
    Timing,
    parse_factor,
    parse_group,
    parse_methods,
    scaled,
)
from certree.extras.training.run.timers import Known
from certree.models.common.errors import InputError, UndecidedError, UnsupportedError, located, unknown_name
from certree.synth.method import load_methods

EACH = "each"


@dataclass(frozen=True)
class Change:
    """Changed settings, and the text that says how. `one_of`: the text that asked for several of which this is one."""

    text: str
    settings: Settings
    one_of: str | None = None


def parse_changes(text: str, settings: Settings) -> list[Change]:
    """The changes of a text, several for `each`; InputError for one that is unknown or does not apply."""
    if text == f"method={EACH}":
        changes = [Change(one, _parsed(one, settings), text) for one in _methods(settings)]
        return [one for one in changes if _used(one.settings) != _used(settings)]
    if text == f"system={EACH}":
        names = [system.name for system in settings.endpoint.systems] if settings.endpoint else []
        own = settings.system if settings.timing is Timing.ENDPOINTS else None
        return [Change(f"system={name}", _parsed(f"system={name}", settings), text) for name in names if name != own]
    return [Change(text, _parsed(text, settings))]


def _used(settings: Settings) -> list[str]:
    """The method of each kind of collectives."""
    kinds = sorted({found.kind for found in settings.workload.communications()})
    unnamed = None if settings.timing is Timing.ENDPOINTS else AUTO  # endpoints have methods of their own
    return [str(unnamed if (found := settings.method(kind)) is None else found.text) for kind in kinds]


def _methods(settings: Settings) -> list[str]:
    """A change to each method for each kind of collectives that it makes; without the kind where the workload has one."""
    kinds = sorted({found.kind for found in settings.workload.communications()})
    known = load_methods()
    return [
        f"method={name}" if len(kinds) == 1 else f"method={kind}={name}"
        for kind in kinds
        for name in known
        if kind in known[name].collectives and (known[name].published or name == AUTO)
    ]


def _parsed(text: str, settings: Settings) -> Settings:
    name, equals, value = text.partition("=")
    if not equals or not value:
        raise InputError(f"what-if {text!r}: expected NAME=VALUE, such as method=ring")
    groups = {found.group for found in settings.workload.communications()}
    changes = _changes(settings)
    if name not in (*FACTORS, *changes, *groups):
        raise InputError(unknown_name("what-if", name, [*FACTORS, *changes, *sorted(groups)]))
    with located(f"what-if {text}"):
        if name in FACTORS:
            return replace(settings, speeds=scaled(settings.speeds, name, parse_factor(value, name)))
        if name in changes:
            return changes[name](value)
        return replace(settings, groups={**settings.groups, name: parse_group(value)})


def _changes(settings: Settings) -> dict[str, Callable[[str], Settings]]:
    def one_of(name: str, value: str, known: Sequence[str]) -> str:
        if value not in known:
            raise InputError(unknown_name(name, value, known))
        return value

    def topology(value: str) -> Settings:
        network = parsing.topology(value)
        return replace(
            settings, topology=network, machine=settings.machine if network.bandwidth is None else machine_for(network, None)
        )

    def system(value: str) -> Settings:
        if settings.endpoint is None:
            raise InputError(f"system {value!r}: there are no endpoints")
        return replace(settings, timing=Timing.ENDPOINTS, system=settings.endpoint.system(value).name)

    def pieces(value: str) -> Settings:
        if not (value.isascii() and value.isdigit() and len(value) < 8):
            raise InputError(f"pieces {value!r}: expected a whole number")
        return replace(settings, pieces=int(value))

    def free(value: str) -> Settings:
        one_of("communication", value, ["free"])
        return replace(settings, speeds=replace(settings.speeds, free=True))

    return {
        "method": lambda value: replace(settings, methods={**settings.methods, **parse_methods(value)}),
        "topology": topology,
        "timing": lambda value: replace(settings, timing=Timing(one_of("timing", value, TIMINGS))),
        "system": system,
        "order": lambda value: replace(settings, order=Order(one_of("order", value, list(Order)))),
        "pieces": pieces,
        "communication": free,
        "links": lambda value: replace(
            settings,
            shared=one_of("links", value, ["own", "shared", "joint", "joint-turns"]) in ("shared", "joint-turns"),
            joint=value.startswith("joint"),
        ),
        "overlap": lambda value: replace(settings, overlap=one_of("overlap", value, ["none", "layers"]) == "layers"),
    }


def alternatives(run: TrainingRun, changes: Sequence[Change], known: Known, progress: Tell) -> tuple[Alternative, ...]:
    """The changed runs, the fastest first, then those that cannot be; those of an `each` that cannot be are one entry."""
    found: list[Alternative] = []
    asked, refused = Counter(change.one_of for change in changes), dict[str, list[str]]()
    for change in changes:
        try:
            changed = run_settings(change.settings, known, progress)
            found.append(Alternative(change.text, changed.seconds, estimate=changed.estimate, program=changed.program))
        except (UnsupportedError, UndecidedError) as error:
            if change.one_of is None:
                found.append(Alternative(change.text, None, str(error)))
            else:
                refused.setdefault(change.one_of, []).append(change.text.partition("=")[2])
    for text, names in refused.items():
        found.append(Alternative(text, None, f"{len(names)} of {asked[text]} do not apply: {', '.join(names)}"))
    return tuple(sorted(found, key=lambda one: (one.seconds is None, one.seconds or Fraction(0), one.change)))
