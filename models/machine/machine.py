"""Machine parameters: the hardware as seen by closed forms, export and simulation."""

from dataclasses import asdict, dataclass, field
from typing import Annotated, Any

from certree.models.common.errors import MachineError
from certree.models.common.fields import Fields, Limits
from certree.models.common.presets import Presets
from certree.models.machine.router import Router

FORMAT, VERSION = "certree-machine", 1
MACHINES = Presets("certree.models.machine", "presets", "machine", MachineError)
_Count = Annotated[int, Limits(1, 1 << 40)]
_Cycles = Annotated[int, Limits(0, 1 << 40)]


@dataclass(frozen=True)
class Machine:
    """One accelerator fabric; whole numbers, units in the names. A unit link moves one flit per cycle.

    A chunk over h links arrives whole `head_flits + payload flits` (serialization) plus
    ni_issue_cycles + 2·ni_cycles + (h + 1)·router_cycles + h·link_latency_cycles (path) cycles after its slot opens; the first slot
    opens ni_start_cycles after the common start.
    """

    name: str
    clock_hz: _Count
    flit_bytes: _Count  # payload of one flit; also the granule of chunk sizes
    head_flits: _Cycles  # flits of the header of a message
    link_latency_cycles: _Cycles  # for links whose topology states none
    router_cycles: _Cycles  # pipeline depth of one router
    ni_cycles: _Cycles  # wire between network interface and router, in each direction
    ni_buffer_flits: _Cycles  # injection buffer of one output port
    reduce_bytes_per_cycle: _Count  # incoming data that the reduction unit accepts
    reduce_quantum_cycles: _Count  # the reduction unit works in whole quanta
    reduce_start_cycles: _Cycles  # from the last flit's arrival to the start of the reduction
    vc_count: _Count  # virtual channels of a channel; these three matter to the flit-level simulator only
    vc_buffer_flits: _Count  # flit buffers of one virtual channel
    packet_payload_bytes: _Count
    ni_issue_cycles: _Cycles = 0  # from the firing of a row to its first flit
    ni_start_cycles: _Cycles = 0  # from the common start to the opening of the first slot or timestep
    router: Router = field(default_factory=Router)

    def __post_init__(self) -> None:
        Fields(vars(self), self.name, MachineError).values(Machine)

    @property
    def interface_cycles(self) -> int:
        """Cycles that a message spends in the network interfaces at both ends of its route."""
        return self.ni_issue_cycles + 2 * self.ni_cycles

    def document(self) -> dict[str, Any]:
        """The parameters as a plain JSON object."""
        return asdict(self)


def machine_document(machine: Machine) -> dict[str, Any]:
    """The parameters as a JSON object with format and version, as files of other kinds hold it; `read_machine` reads it."""
    return {"format": FORMAT, "version": VERSION, **machine.document()}


def read_machine(document: Any, where: str) -> Machine:
    """The machine of a document with format and version; MachineError, naming the field, for anything else."""
    return Fields.of_format(document, FORMAT, VERSION, where, MachineError).read(Machine)


def machine_from_document(document: Any, where: str) -> Machine:
    """Machine parameters from a parsed TOML or JSON table; MachineError names the field."""
    return Fields(document, where, MachineError).read(Machine)


def load_machine(name: str) -> Machine:
    """A preset by name, or a TOML file."""
    return read_machine(MACHINES.load(name), name)
