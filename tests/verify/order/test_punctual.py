"""One answer where messages may be late, everywhere: the rule "late"; and messages of repeating tables that overtake each other."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import certree.api as ct
from certree.hw.engines.runs import Options
from certree.hw.routers.packets import Packets
from certree.hw.run import run
from certree.hw.tables.lowering import lower
from certree.models.machine.clocks import Clocks
from certree.models.machine.machine import Machine, load_machine
from certree.models.routers import transparency
from certree.models.schedule.schedule import Schedule
from certree.models.tables.table_columns import Profile
from certree.verify.deadlock.freedom import deadlock_of_tables
from certree.verify.order.agreement import race_of_tables
from certree.verify.tables.table_checker import verify_tables
from tests.verify.build import build
from tests.verify.deadlock.routers import small

KNOWN = load_machine("multitree")
SHARED = replace(KNOWN, name="shared", router=replace(KNOWN.router, interfaces="node"))
SKEW = "1=4000"


@pytest.fixture(scope="module")
def doubling() -> Schedule:
    """Relies on slots: the partner's sum of a later step comes into the cell that an earlier step still has to send."""
    made = ct.synthesize("torus:2x4", method="recursive-doubling", size="16KiB", machine=KNOWN)
    assert isinstance(made, Schedule)
    return made


def test_every_command_gives_the_same_answer(doubling: Schedule, tmp_path: Path) -> None:
    made = replace(doubling, made_for=replace(doubling.made_for, machine=SHARED))  # type: ignore[type-var]
    tables = lower(made, 1 << 14, SHARED)
    assert set(ct.verify(made).counts) == set(verify_tables(tables).counts) == set(ct.verify(tables).counts) == {"late"}
    message = ct.verify(made).violations[0].message
    assert "only slots keep them in order; messages may be late: messages over several links share an interface" in message
    with pytest.raises(ct.InvalidScheduleError, match="late"):
        ct.export(made, folder=tmp_path / "tables")
    assert not list(tmp_path.iterdir())
    for engine in ("auto", "fast", "lanes", "flit"):
        for source in (made, tables):
            with pytest.raises(ct.InvalidScheduleError, match="late"):
                ct.simulate(source, engine=engine)
    with pytest.raises(ct.InvalidScheduleError, match="late"):
        ct.model_check(schedule=made)
    with pytest.raises(ct.InvalidScheduleError, match="late"):
        ct.bundle(made, tmp_path / "made.certree")
    assert ct.simulate(tables, without_routers=True).data_ok


def test_clocks_and_other_packets(doubling: Schedule) -> None:
    """On lanes and transparent routers it is right in its slots; a late clock spoils it, and so it is refused with one."""
    assert ct.verify(doubling).valid
    assert ct.simulate(doubling).data_ok
    with pytest.raises(ct.InvalidScheduleError, match="clocks differ"):
        ct.simulate(doubling, skew=SKEW)
    assert not ct.simulate(doubling, skew=SKEW, allow_late=True).data_ok
    packets = Packets(*(np.array([value], np.int64) for value in (0, 0, 1, 8, 0)))
    with pytest.raises(ct.InvalidScheduleError, match="other packets share the routers"):
        ct.simulate(doubling, background=packets)
    trees = ct.synthesize("torus:2x4", method="multitree", size="16KiB", machine=KNOWN)
    assert ct.simulate(trees, skew=SKEW).data_ok


