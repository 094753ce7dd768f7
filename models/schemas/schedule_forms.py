"""Forms of schedules: with all transfers, and with those of the base chunks of a symmetric one."""

from typing import Annotated, Any, Literal, NotRequired, TypedDict

from certree.models.common.fields import Limits
from certree.models.demand import MAX_GRANULES, MAX_PAIRS
from certree.models.network.action import MAX_GENERATORS
from certree.models.network.routing import DIRECT
from certree.models.network.topology import MAX_DIMENSIONS, MAX_NODES
from certree.models.schedule.collective import CollectiveKind
from certree.models.schedule.made_for import MadeFor
from certree.models.schedule.schedule_columns import (
    MAX_BUFFERS,
    MAX_CHANNELS,
    MAX_CHUNKS,
    MAX_REPEATS,
    MAX_SLOT_CYCLES,
    MAX_STEPS,
)
from certree.models.schemas.evidence_forms import Certificate
from certree.models.schemas.form import Entries, Since, form, ruled
from certree.models.schemas.networks import Node, Topology

Kind = CollectiveKind | Literal["alltoallv"]
Root = Annotated[Node | None, "the one root of a broadcast, reduce, gather or scatter; null in the others"]
Members = Annotated[list[Node], Entries(2, distinct=True), "version 2: the endpoints that take part; missing where all do"]
Steps = Annotated[int, Limits(1, MAX_STEPS)]
Waits = list[list[Annotated[int, Limits(0, MAX_SLOT_CYCLES)]]]
Granules = Annotated[list[Annotated[int, Limits(1, MAX_GRANULES)]], Entries(1, MAX_PAIRS)]
_Nodes = Annotated[list[Node], Entries(1, MAX_CHUNKS)]
_Op = Annotated[int, Limits(0, 1)]
_Buffers = list[Annotated[int, Limits(0, MAX_BUFFERS - 1)]]


class Demand(TypedDict):
    """The granules that each endpoint has for each other one."""

    src: _Nodes
    dst: _Nodes
    granules: Granules


class _Collective(TypedDict):
    kind: Kind
    root: Root
    members: NotRequired[Members]
    demand: NotRequired[Annotated[Demand, "version 2: in an alltoallv, and only there"]]


class _Chunks(TypedDict):
    root: Annotated[
        list[Node | None],
        Entries(1, MAX_CHUNKS),
        "root of each chunk: where it starts alone, or where its sum is due; null in an all-reduce",
    ]
    target: NotRequired[Annotated[_Nodes, "where each chunk is due; in an all-to-all, gather or scatter, and only there"]]
    granules: NotRequired[Annotated[Granules, "version 2: the size of each chunk; in an alltoallv, and only there"]]


class _Transfers(TypedDict):
    chunk: list[Annotated[int, Limits(0, MAX_CHUNKS - 1)]]
    op: Annotated[list[_Op], "0 reduce, 1 copy"]
    step: list[Annotated[int, Limits(0, MAX_STEPS - 1)]]
    src: list[Node]
    dst: list[Node]
    route: Annotated[list[Annotated[int, Limits(DIRECT, MAX_CHUNKS)]], "index into routes; -1: the destination is a neighbour"]
    src_buffer: NotRequired[Annotated[_Buffers, Since(2), "version 2: buffer that is read; just where buffers is above 1"]]
    dst_buffer: NotRequired[Annotated[_Buffers, Since(2), "version 2: buffer that is written; just where buffers is above 1"]]


class _Schedule(TypedDict):
    topology: Topology
    collective: _Collective
    chunks: _Chunks
    delay: Steps
    period: Steps | None
    repeats: Annotated[int, Limits(1, MAX_REPEATS)]
    rounds: Annotated[list[Steps], Entries(1)]
    transfers: _Transfers
    routes: list[Annotated[list[Annotated[int, Limits(0, MAX_CHUNKS - 1)]], Entries(1)]]
    certificate: Certificate | None
    provenance: dict[str, Any]


@form("schedule", 1, 2)
class Schedule(_Schedule, total=False):
    """Schedule.

    Transfers of one iteration, as columns of equal length.
    """

    made_for: Annotated[MadeFor, "The message size and the machine that it was made for; missing where not known."]
    buffers: Annotated[int, Limits(1, MAX_BUFFERS), Since(2), "version 2: buffers of each node and chunk; 1 where it is missing"]
    virtual_channel: Annotated[
        list[Annotated[int, Limits(0, MAX_CHANNELS - 1)]],
        Since(2),
        "version 2: virtual channel of each route; 0 where it is missing",
    ]
    slot_cycles: Annotated[int, Limits(1, MAX_SLOT_CYCLES), "version 2: cycles of a step on the machine that made_for states"]
    waits: Annotated[
        Waits,
        "version 2, with slot_cycles: cycles that a head waits at each router between the links of each entry of routes; "
        "missing where it never does",
    ]


class _Named(TypedDict):
    name: str
    digest: str


class _Box(TypedDict):
    box: Annotated[list[Annotated[int, Limits(1, MAX_NODES)]], Entries(0, MAX_DIMENSIONS)]


class _Permutations(TypedDict):
    permutations: Annotated[list[list[Node]], Entries(1, MAX_GENERATORS)]


class _BaseTransfers(TypedDict):
    chunk: list[Annotated[int, Limits(0, MAX_CHUNKS)]]
    op: list[_Op]
    step: list[Annotated[int, Limits(0, MAX_STEPS)]]
    src: list[Annotated[int, Limits(0, MAX_NODES)]]
    dst: list[Annotated[int, Limits(0, MAX_NODES)]]
    src_buffer: NotRequired[_Buffers]
    dst_buffer: NotRequired[_Buffers]


@form("symmetric-schedule", 1, 2)
@ruled(dependentRequired={"slot_cycles": ["made_for"]})
class SymmetricSchedule(TypedDict):
    """Symmetric schedule.

    Base chunks with root 0 and a group with one element for each node: chunk c*N + v is base chunk c moved by the element that
    takes node 0 to v.
    """

    topology: Annotated[Topology | _Named, "In full, or the name of a family's network with the digest that it must have."]
    collective: Literal["all-gather", "reduce-scatter", "all-reduce", "all-to-all"]
    action: Annotated[
        _Box | _Permutations,
        "Generators: shifts by one along each side of a box of node ids, or permutations of the node ids.",
    ]
    trees: Annotated[int, Limits(1, MAX_CHUNKS)]
    delay: Steps
    steps: Annotated[int, Limits(1, MAX_CHUNKS)]
    transfers: _BaseTransfers
    certificate: Certificate | None
    provenance: dict[str, Any]
    made_for: NotRequired[Annotated[MadeFor, "The message size and the machine that it was made for; missing where not known."]]
    buffers: NotRequired[
        Annotated[int, Limits(2, MAX_BUFFERS), "version 2: buffers of each node and chunk; missing where there is one"]
    ]
    slot_cycles: NotRequired[Annotated[int, Limits(1, MAX_SLOT_CYCLES), "version 2: with fine slots the cycles of a step"]]
