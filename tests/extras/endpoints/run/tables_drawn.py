"""Tables, machines and endpoints to draw from."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction

from hypothesis import assume
from hypothesis import strategies as st

from certree.extras.endpoints.model.endpoint import Endpoint, load_endpoint
from certree.extras.endpoints.run.tables.table_endpoints import iteration_bytes
from certree.hw.engines.runs import Run
from certree.hw.tables.lowering import lower
from certree.models.common.errors import UnsupportedError
from certree.models.machine.machine import Machine
from certree.models.schedule.collective import SYMMETRIC_KINDS, CollectiveKind
from certree.models.schedule.schedule import Schedule
from certree.models.tables.tables import Tables
from certree.verify.order.agreement import race_of_tables
from tests.hw.counted import SPECS as BLOCK_SPECS
from tests.hw.counted import blocks
from tests.hw.made import MULTITREE, made
from tests.hw.trees import ROUTED_SPECS, SPECS, tree_schedule

GIGA = 10**9
SHARES = (Fraction(0), Fraction(0), Fraction(1, 3), Fraction(1))
ACE = load_endpoint("ace")
KINDS = (*SYMMETRIC_KINDS, CollectiveKind.BROADCAST)
BLOCK_KINDS = (CollectiveKind.ALL_TO_ALL, CollectiveKind.GATHER, CollectiveKind.SCATTER)
#: networks, and methods by which each node sends one message at a time to any other, in the order of steps
ALIKE = (
    ("ring", "ring:2"), ("ring", "ring:3"), ("ring", "ring:4"), ("ring", "ring:5"), ("direct", "full:4"), ("direct", "full:5"),
    ("multitree", "full:4"),
)  # fmt: skip


#: why drawn endpoints may refuse what they are asked for: iterations that meet, or that outgrow the SRAM when padded, and rates
REFUSED = (
    "iterations in progress at a time, and endpoints ace have room for",
    "bytes of SRAM of ace: cut the message",
    "more ticks of rates than 64 bits count",
)


def or_refused(run: Callable[[], Run], *reasons: str) -> Run | None:
    """The run, or None where it is refused for one of REFUSED or of these reasons; other refusals are raised."""
    try:
        return run()
    except UnsupportedError as error:
        if not any(reason in str(error) for reason in (*REFUSED, *reasons)):
            raise
        return None


@dataclass(frozen=True)
class Asked:
    """Tables with endpoints. `mode`: of the run; `computing`: the share of memory bandwidth that it asks for."""

    tables: Tables
    endpoint: Endpoint
    mode: str
    computing: Fraction


@st.composite
def asked(draw: st.DrawFn) -> Asked:
    """Trees and blocks, once or in iterations, of which the SRAM has room for a few; right at any timing."""
    repeats = draw(st.sampled_from([1, 1, 2, 5]))
    seed = draw(st.integers(0, 2**32))
    if draw(st.booleans()):
        kind = draw(st.sampled_from(KINDS))
        made_ = tree_schedule(
            draw(st.sampled_from(SPECS + ROUTED_SPECS)), kind, draw(st.integers(1, 3)), delay=draw(st.integers(1, 3)),
            repeats=repeats, seed=seed,
        )  # fmt: skip
    else:
        made_ = blocks(
            draw(st.sampled_from(BLOCK_SPECS)), draw(st.sampled_from(BLOCK_KINDS)), 1, draw(st.integers(1, 3)), repeats, seed
        )
    machine = replace(
        MULTITREE, router_cycles=draw(st.integers(3, 4)), link_latency_cycles=draw(st.integers(0, 30)),
        head_flits=draw(st.integers(0, 2)), ni_cycles=draw(st.integers(0, 2)), ni_issue_cycles=draw(st.integers(0, 2)),
        ni_buffer_flits=draw(st.sampled_from([0, 5, 400])),
    )  # fmt: skip
    try:
        tables = lower(made_, draw(st.integers(16, 1 << 15)), machine)
    except UnsupportedError:
        assume(False)
    assume(race_of_tables(tables) is None)
    load, result = (int(column.max()) for column in iteration_bytes(tables))
    places = draw(st.integers(1, 6))
    sram = -(-max(load, result) * places * (load + result) // load) + load + result
    engine = replace(
        ACE.engine, sram_bytes=sram, state_machines=draw(st.sampled_from([1, 2, 16])), banks=draw(st.sampled_from([1, 4])),
        alus=draw(st.sampled_from([1, 4])), bank_bytes=draw(st.sampled_from([4, 256])),
    )  # fmt: skip
    endpoint = replace(ACE, buses=draw_buses(draw), engine=engine)
    return Asked(tables, endpoint, draw(st.sampled_from(["slotted", "paced"])), draw(st.sampled_from(SHARES)))


def draw_buses(draw: st.DrawFn) -> object:
    """Slow and fast buses."""
    return replace(
        ACE.buses, interface_bytes_per_second=Fraction(draw(st.integers(2, 600)) * GIGA),
        memory_bytes_per_second=Fraction(draw(st.integers(2, 1200)) * GIGA), latency_cycles=draw(st.integers(0, 60)),
        overhead_cycles=draw(st.integers(0, 20)), gap_cycles=draw(st.integers(0, 20)),
    )  # fmt: skip


@dataclass(frozen=True)
class Alike:
    """What both `endpoints` and a run of tables can express: a schedule, its tables, endpoints with one chunk of `size` bytes."""

    schedule: Schedule
    tables: Tables
    endpoint: Endpoint
    size: int


@st.composite
def alike(draw: st.DrawFn) -> Alike:
    """Routers and interfaces that take no time, messages without heads, and links of a flit each cycle."""
    method, spec = draw(st.sampled_from(ALIKE))
    collective = draw(st.sampled_from(["all-reduce", "all-gather", "reduce-scatter"]))
    options = {"bidirectional": "false"} if method == "ring" and draw(st.booleans()) else {}
    latency, flit = draw(st.integers(0, 300)), draw(st.sampled_from([8, 16, 32, 64]))
    machine: Machine = replace(
        MULTITREE, head_flits=0, router_cycles=0, ni_cycles=0, link_latency_cycles=latency, flit_bytes=flit, ni_buffer_flits=1 << 30
    )
    schedule = made(method, spec, 1 << 16, machine, collective, **options)
    segment = draw(st.integers(1, 300)) * flit
    size = segment * schedule.chunks * schedule.repeats
    link = replace(ACE.inter_package, bytes_per_second=Fraction(flit * GIGA), efficiency=Fraction(1), latency_cycles=latency)
    systems = tuple(
        replace(one, chunk_bytes=size, message_bytes=segment, bounds=None, memory_bytes_per_second=None) for one in ACE.systems
    )
    engine = replace(ACE.engine, sram_bytes=1 << 26)
    endpoint = replace(ACE, inter_package=link, buses=draw_buses(draw), systems=systems, engine=engine)
    return Alike(schedule, lower(schedule, size, machine), endpoint, size)
