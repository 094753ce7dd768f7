"""Options and results of runs, the same for every engine, and the interface to a model of endpoints, which an extra provides."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from pathlib import Path
from typing import Any

from certree.hw import _core
from certree.hw.engines.table_rows import Rows
from certree.hw.routers.packets import NO_PACKETS, Packets
from certree.models.common.errors import InputError, unknown_name
from certree.models.common.shown import Shown
from certree.models.machine.clocks import Clocks
from certree.models.schedule.timing import FRAMINGS
from certree.models.tables.tables import Tables


class Engine(StrEnum):
    """Engines that run a schedule. The names are the same on the command line, in Python, in files and in results."""

    FAST = "fast"  #: event by event, without routers
    LANES = "lanes"  #: flit by flit, without routers: the same results as `fast`
    FLIT = "flit"  #: flit by flit through routers
    FLOW = "flow"  #: the cost model of `certree.extras.costs.model.flows`: seconds, no cycles and no data


AUTO = "auto"  # `fast` where that is exact, `flit` elsewhere
ENGINES = (AUTO, Engine.FAST.value, Engine.LANES.value, Engine.FLIT.value)  # that count cycles
MODES = ("slotted", "paced")
FASTEST = "fastest"  # both modes, for comparisons of runs
STEP_TIMES = ("paper", "exact")


def check_known(what: str, name: str, known: tuple[str, ...]) -> None:
    """Raise InputError for a name that is not among the known ones."""
    if name not in known:
        raise InputError(unknown_name(what, name, known))


@dataclass(frozen=True)
class EndpointUse:
    """The use of the endpoints of a run. `system`: the system that ran the collective; `order`: the system whose order of messages
    the run kept, if it is a different one. `usable_cycles`: when the last chunk was written or reduced; the cycles of a run may
    include the return of results to memory. `occupancy`: shares of the run in which units were busy, averaged over the nodes;
    `counts`: other numbers, by name; `delays`: mean cycles that transfers, sums, messages and iterations took or waited."""

    system: str
    usable_cycles: int
    occupancy: Mapping[str, Fraction]
    counts: Mapping[str, int]
    order: str | None = None
    delays: Mapping[str, Fraction] = field(default_factory=dict)


@dataclass(frozen=True)
class EndpointEvents:
    """The events of endpoints in the trace of a run. `at_interface`: by number of a message the cycle in which its payload was
    at its interface; `steps`: (cycle, node, iteration, what happened) of iterations at engines."""

    at_interface: Mapping[int, int]
    steps: Sequence[tuple[int, int, int, str]]


class EndpointModel(ABC):
    """A model of endpoints for runs of tables: the units of a node between memory and network interface."""

    name: str

    @abstractmethod
    def start(self, source: Tables, rows: Rows, *, traced: bool) -> _core.Endpoints:
        """The endpoints of one run. UnsupportedError where they cannot run the tables."""

    @abstractmethod
    def prepare(self, core: Any) -> None:
        """Give the core of a run on lanes the data that it needs before it starts."""

    @abstractmethod
    def use(self, core: Any, endpoints: _core.Endpoints, counters: Mapping[str, int]) -> EndpointUse:
        """The use of the endpoints in a run that has ended or stalled; `counters` are those of the engine."""

    @abstractmethod
    def events(self, core: Any, endpoints: _core.Endpoints) -> EndpointEvents:
        """The events of the endpoints in a traced run that has ended."""


@dataclass(frozen=True)
class Options:
    """Options of a run of a schedule or its tables.

    - `mode`: "slotted", rows fire in slots of fixed length; "paced", as soon as what they wait for has arrived
    - `engine`: one of ENGINES. "auto" and "fast" give exact results or raise; "lanes" leaves the machine's routers out
    - `without_routers`: leave routers out with "auto" and "fast" too; the result states what they may add
    - `framing`: each chunk travels as one "message", or as packets ("packet") of the machine's payload
    - `clocks`: skew and drift of each node; None: all equal
    - `step_time`: length of a paced step without rows, "paper": the estimate of MultiTree's footnote 4, or "exact":
      serialization, latency and reduction
    - `others`: packets that share the routers with the collective, on separate virtual channels; those that have not arrived when
      the collective ends are dropped. `longest_wait`: report packets that wait at least N cycles in a router while others pass
    - `at_any_timing`: the data of the program are proved to be right at any timing; without it a paced run refuses rows that do not
      wait for all that their cell ever gets
    - `stated_order`: the order of additions in which rows add by their slots; the run reports operands that are not added in it
    - `endpoint`: what nodes have between memory and network interface, in place of the reduction unit of the machine; tables only
    - `in_parts`: whether a paced run that uses a chunk's place twice may be cut into parts with a barrier between them
    - `trace`: file for one JSON line per message, in the order in which they became usable, or, where its name ends in .json, for
      Perfetto and chrome://tracing; not overwritten unless `force`
    - `trace_flits`: file for every step of flits and credits in routers (`certree.models.traces.flits`)
    - `observer` is called with the engine of a run that has ended, which recorded the uses of links as for a trace
    - `progress` is called with the current cycle every few million events or flit moves; an exception from it ends the run

    Raises InputError for an unknown name, and for options that the engine does not support.
    """

    mode: str = "slotted"
    engine: str = AUTO
    without_routers: bool = False
    framing: str = "message"
    clocks: Clocks | None = None
    step_time: str = "paper"
    stated_order: str | None = None
    others: Packets | None = None
    longest_wait: int | None = None
    at_any_timing: bool = False
    endpoint: EndpointModel | None = None
    in_parts: bool = True
    trace: Path | None = None
    trace_flits: Path | None = None
    force: bool = False
    progress: Callable[[int], None] | None = None
    observer: Callable[[Any], None] | None = None  # of `certree.hw.engines.engine.RowEngine`

    @property
    def has_one_trace(self) -> bool:
        """Whether both traces go to one file, however its path is spelled."""
        return bool(self.trace and self.trace_flits and self.trace.resolve() == self.trace_flits.resolve())

    def __post_init__(self) -> None:
        check_known("run mode", self.mode, MODES)
        check_known("engine", self.engine, ENGINES)
        check_known("framing", self.framing, FRAMINGS)
        check_known("step time", self.step_time, STEP_TIMES)
        for what, value in (
            ("other packets", self.others),
            ("waits in routers", self.longest_wait),
            ("traces of flits", self.trace_flits),
        ):
            if value is not None and (self.engine not in (AUTO, Engine.FLIT) or self.without_routers):
                raise InputError(f"{what} need the flit engine: the others have no routers; engine is {self.engine!r}")
        if self.trace_flits is not None and self.others is not None:
            raise InputError("traces of flits: not supported next to other packets; leave either out")
        if self.engine == Engine.FLIT and self.without_routers:
            raise InputError("engine flit has routers; without_routers is for the others")

    @property
    def is_traced(self) -> bool:
        """Whether the uses of links are recorded."""
        return self.trace is not None or self.observer is not None

    @property
    def needs_routers(self) -> bool:
        """Whether the run needs routers."""
        return self.engine == Engine.FLIT or any(
            option is not None for option in (self.others, self.longest_wait, self.trace_flits)
        )

    @property
    def leaves_routers_out(self) -> bool:
        """Whether the result may omit the effects of routers."""
        return self.without_routers or self.engine == Engine.LANES

    @property
    def packets(self) -> Packets:
        """The packets next to the collective."""
        return NO_PACKETS if self.others is None else self.others


@dataclass(frozen=True)
class OtherTraffic:
    """Results of the packets next to a collective: how many arrived before it ended, and their latencies in cycles."""

    packets: int
    arrived: int
    latency: int  # of all that arrived, summed
    longest: int


@dataclass(frozen=True, repr=False)
class Run(Shown):
    """The results of one run; times in cycles from the opening of the first slot.

    - `mode`, `engine`: how it ran and on what; `source`: "tables", or "schedule" where there are none, for the reason `no_tables`
    - `cycles`: until the last chunk was written or reduced
    - `closed_form_cycles`: the prediction for a slotted run with equal clocks (None: any other)
    - `contention_cycles`: cycles that ready messages waited for busy lanes, summed over messages and hops
    - `late`: rows (counted once per iteration) that fired after the opening of their slot
    - `data_ok`: every due result is correct; `wrong` is the first (rank, chunk of all iterations) with a wrong value
    - `max_link_utilization`: busy cycles of the busiest lane over `cycles`, None for several parts
    - `flit_hops`: flits that passed lanes; `messages`: their number
    - `deadlock`: what nodes wait for, when nothing can move any more; empty for runs that ended
    - `router_effect`: the effect that routers may add to a run without them, if known; None: no effect
    - `starved`: packets that waited longer than `Options.longest_wait`; `others`: results of other packets; both on routers only
    - `stated_order`: the order of additions that is stated, if there is one; `order_faults`: the first operands that were added
      after one that comes later in it, and `out_of_order` how many were
    - `endpoint`: what the endpoints did, in a run that has them; `cycles` then last until their results are in memory
    - `parts`: number of parts that were run one after the other (`certree.hw.engines.schedule_run`)
    """

    mode: str
    engine: Engine
    source: str
    cycles: int
    closed_form_cycles: int | None
    contention_cycles: int
    late: int
    data_ok: bool
    wrong: tuple[int, int] | None
    max_link_utilization: Fraction | None
    flit_hops: int
    messages: int
    deadlock: tuple[str, ...]
    router_effect: str | None = None
    no_tables: str | None = None
    starved: tuple[str, ...] = ()
    others: OtherTraffic | None = None
    parts: int = 1
    stated_order: str | None = None
    order_faults: tuple[str, ...] = ()
    out_of_order: int = 0
    endpoint: EndpointUse | None = None

    @property
    def is_exact(self) -> bool:
        """Whether the cycles are those of the machine with its routers."""
        return self.engine == Engine.FLIT or self.router_effect is None

    def title(self) -> str:
        """Mode and engine."""
        return f"{self.mode}, {self.engine} engine"

    def facts(self) -> dict[str, object]:
        """The cycles, their prediction, the waits, and whether the data are correct."""
        predicted = {} if self.closed_form_cycles is None else {"closed form": self.closed_form_cycles}
        data = "deadlock" if self.deadlock else "right" if self.data_ok else "wrong"
        return {"cycles": self.cycles, **predicted, "contention": self.contention_cycles, "late": self.late, "data": data}
