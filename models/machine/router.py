"""Parameters of a router: how its pipeline is cut into stages, how it allocates, how packets flow."""

from dataclasses import asdict, dataclass, fields
from typing import Any

from certree.models.common.errors import MachineError, UnsupportedError

_LIMIT = 1 << 20
_CHOICES = {
    "allocator": ("islip", "separable"),
    "flow_control": ("cut-through", "wormhole"),
    "vc_choice": ("rotate", "any"),
    "vc_reuse": ("tail", "empty"),
    "interfaces": ("link", "node"),
    "routing": ("dimension-order", "shortest"),
    "datelines": (True, False),
    "dateline_rule": ("wrap", "ends"),
}
_AT_LEAST = {"vc_cycles": 0, "traversal_cycles": 0, "credit_cycles": 0}


@dataclass(frozen=True)
class Router:
    """What the flit-level simulator needs to know of an input-queued router beyond the depth of its pipeline.

    Of the `router_cycles` of a machine the last ones are traversal, switch allocation and VC allocation; what is left in front of
    them is route computation.
    """

    vc_cycles: int = 1  # VC allocation; 0: in the cycle of the switch allocation
    switch_cycles: int = 1  # switch allocation, at least 1
    traversal_cycles: int = 1
    credit_cycles: int = 0  # from a credit's arrival to its use
    allocator: str = "islip"  # or separable: the inputs choose first
    allocator_iterations: int = 1
    flow_control: str = "cut-through"  # a packet (of a message the first sub-message) moves on when it fits whole; or wormhole
    vc_choice: str = "rotate"  # a packet bids for the VC behind the one that its output gave away last; or for any that is free
    vc_reuse: str = "tail"  # a VC is free when the tail has left; or when it is empty again
    interfaces: str = "link"  # one network interface for each lane of a node's links; or one for each node
    routing: str = "dimension-order"  # where the network is a whole grid; or shortest: tables of shortest ways everywhere
    datelines: bool = True  # on tori, each packet may take one half of the VCs of a ring only
    dateline_rule: str = "wrap"  # the upper half up to the wrap-around link, the lower behind it; or ends: the upper half all the
    # way around to a lower place, the lower half to a higher one (packets that a table routes; others have "wrap")
    sub_message_flits: int = 16

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name in _CHOICES:
                allowed = _CHOICES[field.name]
                if type(value) is not type(allowed[0]) or value not in allowed:
                    known = ", ".join(str(choice).lower() for choice in allowed)
                    raise MachineError(f"router: {field.name} is {value!r}; allowed: {known}")
            elif type(value) is not int or not _AT_LEAST.get(field.name, 1) <= value <= _LIMIT:
                low = _AT_LEAST.get(field.name, 1)
                raise MachineError(f"router: {field.name} is {value!r}; allowed: whole numbers from {low} to {_LIMIT}")

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


def router_from_document(document: Any, where: str) -> Router:
    """A router from a parsed TOML or JSON table; what it leaves out has the default, MachineError names a field that is wrong."""
    if not isinstance(document, dict):
        raise MachineError(f"{where}: router must be a table")
    unknown = sorted(document.keys() - asdict(Router()).keys())
    if unknown:
        raise MachineError(f"{where}: unknown fields {unknown} of router; known: {', '.join(asdict(Router()))}")
    return Router(**document)
