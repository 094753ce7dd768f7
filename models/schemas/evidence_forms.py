"""Forms of evidence: certificates and freedom from deadlock."""

import re
from typing import Annotated, Any, Literal, NotRequired, TypedDict

from certree.models.common.fields import FromZero
from certree.models.schemas.form import Entries, form
from certree.models.schemas.networks import Digest, FromOne

_Exact = Annotated[str, re.compile("(0|[1-9][0-9]*)(/[1-9][0-9]*)?")]
_Assumed = Annotated[
    list[str], Entries(1, distinct=True), "what the bound assumes of schedules; missing in files of earlier versions"
]
_Quantity = Literal["bandwidth", "latency"]
_Witnessed = TypedDict("_Witnessed", {"kind": str, "class": NotRequired[_Assumed], "witness": dict[str, Any]})


class _Bound(_Witnessed):
    quantity: _Quantity
    value: _Exact


class _TimeBound(_Witnessed):
    quantity: Literal["time"]
    value: Annotated[str, re.compile("0|[1-9][0-9]*")]


class _Claim(TypedDict):
    bandwidth_time: _Exact
    bandwidth_bound: _Exact
    bandwidth_bound_any_shares: NotRequired[_Exact]
    latency_steps: FromZero | None
    latency_bound: FromZero | None
    optimal_in: Annotated[list[_Quantity], Entries(distinct=True)]


class _Time(TypedDict):
    message_bytes: FromOne
    machine: dict[str, Any]
    bound_cycles: FromOne
    bound_cycles_any_shares: NotRequired[FromOne]
    bounds: Annotated[list[_TimeBound], Entries(1)]


class _Fewest(TypedDict):
    point: list[int]
    machine: Any
    proof: dict[str, Any]


class _Refuted(TypedDict):
    point: list[int]
    proof: dict[str, Any]


class _Optimum(TypedDict):
    point: list[int]
    machine: Any
    refuted: list[_Refuted]


class _Run(TypedDict):
    chunks: FromOne
    granules: FromOne
    proof: dict[str, Any]


class _Cycles(TypedDict):
    cycles: FromOne
    refuted: list[_Run]


class _Order(TypedDict):
    orders: FromOne
    same_at_all_ranks: bool
    fixed_by: str
    nested: bool | None
    expression: str | None
    ties: int
    differs: list[int] | None
    tied: list[int] | None


@form("certificate")
class Certificate(TypedDict):
    """Certificate.

    What was proved of a schedule: lower bounds with their witnesses, and the claim. Rationals are strings such as 9/16.
    """

    topology: Annotated[Digest, "digest of the topology"]
    schedule: Annotated[Digest, "digest of the schedule"]
    bounds: list[_Bound]
    claim: _Claim
    fewest_steps: NotRequired[Annotated[_Fewest, "no schedule of as many chunks has fewer steps, with its proof"]]
    optimum: NotRequired[
        Annotated[_Optimum, "no schedule with as many chunks, steps and rounds per chunk has fewer of any, a proof for each point"]
    ]
    fewest_cycles: NotRequired[
        Annotated[_Cycles, "no schedule with fine slots is over in fewer cycles, with a proof for each number of chunks"]
    ]
    time: NotRequired[Annotated[_Time, "cycles that every run takes, for one message size and one machine"]]
    order: NotRequired[Annotated[_Order, "in which all chunks are added, where a bound is for schedules of this order only"]]


class _Channel(TypedDict):
    source: int
    destination: int
    virtual_channels: list[int]


class _Numbered(_Channel):
    number: FromOne


class _Wait(TypedDict):
    holds: _Channel
    wants: _Channel
    route: Annotated[list[int], "nodes"]


@form("deadlock", extensible=True)
class Deadlock(TypedDict):
    """Freedom of deadlock of routes in the routers of a machine.

    A channel is one direction of the links between two neighbours, and some of its virtual channels.
    """

    topology: str
    machine: str
    free: Annotated[bool, "whether packets can never wait for each other in a circle"]
    virtual_channels: NotRequired[Annotated[FromOne, "how many virtual channels of each link are enough for these routes"]]
    numbering: Annotated[
        list[_Numbered] | None,
        "the certificate: along every route, whatever virtual channels a packet takes, these numbers rise, absorbing channels "
        "excepted; null where there is none",
    ]
    absorbing: Annotated[list[_Channel], "channels whose buffers hold all flits that ever come to them"]
    cycle: Annotated[
        list[_Wait], "the counterexample: packets on these routes, each of which may hold what the one before it waits for"
    ]
    repairs: Annotated[list[str], "what would make the routes free"]
    agrees_with_lanes: Annotated[
        bool | None,
        "whether a slotted run takes the same cycles through routers and on lanes, as far as is known before it; null where that "
        "was not asked",
    ]
    router_effect: Annotated[str | None, "the effect that routers may add"]