def test_fine_slots_rely_on_time_in_the_same_way(tmp_path: Path) -> None:
    """Guards of fine slots are for clocks; they do not help where routers make messages late."""
    made = ct.synthesize("torus:2x4", method="recursive-doubling", size="1KiB", machine=KNOWN, skew=20)
    assert isinstance(made, Schedule)
    assert made.slot_cycles is not None
    assert ct.verify(made).valid
    assert ct.simulate(made, skew="1=20").data_ok
    with pytest.raises(ct.InvalidScheduleError, match="clocks differ"):
        ct.simulate(made, skew="1=4000")
    shared = replace(made, made_for=replace(made.made_for, machine=SHARED), certificate=None)  # type: ignore[type-var]
    assert set(ct.verify(shared).counts) == set(verify_tables(lower(shared, 1 << 10, SHARED)).counts) == {"late"}
    with pytest.raises(ct.InvalidScheduleError, match="share an interface"):
        ct.export(shared, folder=tmp_path / "tables")
    with pytest.raises(ct.InvalidScheduleError, match="share an interface"):
        ct.simulate(shared)


def test_fine_slots_whose_messages_fit_into_buffers() -> None:
    """Links so long that buffers do not cover the loop of a credit: short messages never need one that is not there."""
    sizes: tuple[tuple[int | str, int | None], ...] = ((1000, None), ("1MiB", None), ("1MiB", 16))
    small, cut, whole = (ct.synthesize("ace-torus:2x2x2", method="two-shot", size=size, chunks=chunks) for size, chunks in sizes)
    for made, agrees in ((small, True), (cut, True), (whole, False)):
        assert isinstance(made, Schedule)
        assert made.slot_cycles is not None
        assert ct.deadlock(made).agrees == agrees
    for made in (small, cut):
        exact = ct.simulate(made, engine="flit")
        assert (exact.late, exact.contention_cycles, exact.cycles) == (0, 0, exact.closed_form_cycles)
        assert ct.simulate(made).engine == "fast"
    assert cut.provenance["pieces"] == 26


def test_the_loop_of_a_credit_is_that_of_the_link() -> None:
    """Eight short lanes take more within the longest loop than a buffer holds; their own loop is shorter, so that no credit lacks.
    With links of one length, as long as the longest, one might, but for virtual channels that come in turn."""
    made = ct.synthesize("ace-alltoall:4x2", method="mixed-shot", size="16KiB", options={"begins": "widest"})
    assert isinstance(made, Schedule)
    assert (ct.deadlock(made).agrees, ct.verify(made).valid) == (True, True)
    exact = ct.simulate(made, engine="flit")
    assert (exact.late, exact.contention_cycles, exact.cycles) == (0, 0, exact.closed_form_cycles)
    far = replace(made.topology, latency=np.full_like(made.topology.latency, int(made.topology.latency.max())))
    assert transparency._fit_buffers(made, KNOWN, [44])
    assert not transparency._fit_buffers(replace(made, topology=far), KNOWN, [44])
    assert transparency.schedule_effect(replace(made, topology=far), KNOWN, [44], 1) is None


def test_auto_takes_what_the_machine_can_run() -> None:
    """mixed-shot has the fewest cycles by closed form, but relies on slots, and these routers make messages late."""
    made = ct.synthesize("torus:4x4", size="1KiB", machine="booksim2")
    assert ct.verify(made).valid
    assert "late" in str(made.provenance["auto"]["considered"]["mixed-shot"])


@pytest.mark.parametrize(
    ("network", "method", "collective", "profile", "relies"),
    [
        ("torus:3x3", "multitree", "all-reduce", Profile.TREES, False),
        ("full:4", "direct", "all-to-all", Profile.BLOCKS, False),
        ("torus:2x4", "recursive-doubling", "all-reduce", Profile.BUFFERS, True),
    ],
)
def test_which_tables_rely_on_slots(network: str, method: str, collective: str, profile: Profile, relies: bool) -> None:
    made = ct.synthesize(network, collective, method=method, size="8KiB")
    assert isinstance(made, Schedule)
    tables = lower(made, 1 << 13, KNOWN)
    assert (tables.profile, race_of_tables(tables) is not None) == (profile, relies)


