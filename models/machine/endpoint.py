"""What the endpoints of a fabric are made of: buses, links, the accelerator, an engine for collectives, and who runs a
collective."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from enum import StrEnum
from fractions import Fraction
from typing import Any, TypeVar

from certree.models.common.errors import MachineError, unknown_name
from certree.models.common.fields import read_fields
from certree.models.common.files import check_format
from certree.models.common.presets import Presets

FORMAT, VERSION = "certree-endpoint", 1
ENDPOINTS = Presets("certree.models.machine", "endpoints", "endpoint", MachineError)
T = TypeVar("T")


class Runs(StrEnum):
    """Who does the work of a collective."""

    ACCELERATOR = "accelerator"  # every message goes through memory
    ENGINE = "engine"  # ACE
    IDEAL = "ideal"  # a cycle for each message, nothing else


@dataclass(frozen=True)
class Interface:
    """The network interface. All times are cycles of its clock."""

    clock_hertz: Fraction
    packet_bytes: int


@dataclass(frozen=True)
class LinkKind:
    """A physical link in one direction."""

    bytes_per_second: Fraction
    efficiency: Fraction
    latency_cycles: int


@dataclass(frozen=True)
class Buses:
    """Bandwidths of the buses to the network interface (either way) and to memory (both together), and LogGP's L, o and g."""

    interface_bytes_per_second: Fraction
    memory_bytes_per_second: Fraction
    latency_cycles: int
    overhead_cycles: int
    gap_cycles: int


@dataclass(frozen=True)
class Accelerator:
    """FP32 additions that it could do in a cycle of its own clock."""

    adders: int
    clock_hertz: Fraction


@dataclass(frozen=True)
class Engine:
    """ACE. `alu_bytes`: what an ALU adds, and its buses move, in a cycle; `bank_bytes`: what goes into a bank of the SRAM, and
    as much out of it."""

    sram_bytes: int
    banks: int
    bank_bytes: int
    state_machines: int
    alus: int
    alu_bytes: int


@dataclass(frozen=True)
class System:
    """Who runs the collective, on chunks and messages of which size (no message size: one message a step), with which shares of the
    accelerator's adders and memory bandwidth. `memory_bytes_per_second`: where it is not that of the buses."""

    name: str
    runs: Runs
    chunk_bytes: int
    compute_share: Fraction
    memory_share: Fraction
    message_bytes: int | None = None
    memory_bytes_per_second: Fraction | None = None


@dataclass(frozen=True)
class Component:
    """A synthesized part of the engine: `count` of them, area and power of one."""

    name: str
    count: int
    square_micrometres: Fraction
    milliwatts: Fraction


@dataclass(frozen=True)
class Endpoint:
    """All parameters."""

    name: str
    interface: Interface
    intra_package: LinkKind
    inter_package: LinkKind
    buses: Buses
    accelerator: Accelerator
    engine: Engine
    systems: tuple[System, ...]
    components: tuple[Component, ...]

    def system(self, name: str) -> System:
        """The system of that name; MachineError lists the known ones."""
        for system in self.systems:
            if system.name == name:
                return system
        raise MachineError(unknown_name("system", name, (system.name for system in self.systems)))

    @property
    def square_micrometres(self) -> Fraction:
        """Area of the engine."""
        return sum((part.count * part.square_micrometres for part in self.components), Fraction(0))

    @property
    def watts(self) -> Fraction:
        """Power of the engine."""
        return sum((part.count * part.milliwatts for part in self.components), Fraction(0)) / 1000


def load_endpoint(name: str) -> Endpoint:
    """A preset by name, or a TOML file; MachineError or InputError says what is wrong in it."""
    return endpoint_from_document(check_format(ENDPOINTS.load(name), FORMAT, VERSION, name), name)


_TABLES: Mapping[str, type[Any]] = {
    "interface": Interface,
    "intra_package": LinkKind,
    "inter_package": LinkKind,
    "buses": Buses,
    "accelerator": Accelerator,
    "engine": Engine,
}
_LISTS: Mapping[str, type[Any]] = {"systems": System, "components": Component}
_FROM_ZERO = {"latency_cycles": 0, "overhead_cycles": 0, "gap_cycles": 0}
_WHOLE = (
    "adders",
    "sram_bytes",
    "state_machines",
    "alus",
    "alu_bytes",
    "banks",
    "bank_bytes",
    "chunk_bytes",
    "message_bytes",
    "count",
    "packet_bytes",
)
_SHARES = ("efficiency", "compute_share", "memory_share")  # at most 1
_POSITIVE = ("bytes_per_second", "efficiency", "interface_bytes_per_second", "memory_bytes_per_second", "clock_hertz")


def endpoint_from_document(document: Mapping[str, Any], where: str) -> Endpoint:
    """Parameters from a parsed TOML table; MachineError or InputError names table and field."""
    values = {key: value for key, value in document.items() if key not in ("format", "version")}
    names = {entry.name for entry in fields(Endpoint)}
    unknown, missing = sorted(values.keys() - names), sorted(names - values.keys())
    if unknown or missing:
        raise MachineError(f"{where}: unknown fields {unknown}, missing fields {missing}")
    for name, kind in _TABLES.items():
        values[name] = _read(values[name], kind, f"{where}: {name}")
    for name, kind in _LISTS.items():
        if not isinstance(values[name], list) or not values[name]:
            raise MachineError(f"{where}: {name} is {values[name]!r}; expected tables [[{name}]]")
        values[name] = tuple(_named(entry, kind, f"{where}: {name} {place}") for place, entry in enumerate(values[name], 1))
    if not isinstance(values["name"], str):
        raise MachineError(f"{where}: name must be a string")
    return Endpoint(**values)


def _read(table: Any, kind: type[T], where: str, **known: Any) -> T:
    names = {entry.name for entry in fields(kind)}  # type: ignore[arg-type]
    least = {name: low for name, low in (_FROM_ZERO | dict.fromkeys(_WHOLE, 1)).items() if name in names}
    values = read_fields(table, kind, where, least, _POSITIVE, besides=("name", "runs"))
    for name in _SHARES:
        if values.get(name, 0) > 1:
            raise MachineError(f"{where}: {name} is {table[name]!r}; a share is at most 1")
    return kind(**known, **values)


def _named(entry: Any, kind: type[T], where: str) -> T:
    """A table with a name, and of a system who runs it."""
    texts = {"name": None, **({"runs": [str(known) for known in Runs]} if kind is System else {})}
    known: dict[str, Any] = {}
    for text, allowed in texts.items():
        value = entry.get(text) if isinstance(entry, dict) else None
        if not isinstance(value, str) or (allowed and value not in allowed):
            raise MachineError(f"{where}: {text} is {value!r}; allowed: {', '.join(allowed) if allowed else 'a string'}")
        known[text] = Runs(value) if text == "runs" else value
    return _read({key: value for key, value in entry.items() if key not in known}, kind, where, **known)
