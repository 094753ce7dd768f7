"""The form of `manifest.json`."""

import re
from typing import Annotated, Literal, TypedDict

from certree.hw.formats.bit_layout import Widths
from certree.models.common.fields import FromZero, Limits
from certree.models.common.quantities import MAX_SIZE
from certree.models.machine.machine import Machine
from certree.models.schedule.schedule_columns import MAX_BUFFERS, MAX_CHUNKS, MAX_REPEATS, MAX_STEPS
from certree.models.schemas.form import Since, form, ruled
from certree.models.schemas.networks import Digest, FromOne, Node, Topology
from certree.models.schemas.schedule_forms import Demand, Granules, Kind, Members, Root, Steps, Waits
from certree.models.tables.table_columns import MAX_BYTES, MAX_EPOCH, Profile

_Bytes = Annotated[int, Limits(1, MAX_BYTES)]


class _File(TypedDict):
    bytes: FromZero
    crc32: Annotated[str, re.compile("[0-9a-f]{8}")]
    sha256: Digest


class _Manifest(TypedDict):
    note: Literal["generated, do not edit"]
    encoding: Annotated[str, "a table format; `certree list` names them"]
    topology_digest: Digest
    schedule_digest: Digest
    collective: Kind
    root: Root
    chunks: Annotated[int, Limits(1, MAX_CHUNKS)]
    delay: Steps
    period: Steps | None
    repeats: Annotated[int, Limits(1, MAX_REPEATS)]
    message_bytes: Annotated[int, Limits(1, MAX_SIZE)]
    chunk_bytes: _Bytes
    slot_cycles: _Bytes
    padded_bytes: FromOne
    granule_bytes: FromOne
    chunk_granules: FromOne
    widths: Widths
    machine: Machine
    files: dict[str, _File]
    topology: Topology


@form("tables", 1, 2)
@ruled(
    dependentRequired={"waits": ["fine_slots"], "demand": ["granules", "fine_slots"], "granules": ["demand"]},
    allOf=[
        {
            "if": {"required": ["profile"], "properties": {"profile": {"const": "trees"}}},
            "then": {"anyOf": [{"required": [name]} for name in ("fine_slots", "epoch", "additions", "control")]},
        }
    ],
)
class Manifest(_Manifest, total=False):
    """Manifest of a tables directory.

    Everything about exported tables except their rows; sizes in bytes and granules, times in cycles, field widths in bits.
    """

    profile: Annotated[
        Profile, Since(2, needed=True), "what an interface must support; trees only with an epoch, fine slots, additions or control"
    ]
    members: Annotated[Members, Since(2)]
    demand: Annotated[Demand, Since(2), "in an alltoallv, and only there"]
    granules: Annotated[Granules, Since(2), "with a demand: the size of each chunk, in units of chunk_bytes"]
    epoch: Annotated[int, Limits(0, MAX_EPOCH), Since(2), "of all images of the export; left out where none is stated"]
    buffers: Annotated[int, Limits(1, MAX_BUFFERS), Since(2, needed=True)]
    in_flight: Annotated[int, Limits(1, MAX_STEPS), Since(2, needed=True), "W: iterations that can touch a cell at a time"]
    stride: Annotated[FromZero, Since(2, needed=True), "granules from one iteration to the next"]
    work_base: Annotated[FromZero, Since(2, needed=True), "granule at which work cells begin"]
    work_stride: Annotated[FromZero, Since(2, needed=True), "granules of the work cells of an iteration"]
    chunk_root: Annotated[list[Node] | None, Since(2, needed=True), "source or owner of each chunk; null where chunks have none"]
    chunk_target: Annotated[list[Node] | None, Since(2, needed=True), "target of each chunk; null where chunks have none"]
    fine_slots: Annotated[
        Literal[True], Since(2), "rows fire at the cycles that their steps say; without it slots are as long as a message needs"
    ]
    additions: Annotated[
        str, Since(2), "the order in which every chunk is added, such as ((0,1),(2,3)); left out where none is stated"
    ]
    control: Annotated[
        Literal["lockstep"], Since(2), "a timestep counter tells the interface when rows fire; left out where slots do"
    ]
    waits: Annotated[Waits, Since(2), "with fine slots: by route, the cycles that a head waits at each router between its links"]
