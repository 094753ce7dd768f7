"""Systems as runs of tables name them: `ace`, or with sizes, `ace:chunk=64KiB:sram=1MiB:state-machines=4`."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from certree.api.runs.simulation import NO_ENDPOINT
from certree.extras.endpoints.model.endpoint import Endpoint, Runs, System
from certree.models.common.errors import InputError, MachineError, short, unknown_name
from certree.models.common.quantities import parse_size

MAX_NUMBER = 1 << 20  # state machines, and steps


@dataclass(frozen=True)
class Cut:
    """Into what the message of tables is cut: iterations of at most `chunk_bytes`, which begin `period` steps after each other;
    None: as few as the endpoints have room for. `spacing`: the steps of the tables for one step of the schedule in a paced run;
    None: what is chosen (`run/tables/spacing.py`), or 1 with a period. `pads`: iterations have that size before each of their
    chunks is padded to whole flits. `at_most`: this many iterations at most, the first ones, for a run that is a short one."""

    chunk_bytes: int
    period: int | None = None
    spacing: int | None = None
    pads: bool = False
    at_most: int | None = None


@dataclass(frozen=True)
class NamedSystem:
    """A system of an endpoint, with the sizes that its `text` states in place of those of the parameters. `cut`: None where tables
    keep their iterations."""

    text: str
    endpoint: Endpoint
    system: System
    cut: Cut | None = None


def _number(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 10 and 1 <= int(text) <= MAX_NUMBER):
        raise InputError(f"expected a whole number from 1 to {MAX_NUMBER}")
    return int(text)


_READ: Mapping[str, Callable[[str], int]] = {
    "chunk": parse_size, "sram": parse_size, "state-machines": _number, "period": _number, "spacing": _number,
}  # fmt: skip


def named_system(text: str, endpoint: Endpoint) -> NamedSystem:
    """The system that a text names. MachineError for a name that the parameters do not have, InputError for an option that is
    unknown, malformed or of no use to the system."""
    name, *options = text.split(":")
    known = [system.name for system in endpoint.systems]
    if name == NO_ENDPOINT:
        raise InputError(f"system {short(text)}: {NO_ENDPOINT} has no endpoints, to which options or a bound could apply")
    if name not in known:
        raise MachineError(unknown_name("system", name, (NO_ENDPOINT, *known)))
    found = _options(text, options)
    system = endpoint.system(name)
    if "sram" in found and system.runs is Runs.ACCELERATOR:
        raise InputError(f"system {short(text)}: sram is for engines; {name} adds at the accelerator")
    if "state-machines" in found and system.runs is Runs.ACCELERATOR and "chunk" not in found:
        raise InputError(f"system {short(text)}: state-machines are for engines, and for chunks at work; {name} has neither")
    for option in ("period", "spacing"):
        if option in found and "chunk" not in found:
            raise InputError(f"system {short(text)}: {option} needs chunk, the bytes of an iteration")
    sizes = {"sram_bytes": found.get("sram"), "state_machines": found.get("state-machines")}
    cut = Cut(found["chunk"], found.get("period"), found.get("spacing")) if "chunk" in found else None
    sized = endpoint.sized(**{field: value for field, value in sizes.items() if value is not None})
    return NamedSystem(text, sized, system, cut)


def _options(text: str, options: list[str]) -> dict[str, int]:
    found: dict[str, int] = {}
    for option in options:
        name, _, value = option.partition("=")
        if name not in _READ or name in found:
            raise InputError(f"system {short(text)}: expected NAME:OPTION=VALUE, OPTION one of {', '.join(_READ)}, each once")
        try:
            found[name] = _READ[name](value)
        except InputError as error:
            raise InputError(f"system {short(text)}: {name} {short(value)}: {error}") from None
    return found
