"""Lower bounds on the time of a run: a message, a machine, and witnesses that are re-checked exactly and without any solver.

A time bound is a JSON document {"kind", "quantity": "time", "value", "class", "witness"}. Its value is a number of cycles, a whole
number as text, and its class says of which schedules (`bounds.classes`). It holds for all runs of the schedules of that class,
slotted and paced, through routers or without, whatever the chunks, buffers, roots and routes. The proofs use only these properties
of a machine (docs/reference/tables.md):

- No message is fired before `ni_start_cycles`. `inject` cycles after it is fired it stands before the first lane.
- On each lane it takes `scale` cycles for each flit: its header, then its granules. A granule that enters a lane in cycle t can
  enter the next one `hop` cycles later at the earliest (`hops`), or have reached the interface behind it `hop + ni` later.
- Where the network states exact rates, `scale` is 1 and links have whole lanes, their rates rounded up (`Topology.roomy`). The
  lanes of a schedule may be others there. Each is as fast as its unit, at most a flit per cycle, and those of a link together are
  at most as fast as the link. Let s be the cycles that such a lane takes for a flit, and let the part x of a granule, 0 ≤ x < 1,
  enter a lane x · s cycles after the granule. All parts keep the times above: s ≥ 1, a header takes no fewer cycles than with
  `scale` 1, and a message is complete (1 - x) · s cycles after its last part x has reached the interface, so in a whole cycle
  behind it. In w cycles w · rate granules or fewer enter a link, in parts. That is all the proofs use of links, if they count
  amounts of granules instead of granules.
- Nodes use what they get only when the message is complete. An endpoint of a network with switches does not forward.
- Every addition of a chunk takes `reduce_start_cycles` and whole quanta in the one reduction unit of an endpoint or a switch,
  starting when the message that brings the chunk is complete; and no transfer is added to what a copy that is still in flight will
  replace. The bounds do not cover `certree aggregate`, whose switches may have several units.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree.models.common.errors import InputError, short
from certree.models.common.fields import Fields
from certree.models.common.registry import Registry, import_folder
from certree.models.machine.machine import Machine
from certree.models.network.topology import NodeKind
from certree.models.schedule.paths import link_cycles, path_cycles
from certree.models.schedule.timing import ceil_div, reduction_cycles
from certree.verify.bounds.classes import is_general, is_shared
from certree.verify.bounds.instance import Instance
from certree.verify.bounds.witness import CLASS, Bound, WitnessError, check_class, malformed, with_class
from certree.verify.bounds.witnesses.metric import distances

TIME = "time"
_KEYS = ("kind", "quantity", "value", "witness")

Int64 = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class TimeInstance:
    """The instance that a time bound applies to: schedules of `instance` for a message of `message_bytes` on `machine`.

    `instance` is replaced by the instance on links of whole lanes (`Topology.roomy`); `exact` is the one with exact capacities.
    Raises InputError for a message of no bytes. The clock and the link bandwidth that a network may state do not matter to cycles.
    """

    instance: Instance
    message_bytes: int
    machine: Machine
    exact: Instance = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "exact", self.instance.on(self.instance.topology.exact))
        object.__setattr__(self, "instance", self.instance.on(self.instance.topology.roomy))
        if self.message_bytes < 1:
            raise InputError(f"message of {self.message_bytes} bytes; allowed: 1 or more")

    @property
    def scale(self) -> int:
        """The least number of cycles that a lane takes for a flit."""
        return int(self.instance.topology.scale)

    @property
    def granules(self) -> int:
        """The number of flits of the message without headers: no padding makes them fewer."""
        return ceil_div(self.message_bytes, self.machine.flit_bytes)

    def granules_of(self, share: Fraction) -> int:
        """The number of flits of a part of the message, at least: whole chunks hold it."""
        return ceil_div(share.numerator * self.message_bytes, share.denominator * self.machine.flit_bytes)

    @property
    def inject(self) -> int:
        """The number of cycles from the firing of a message until its head stands before the first lane."""
        return self.machine.ni_issue_cycles + self.machine.ni_cycles + self.machine.router_cycles

    @property
    def header(self) -> int:
        """The number of cycles that the header takes on a lane."""
        return self.scale * self.machine.head_flits

    @property
    def leave(self) -> int:
        """Cycles from the time at which a granule could enter one more lane until a message that ends with it is complete."""
        return self.machine.ni_cycles + self.scale

    @property
    def first(self) -> int:
        """The cycle in which the first granule can enter a lane, at the earliest."""
        return self.machine.ni_start_cycles + self.inject + self.header

    @property
    def near(self) -> int:
        """Cycles from a firing to the ejection of the head, at least: over one link, or two where no link joins two holders."""
        topology = self.instance.topology
        adjacent = bool((topology.holds[topology.src] & topology.holds[topology.dst]).any())
        return path_cycles(self.machine, int(link_cycles(topology, self.machine).min()), 1 if adjacent else 2)

    @property
    def addition(self) -> int:
        """The number of cycles from "complete" to "added", at least, at an endpoint or at a switch; 0 where nothing is added."""
        if not self.instance.collective.reduces:
            return 0
        return self.machine.reduce_start_cycles + reduction_cycles(self.machine.flit_bytes, self.machine)

    @property
    def only_endpoints_add(self) -> bool:
        """Whether sums are due, and no switch adds."""
        return self.instance.collective.reduces and not self.instance.topology.reducing.any()

    @property
    def received(self) -> int:
        """The cycle in which the first message of the run can be complete, at the earliest."""
        return self.machine.ni_start_cycles + self.near + self.header + self.scale

    @cached_property
    def hops(self) -> Int64:
        """The cycles from a granule's entry into each link until it can enter a lane of its head, at least. An endpoint that does
        not forward stores the message and fires another one."""
        topology = self.instance.topology
        wire = link_cycles(topology, self.machine)[topology.pair_of_link] + self.machine.router_cycles
        return np.asarray(wire + self.stored[topology.dst], np.int64)

    @cached_property
    def stored(self) -> Int64:
        """The cycles that `hops` counts for a message that is stored at each node and fired again; 0 where it is forwarded."""
        topology = self.instance.topology
        stores = (topology.kind == NodeKind.ENDPOINT) & ~topology.forwards
        return np.asarray((self.leave + self.inject + self.header) * stores, np.int64)

    @cached_property
    def between(self) -> Int64:
        """Distances by `hops` from each endpoint to each node: shape (endpoints, nodes). O(endpoints · links · hops)."""
        topology = self.instance.topology
        return distances(topology, self.hops, topology.endpoints.astype(np.int64))

    def hops_towards(self, sinks: Sequence[int]) -> Int64:
        """`hops`, where a message need not be fired again by one of `sinks`. Cached: searches ask for the same sinks often."""
        if (key := tuple(sinks)) not in self._towards:
            topology = self.instance.topology
            wire = link_cycles(topology, self.machine)[topology.pair_of_link] + self.machine.router_cycles
            self._towards[key] = np.where(np.isin(topology.dst, sinks), wire, self.hops)
        return self._towards[key]

    @cached_property
    def _towards(self) -> dict[tuple[int, ...], Int64]:
        return {}


#: kind -> (instance, witness document) -> cycles that the witness shows; raises WitnessError
TIME_WITNESSES: Registry[Callable[[TimeInstance, Mapping[str, Any]], int]] = Registry("time witness")


def load_time_witnesses() -> Registry[Callable[[TimeInstance, Mapping[str, Any]], int]]:
    """The registry, with every module of `certree.verify.bounds.times` imported."""
    import_folder("certree.verify.bounds.times")
    return TIME_WITNESSES


def check_time_bound(of: TimeInstance, bound: Any) -> int:
    """The cycles of a time bound, if its witness proves exactly this number; WitnessError with the rules of `check_bound`."""
    fields, kinds = Fields(bound, "time bound", malformed).only(*_KEYS, optional=[CLASS]), load_time_witnesses()
    kind, value = fields.text("kind", known=kinds), fields.text("value")
    fields.choice("quantity", (TIME,))
    if not value.isascii() or not value.isdecimal() or len(value) > 40 or str(int(value)) != value:
        fields.refuse(f"value is {short(value)}; allowed: a whole number of cycles, such as '1263'")
    shown = kinds[kind](of, fields.table_of("witness").table)
    if shown != int(value):
        raise WitnessError("witness-value", f"the {kind} witness shows a time bound of {shown} cycles, not {value}")
    check_class(of.instance, kind, bound)
    return shown


def make_time_bound(of: TimeInstance, kind: str, witness: Bound) -> Bound:
    """The time bound of a witness, with the cycles that it proves; WitnessError when it proves nothing."""
    value = str(load_time_witnesses()[kind](of, witness))
    return with_class(of.instance, {"kind": kind, "quantity": TIME, "value": value, "witness": witness})


def best_time(of: TimeInstance, bounds: Sequence[Bound]) -> int:
    """The largest number of cycles that one of the bounds proves; each is re-checked (WitnessError). 0 without bounds."""
    return max((check_time_bound(of, bound) for bound in bounds), default=0)


def best_general_time(instance: Instance, bounds: Sequence[Bound]) -> int | None:
    """The most cycles that one of the bounds, which were checked, proves for any shares of an all-gather or reduce-scatter; None
    where there is no such bound, and for other collectives."""
    if not is_shared(instance):
        return None
    return max((int(bound["value"]) for bound in bounds if is_general(instance, bound)), default=None)
