"""Machine parameters: the hardware as seen by closed forms, export and simulation."""

from dataclasses import asdict, dataclass, field
from functools import lru_cache
from typing import Annotated, Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from certree.models.common.errors import MachineError, UnsupportedError
from certree.models.common.fields import Fields, Limits
from certree.models.common.presets import Presets, parse_toml

FORMAT, VERSION = "certree-machine", 1
MACHINES = Presets("certree.models.machine", "presets", "machine", MachineError)
_Count = Annotated[int, Limits(1, 1 << 40)]
_Cycles = Annotated[int, Limits(0, 1 << 40)]
_RouterCount = Annotated[int, Limits(1, 1 << 20)]
_RouterCycles = Annotated[int, Limits(0, 1 << 20)]


@dataclass(frozen=True)
class Router:
    """Parameters of an input-queued router for the flit-level simulator, in addition to the depth of its pipeline.

    Of the `router_cycles` of a machine the last ones are traversal, switch allocation and VC allocation; what is left in front of
    them is route computation.
    """

    vc_cycles: _RouterCycles = 1  # VC allocation; 0: in the cycle of the switch allocation
    switch_cycles: _RouterCount = 1  # switch allocation, at least 1
    traversal_cycles: _RouterCycles = 1
    credit_cycles: _RouterCycles = 0  # from a credit's arrival to its use
    allocator: Literal["islip", "separable"] = "islip"  # or separable: the inputs choose first
    allocator_iterations: _RouterCount = 1
    # a packet (of a message the first sub-message) moves on when it fits whole; or wormhole
    flow_control: Literal["cut-through", "wormhole"] = "cut-through"
    # a packet bids for the VC behind the one that its output gave away last; or for any that is free
    vc_choice: Literal["rotate", "any"] = "rotate"
    vc_reuse: Literal["tail", "empty"] = "tail"  # a VC is free when the tail has left; or when it is empty again
    interfaces: Literal["link", "node"] = "link"  # one network interface for each lane of a node's links; or one for each node
    # dimension order where the network is a whole grid; or tables of shortest paths everywhere
    routing: Literal["dimension-order", "shortest"] = "dimension-order"
    datelines: bool = True  # on tori, each packet may take one half of the VCs of a ring only
    # the upper half up to the wrap-around link, the lower behind it; or ends: the upper half all the way around to a lower place,
    # the lower half to a higher one (packets that a table routes; others have "wrap")
    dateline_rule: Literal["wrap", "ends"] = "wrap"
    sub_message_flits: _RouterCount = 16

    def __post_init__(self) -> None:
        Fields(vars(self), "router", MachineError).values(Router)

    def stages(self, router_cycles: int) -> tuple[int, int, int, int]:
        """(route, VC, switch, traversal) cycles of a pipeline of `router_cycles`.

        A pipeline that is too short for the default stages drops VC allocation, then traversal, as cycles of their own; other
        stages that do not fit raise UnsupportedError, as does a pipeline of no cycles at all.
        """
        wanted = (self.vc_cycles, self.switch_cycles, self.traversal_cycles)
        if router_cycles < sum(wanted) and wanted == (1, 1, 1):
            wanted = (0, 1, min(1, router_cycles - 1))
        route = router_cycles - sum(wanted)
        if route < 0 or router_cycles < 1:
            raise UnsupportedError(
                f"a router of {router_cycles} cycle(s) has no room for the stages {wanted} (VC, switch, traversal)"
            )
        return (route, *wanted)


_Whole = TypeVar("_Whole", int, NDArray[np.int64])


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
        """The number of cycles that a message spends in the network interfaces at both ends of its route."""
        return self.ni_issue_cycles + 2 * self.ni_cycles

    @property
    def packet_granules(self) -> int:
        """The number of granules of a packet, at most."""
        return max(1, self.packet_payload_bytes // self.flit_bytes)

    def heads(self, granules: _Whole) -> _Whole | int:
        """Header flits of a message that carries this number of granules."""
        return self.head_flits

    def document(self) -> dict[str, Any]:
        """The parameters as a plain JSON object."""
        return asdict(self)


class PacketMachine(Machine):
    """A machine whose messages are cut into packets of `packet_payload_bytes`, with a header each."""

    @classmethod
    def of(cls, machine: Machine) -> "PacketMachine":
        """The machine of that name, with packets."""
        return cls(**vars(machine))

    def heads(self, granules: _Whole) -> _Whole | int:
        """Header flits of a message that carries this number of granules."""
        return -(-granules // self.packet_granules) * self.head_flits


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
    return _machine_of(MACHINES.read(name), name)


@lru_cache(maxsize=16)
def _machine_of(data: bytes, name: str) -> Machine:
    """The machine in a TOML file; the same file is read again and again, by each question about a machine."""
    return read_machine(parse_toml(data, name, MachineError), name)
