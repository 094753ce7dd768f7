"""Parameters of a router: pipeline stages, allocation and flow control."""

from dataclasses import dataclass
from typing import Annotated, Literal

from certree.models.common.errors import MachineError, UnsupportedError
from certree.models.common.fields import Fields, Limits

_Count = Annotated[int, Limits(1, 1 << 20)]
_Cycles = Annotated[int, Limits(0, 1 << 20)]


@dataclass(frozen=True)
class Router:
    """Parameters of an input-queued router for the flit-level simulator, in addition to the depth of its pipeline.

    Of the `router_cycles` of a machine the last ones are traversal, switch allocation and VC allocation; what is left in front of
    them is route computation.
    """

    vc_cycles: _Cycles = 1  # VC allocation; 0: in the cycle of the switch allocation
    switch_cycles: _Count = 1  # switch allocation, at least 1
    traversal_cycles: _Cycles = 1
    credit_cycles: _Cycles = 0  # from a credit's arrival to its use
    allocator: Literal["islip", "separable"] = "islip"  # or separable: the inputs choose first
    allocator_iterations: _Count = 1
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
    sub_message_flits: _Count = 16

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