def test_work_cells_that_iterations_share() -> None:
    """Blocks that pass through a node: right at any timing with a work cell for each iteration, by slots alone with fewer."""
    made = build(
        "mesh:1x3", "all-to-all",
        "0:0>1@0 1:0>1@1 1:1>2@2 2:1>0@1 3:1>2@1 4:2>1@0 5:2>1@1 5:1>0@2",
        roots=[0, 0, 1, 1, 2, 2], targets=[1, 2, 0, 2, 1, 0], period=2, repeats=6,
    )  # fmt: skip
    tables = lower(made, 1 << 10, KNOWN)
    assert tables.in_flight == 1
    race = race_of_tables(tables)
    assert race is not None
    assert race.what == "uses a work cell for iteration 0 and for iteration 1"
    late = Clocks.equal(3)
    late = replace(late, skew=(0, 5000, 0))
    assert not run(tables, Options(engine="lanes", clocks=late)).data_ok
    once = lower(replace(made, repeats=1, period=None), 1 << 10, KNOWN)
    assert race_of_tables(once) is None
    assert run(once, Options(engine="lanes", clocks=late)).data_ok


def overtaking() -> tuple[Schedule, Machine]:
    """Three trees through a switch, which ended with wrong data as long as interfaces counted messages as they came."""
    rows = [
        (1, 0, 2, 0),
        (2, 0, 3, 1),
        (0, 0, 1, 2),
        (1, 2, 1, 7),
        (1, 2, 3, 8),
        (2, 3, 2, 8),
        (0, 1, 3, 9),
        (2, 3, 1, 9),
        (0, 1, 2, 10),
    ]
    network = ct.topology("switch:4")
    ends = list(zip(network.src.tolist(), network.dst.tolist(), strict=True))
    routes = tuple((ends.index((src, 4)), ends.index((4, dst))) for _, src, dst, _ in rows)
    made = build(
        network, "broadcast", [(chunk, 1, step, src, dst) for chunk, src, dst, step in rows],
        collective_root=0, route=list(range(len(rows))), routes=routes, period=3, repeats=8, delay=7,
    )  # fmt: skip
    router = replace(KNOWN.router, vc_cycles=1, switch_cycles=1, traversal_cycles=1, credit_cycles=0, flow_control="wormhole")
    machine = replace(
        KNOWN, name="small", head_flits=0, link_latency_cycles=3, router_cycles=1, ni_cycles=1, vc_count=4, vc_buffer_flits=60,
        reduce_bytes_per_cycle=128, reduce_start_cycles=0, router=replace(router, sub_message_flits=8),
    )  # fmt: skip
    return made, machine


def test_iterations_that_overtake_each_other(tmp_path: Path) -> None:
    made, machine = overtaking()
    tables = lower(made, 3000, machine)
    assert tables.profile is Profile.TREES
    trace = tmp_path / "trace"
    late = Clocks((847, 0, 0, 648, 250), Clocks.equal(5).drift)
    assert run(tables, Options(engine="flit", clocks=late, trace=trace)).data_ok
    came = [json.loads(line) for line in trace.read_text().splitlines()]
    last: dict[tuple[int, ...], int] = {}
    overtaken = 0
    for one in came:  # in the order in which they became usable
        name = (one["node"], one["row"], one["destination"])
        overtaken += one["iteration"] < last.get(name, 0)
        last[name] = max(one["iteration"], last.get(name, 0))
    assert overtaken


def test_routers_that_a_message_finds_empty() -> None:
    """One virtual channel, too little of everything: but slots are longer than any trace of a message stays in a router."""
    shallow = small(vcs=1, flits=10)
    made = ct.synthesize("full:4", method="direct", size=256, machine=shallow)
    assert isinstance(made, Schedule)
    tables = lower(made, 256, shallow)
    assert deadlock_of_tables(tables).agreement is None
    assert verify_tables(tables).valid
    lanes, routers = (run(tables, Options(engine=engine)).cycles for engine in ("lanes", "flit"))
    assert lanes == routers
    larger = lower(made, 1 << 14, shallow)
    assert deadlock_of_tables(larger).agreement is not None
