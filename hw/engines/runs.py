"""What a run is asked for, and what it showed: the same for every engine."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from pathlib import Path

from certree.hw.engines.clocks import Clocks
from certree.hw.engines.framing import FRAMINGS
from certree.hw.routers.packets import NO_PACKETS, Packets
from certree.models.common.errors import InputError, unknown_name
from certree.models.common.shown import Shown


class Engine(StrEnum):
    """What runs a schedule. The names are the same on the command line, in Python, in files and in results."""

    FAST = "fast"  #: event by event, without routers
    LANES = "lanes"  #: flit by flit, without routers: the same results as `fast`
    FLIT = "flit"  #: flit by flit through routers
    FLOW = "flow"  #: the cost model of `certree.models.cost.flows`: seconds, no cycles and no data


AUTO = "auto"  # `fast` where that is exact, `flit` elsewhere
ENGINES = (AUTO, Engine.FAST.value, Engine.LANES.value, Engine.FLIT.value)  # that count cycles
MODES = ("slotted", "paced")
FASTEST = "fastest"  # of both modes: a choice of those who compare runs
STEP_TIMES = ("paper", "exact")


def check_known(what: str, name: str, known: tuple[str, ...]) -> None:
    """Raise InputError for a name that is not among the known ones."""
    if name not in known:
        raise InputError(unknown_name(what, name, known))


@dataclass(frozen=True)
class Options:
    """How a schedule or its tables are run.

    - `mode`: "slotted", rows fire in slots of fixed length; "paced", as soon as what they wait for has arrived
    - `engine`: one of ENGINES. "auto" and "fast" give exact results or raise; "lanes" leaves the machine's routers out
    - `without_routers`: leave them out with "auto" and "fast", too; the result says what they may add
    - `framing`: each chunk travels as one "message", or as packets ("packet") of the machine's payload
    - `clocks`: skew and drift of each node; None: all equal
    - `step_time`: how long a paced step without rows lasts, "paper": the estimate of MultiTree's footnote 4, or "exact":
      serialization, latency and reduction
    - `others`: packets beside the collective, which meet it in routers, on virtual channels of their own; those that have not
      arrived when it ends are left. `longest_wait`: report what waits that many cycles or more in a router while others pass
    - `in_parts`: whether a paced run that uses a chunk's place twice may be cut into parts with a barrier between them
    - `trace`: file for one JSON line per message, in the order in which they became usable, or, where its name ends in .json, for
      Perfetto and chrome://tracing; not overwritten unless `force`
    - `progress` is called with the current cycle every few million events or flit moves; what it raises ends the run

    Raises InputError for an unknown name, and for what the engine cannot take.
    """

    mode: str = "slotted"
    engine: str = AUTO
    without_routers: bool = False
    framing: str = "message"
    clocks: Clocks | None = None
    step_time: str = "paper"
    others: Packets | None = None
    longest_wait: int | None = None
    in_parts: bool = True
    trace: Path | None = None
    force: bool = False
    progress: Callable[[int], None] | None = None

    def __post_init__(self) -> None:
        check_known("run mode", self.mode, MODES)
        check_known("engine", self.engine, ENGINES)
        check_known("framing", self.framing, FRAMINGS)
        check_known("step time", self.step_time, STEP_TIMES)
        for what, value in (("other packets", self.others), ("waits in routers", self.longest_wait)):
            if value is not None and (self.engine not in (AUTO, Engine.FLIT) or self.without_routers):
                raise InputError(f"{what} need the flit engine: the others have no routers; engine is {self.engine!r}")
        if self.engine == Engine.FLIT and self.without_routers:
            raise InputError("engine flit has routers; without_routers is for the others")

    @property
    def needs_routers(self) -> bool:
        """Whether only routers can run this, whatever they add."""
        return self.engine == Engine.FLIT or self.others is not None or self.longest_wait is not None

    @property
    def leaves_routers_out(self) -> bool:
        """Whether the result may lack what routers add."""
        return self.without_routers or self.engine == Engine.LANES

    @property
    def packets(self) -> Packets:
        """The packets beside the collective."""
        return NO_PACKETS if self.others is None else self.others


@dataclass(frozen=True)
class OtherTraffic:
    """What became of the packets beside a collective: how many arrived before it ended, their latencies in cycles."""

    packets: int
    arrived: int
    latency: int  # of all that arrived, summed
    longest: int


@dataclass(frozen=True, repr=False)
class Run(Shown):
    """What one run showed; times in cycles from the opening of the first slot.

    - `mode`, `engine`: how it ran and on what; `source`: "tables", or "schedule" where there are none, for the reason `no_tables`
    - `cycles`: until the last chunk was written or reduced
    - `closed_form_cycles`: the prediction for a slotted run with equal clocks (None: any other)
    - `contention_cycles`: cycles that ready messages waited for busy lanes, summed over messages and hops
    - `late`: rows (counted once an iteration) that fired after the opening of their slot
    - `data_ok`: every rank that is due a result has it; `wrong` is the first (rank, chunk of all iterations) that has not
    - `max_link_utilization`: busy cycles of the busiest lane over `cycles`, None for several parts
    - `flit_hops`: flits that passed lanes; `messages`: how many there were
    - `deadlock`: who waits for what, when nothing could move any more; empty for runs that ended
    - `router_effect`: what routers may add to a run without them, where that was looked for; None: nothing
    - `starved`: what waited longer than `Options.longest_wait`; `others`: what became of other packets; both on routers only
    - `parts`: how many were run one after the other (`certree.hw.engines.schedule_run`)
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

    @property
    def is_exact(self) -> bool:
        """Whether the cycles are those of the machine with its routers."""
        return self.engine == Engine.FLIT or self.router_effect is None

    def title(self) -> str:
        """How it ran."""
        return f"{self.mode}, {self.engine} engine"

    def facts(self) -> dict[str, object]:
        """The cycles, what they were predicted to be, what waited, and whether the data are right."""
        predicted = {} if self.closed_form_cycles is None else {"closed form": self.closed_form_cycles}
        data = "deadlock" if self.deadlock else "right" if self.data_ok else "wrong"
        return {"cycles": self.cycles, **predicted, "contention": self.contention_cycles, "late": self.late, "data": data}
