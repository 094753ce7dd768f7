"""What-if: the same run with one change, and how much time it saves.

A change is NAME=VALUE:

- `method`, `topology`, `timing`, `system`, `order`, `pieces`: as the arguments of `train`; `GROUP` of a group: its network
- `compute`, `bandwidth`, `latency`: factors of speeds and of latencies, such as `bandwidth=2`
- `communication=free`: collectives take no time, which nothing can beat on these accelerators
- `overlap=none`: collectives of weight gradients behind all computing
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction

from certree.api import parsing
from certree.api.settings import Tell, machine_for
from certree.api.training.runs import Alternative, TrainingRun, run_settings
from certree.api.training.settings import FACTORS, TIMINGS, Settings, Timing, parse_factor, parse_methods, scaled
from certree.api.training.timers import Known
from certree.models.common.errors import InputError, UndecidedError, UnsupportedError, unknown_name
from certree.models.workload.queue import Order

Change = tuple[str, Settings]


def parse_change(text: str, settings: Settings) -> Change:
    """The settings with the change of a text; InputError for one that is unknown or does not apply."""
    name, equals, value = text.partition("=")
    if not equals or not value:
        raise InputError(f"what-if {text!r}: expected NAME=VALUE, such as method=ring")
    groups = {found.group for found in settings.workload.communications()}
    if name in FACTORS:
        factor = parse_factor(value, name)
        return text, replace(settings, speeds=scaled(settings.speeds, name, factor))
    changes = _changes(settings)
    if name in changes:
        return text, changes[name](value)
    if name in groups:
        return text, replace(settings, networks={**settings.networks, name: parsing.topology(value)})
    raise InputError(unknown_name("what-if", name, [*FACTORS, *changes, *sorted(groups)]))


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
        "overlap": lambda value: replace(settings, overlap=one_of("overlap", value, ["none", "layers"]) == "layers"),
    }


def alternatives(run: TrainingRun, changes: Sequence[Change], known: Known, progress: Tell) -> tuple[Alternative, ...]:
    """The changed runs, the fastest first, then those that cannot be."""
    found = []
    for text, settings in changes:
        try:
            found.append(Alternative(text, run_settings(settings, known, progress).seconds))
        except (UnsupportedError, UndecidedError) as error:
            found.append(Alternative(text, None, str(error)))
    return tuple(sorted(found, key=lambda one: (one.seconds is None, one.seconds or Fraction(0), one.change)))
