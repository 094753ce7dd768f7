"""Forms of workloads."""

from typing import Annotated, Literal, Required, TypedDict

from certree.models.common.fields import FromZero
from certree.models.schedule.collective import CollectiveKind
from certree.models.schemas.form import Entries, form, ruled
from certree.models.schemas.networks import FromOne


@ruled(
    dependentRequired={"bytes": ["collective"], "demand": ["collective"], "group": ["collective"]},
    oneOf=[{"required": ["bytes"]}, {"required": ["demand"]}, {"properties": {"collective": False}}],
)
class _Part(TypedDict, total=False):
    cycles: FromZero
    collective: CollectiveKind | Literal["alltoallv"]
    bytes: FromOne | str
    demand: Annotated[list[Annotated[list[FromZero], Entries(1)]], Entries(1)]
    group: str


class _Layer(TypedDict, total=False):
    name: Required[str]
    forward: _Part
    input_gradient: _Part
    weight_gradient: _Part
    update_cycles: FromZero


class _Accelerator(TypedDict, total=False):
    name: str
    efficiency: str
    rows: FromOne
    columns: FromOne
    arrays: FromOne
    clock_hertz: str | int
    dataflow: Literal["output-stationary", "weight-stationary", "input-stationary"]
    double_buffered: bool
    batch: FromOne
    element_bytes: FromOne


_Shape = Annotated[
    tuple[str, FromOne, FromOne, FromOne, FromOne, FromOne, FromOne, FromOne],
    "name, height, width, filter height, filter width, channels, filters, stride",
]


class _Transformer(TypedDict, total=False):
    layers: Required[FromOne]
    width: Required[FromOne]
    heads: Required[FromOne]
    sequence: Required[FromOne]
    batch: FromOne
    tensor: FromOne
    data: FromOne
    pipeline: FromOne
    expert: FromOne
    micro_batches: FromOne
    vocabulary: FromZero
    inner: FromZero
    gated: Literal[0, 1]
    kv_heads: FromZero
    experts: FromZero
    active: FromOne


@form("workload")
@ruled(oneOf=[{"required": ["layers", "loop", "clock_hertz"]}, {"required": ["shapes"]}, {"required": ["transformer"]}])
class Workload(TypedDict, total=False):
    """Workload.

    Layers of a network under training, kept as TOML: cycles and collectives of each, or shapes or a transformer and the accelerator
    that they are computed on.
    """

    name: Required[str]
    source: str
    loop: Literal["data", "model", "hybrid", "dlrm"]
    clock_hertz: str
    samples: FromOne
    last_bottom: FromOne
    first_input_gradient: bool
    stages: FromOne
    micro_batches: FromOne
    groups: dict[str, FromZero]
    layers: Annotated[list[_Layer], Entries(1)]
    shapes: Annotated[list[_Shape], Entries(1)]
    transformer: _Transformer
    accelerator: _Accelerator | str
