"""Machine parameters: what the closed form, the exporter and the simulator need to know of the hardware."""

from dataclasses import MISSING, asdict, dataclass, field, fields
from typing import Any

from certree.models.common.errors import MachineError
from certree.models.common.files import check_format
from certree.models.common.presets import Presets
from certree.models.machine.router import Router, router_from_document

FORMAT, VERSION = "certree-machine", 1
MACHINES = Presets("certree.models.machine", "presets", "machine", MachineError)
_LIMIT = 1 << 40
_MAY_BE_ZERO = {
    "link_latency_cycles",
    "router_cycles",
    "ni_cycles",
    "head_flits",
    "reduce_start_cycles",
    "ni_buffer_flits",
    "ni_issue_cycles",
    "ni_start_cycles",
}


@dataclass(frozen=True)
class Machine:
    """One accelerator fabric; whole numbers, units in the names. A unit link moves one flit a cycle.

    A chunk over h links arrives whole `head_flits + payload flits` (serialization) plus
    ni_issue_cycles + 2·ni_cycles + (h + 1)·router_cycles + h·link_latency_cycles (path) cycles after its slot opens; the first slot
    opens ni_start_cycles after the common start.
    """

    name: str
    clock_hz: int
    flit_bytes: int  # payload of one flit; also the granule of chunk sizes
    head_flits: int  # flits a message spends on its header
    link_latency_cycles: int  # for links whose topology states none
    router_cycles: int  # pipeline depth of one router
    ni_cycles: int  # wire between network interface and router, each way
    ni_buffer_flits: int  # injection buffer of one output port
    reduce_bytes_per_cycle: int  # incoming data the reduction unit takes
    reduce_quantum_cycles: int  # the reduction unit works in whole quanta
    reduce_start_cycles: int  # from the last flit's arrival to the start of the reduction
    vc_count: int  # virtual channels of a channel; these three matter to the flit-level simulator only
    vc_buffer_flits: int  # places of one virtual channel
    packet_payload_bytes: int
    ni_issue_cycles: int = 0  # from the firing of a row to its first flit
    ni_start_cycles: int = 0  # from the common start to the opening of the first slot or timestep
    router: Router = field(default_factory=Router)

    def __post_init__(self) -> None:
        for entry in fields(self):
            if entry.name in ("name", "router"):
                continue
            value, low = getattr(self, entry.name), 0 if entry.name in _MAY_BE_ZERO else 1
            if type(value) is not int or not low <= value <= _LIMIT:
                raise MachineError(f"{self.name}: {entry.name} is {value!r}; allowed: whole numbers from {low} to {_LIMIT}")

    @property
    def interface_cycles(self) -> int:
        """What a message spends in the network interfaces at both ends of its way."""
        return self.ni_issue_cycles + 2 * self.ni_cycles

    def document(self) -> dict[str, Any]:
        """The parameters as a plain JSON object."""
        return asdict(self)


def machine_document(machine: Machine) -> dict[str, Any]:
    """The parameters as a JSON object with format and version, as files of other kinds hold it; `read_machine` reads it."""
    return {"format": FORMAT, "version": VERSION, **machine.document()}


def read_machine(document: Any, where: str) -> Machine:
    """The machine of a document with format and version; InputError, or MachineError naming the field, for anything else."""
    return machine_from_document(check_format(document, FORMAT, VERSION, where), where)


def machine_from_document(document: Any, where: str) -> Machine:
    """Machine parameters from a parsed TOML or JSON table; MachineError names the field."""
    if not isinstance(document, dict):
        raise MachineError(f"{where}: machine parameters must be a table")
    values = {key: value for key, value in document.items() if key not in ("format", "version")}
    names = {entry.name for entry in fields(Machine)}
    optional = {entry.name for entry in fields(Machine) if entry.default is not MISSING or entry.default_factory is not MISSING}
    unknown, missing = sorted(values.keys() - names), sorted(names - values.keys() - optional)
    if unknown or missing:
        raise MachineError(f"{where}: unknown fields {unknown}, missing fields {missing}")
    if not isinstance(values["name"], str):
        raise MachineError(f"{where}: name must be a string")
    router = router_from_document(values.pop("router", {}), where)
    return Machine(**values, router=router)


def load_machine(name: str) -> Machine:
    """A preset by name, or a TOML file."""
    return read_machine(MACHINES.load(name), name)
