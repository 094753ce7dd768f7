"""Parameters of endpoints: buses, links, the accelerator, an engine for collectives, and the unit that runs a collective."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from fractions import Fraction
from typing import Annotated, Any

from certree.models.common.errors import MachineError, UnsupportedError, short, unknown_name
from certree.models.common.fields import Fields, FromZero, Limits, Positive, Share
from certree.models.common.presets import Presets
from certree.models.machine.machine import Machine

#: sizes of an engine to which a component may be in proportion
GROWS = ("sram_bytes", "state_machines")
FLOAT_BYTES = 4  # of a summand
FORMAT, VERSION = "certree-endpoint", 1
ENDPOINTS = Presets("certree.extras.endpoints.model", "presets", "endpoint", MachineError)


class Runs(StrEnum):
    """The unit that runs a collective."""

    ACCELERATOR = "accelerator"  # every message goes through memory
    ENGINE = "engine"  # ACE
    IDEAL = "ideal"  # a cycle for each message, nothing else


@dataclass(frozen=True)
class Interface:
    """The network interface. All times are cycles of its clock."""

    clock_hertz: Positive
    packet_bytes: int


@dataclass(frozen=True)
class LinkKind:
    """A physical link in one direction."""

    bytes_per_second: Positive
    efficiency: Annotated[Fraction, Limits(0, 1, above=True)]
    latency_cycles: FromZero


@dataclass(frozen=True)
class Buses:
    """Bandwidths of the buses to the network interface (each direction) and to memory (both together), and LogGP's L, o and g."""

    interface_bytes_per_second: Positive
    memory_bytes_per_second: Positive
    latency_cycles: FromZero
    overhead_cycles: FromZero
    gap_cycles: FromZero


@dataclass(frozen=True)
class Accelerator:
    """FP32 additions per cycle of its own clock."""

    adders: int
    clock_hertz: Positive


@dataclass(frozen=True)
class Engine:
    """ACE. `alu_bytes`: bytes that an ALU adds, and its buses move, per cycle; `bank_bytes`: bytes into a bank of the SRAM per
    cycle, and as many out of it."""

    sram_bytes: int
    banks: int
    bank_bytes: int
    state_machines: int
    alus: int
    alu_bytes: int


@dataclass(frozen=True)
class System:
    """The unit that runs the collective, its chunk and message sizes (no message size: one message per step), and its shares of the
    accelerator's adders and memory bandwidth. `memory_bytes_per_second`: where it is not that of the buses. `training_compute`: the
    share of the accelerator that training has, where it is not what collectives leave of it. `bounds`: the system that this one is
    to bound; it tries that one's chunks and messages too (`extras/endpoints/run/ideal.py`)."""

    name: str
    runs: Runs
    chunk_bytes: int
    compute_share: Share
    memory_share: Share
    message_bytes: int | None = None
    memory_bytes_per_second: Positive | None = None
    training_compute: Annotated[Fraction, Limits(0, 1, above=True)] | None = None
    bounds: str | None = None

    @property
    def training_share(self) -> Fraction:
        """The share of the accelerator's compute that is left for training."""
        return 1 - self.compute_share if self.training_compute is None else self.training_compute


@dataclass(frozen=True)
class Component:
    """A synthesized part of the engine: `count` of them, area and power of one. `grows_with`: the field of the engine to which area
    and power are in proportion; None: they are the same at any size."""

    name: str
    count: int
    square_micrometres: Fraction
    milliwatts: Fraction
    grows_with: str | None = None


@dataclass(frozen=True)
class Endpoint:
    """The parameters of an endpoint."""

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

    def within_share(self, system: System) -> System:
        """The system with a memory bus that has only its share of the bandwidth; one without a share as it is."""
        memory = system.memory_bytes_per_second or self.buses.memory_bytes_per_second
        return replace(system, memory_bytes_per_second=memory * system.memory_share) if system.memory_share else system

    def sized(self, **sizes: int) -> "Endpoint":
        """An endpoint with other sizes of the engine, by field, and its components in proportion."""
        engine = replace(self.engine, **sizes)
        grown = (
            Fraction(1)
            if part.grows_with is None
            else Fraction(getattr(engine, part.grows_with), getattr(self.engine, part.grows_with))
            for part in self.components
        )
        components = (
            replace(part, square_micrometres=part.square_micrometres * times, milliwatts=part.milliwatts * times)
            for part, times in zip(self.components, grown, strict=True)
        )
        return replace(self, engine=engine, components=tuple(components))

    @property
    def square_micrometres(self) -> Fraction:
        """Area of the engine."""
        return sum((part.count * part.square_micrometres for part in self.components), Fraction(0))

    @property
    def watts(self) -> Fraction:
        """Power of the engine."""
        return sum((part.count * part.milliwatts for part in self.components), Fraction(0)) / 1000


def require_one_clock(endpoint: Endpoint, machine: Machine) -> None:
    """Raise UnsupportedError where cycles of endpoints are not those of the machine."""
    clock = endpoint.interface.clock_hertz
    if clock != machine.clock_hz:
        raise UnsupportedError(
            f"endpoints {endpoint.name} count cycles of {clock} Hz, and machine {machine.name} of {machine.clock_hz}: give them "
            "one clock"
        )


def load_endpoint(name: str) -> Endpoint:
    """A preset by name, or a TOML file; MachineError names the wrong table and field."""
    return endpoint_of_document(ENDPOINTS.load(name), name)


def endpoint_of_document(document: Mapping[str, Any], where: str) -> Endpoint:
    """The parameters that a parsed file has; errors as `load_endpoint`, which call it `where`."""
    endpoint = Fields.of_format(document, FORMAT, VERSION, where, MachineError).read(Endpoint)
    for system in endpoint.systems:
        if system.bounds is not None:
            endpoint.system(system.bounds)
    for part in endpoint.components:
        if part.grows_with is not None and part.grows_with not in GROWS:
            raise MachineError(f"{where}: component {part.name} grows_with {short(part.grows_with)}; known: {', '.join(GROWS)}")
    return endpoint
