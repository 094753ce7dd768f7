"""Several collectives in one run of tables: the limits in which they are runs of one, orders, `ideal`, right data, and refusals."""

from fractions import Fraction
from itertools import accumulate
from random import Random
from typing import Any

import pytest

import certree.api as ct
from certree.extras.endpoints.model.named_system import Cut
from certree.extras.endpoints.run.endpoint_program import Payload
from certree.extras.endpoints.run.endpoint_runs import made_schedule
from certree.extras.endpoints.run.tables import spacing as spacings
from certree.extras.endpoints.run.tables.joint_machine import joint_tables, run_joint
from certree.extras.endpoints.run.tables.table_endpoints import Asked, TableEndpoints
from certree.extras.endpoints.run.tables.table_runs import in_other_orders, run_with_endpoints
from certree.extras.endpoints.run.tables.together import Together, run_together
from certree.hw.engines.runs import Options, Run
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.timing import ceil_div
from tests.cli.running import json_of
from tests.extras.endpoints.run.tables_drawn import ACE

SYSTEMS = ("baseline", "baseline++", "ace", "ideal")
CHUNK = 64 << 10
FAR = 1 << 20  # cycles, after which a collective of a few chunks is over


def schedule_of(network: str, kind: str = "all-reduce", method: str | None = None) -> Schedule:
    return made_schedule(ct.topology(network), ct.collective(kind), method, {}, CHUNK).schedule


def together(schedule: Schedule, system: str, *payloads: Payload, lifo: bool = False, without_routers: bool = True) -> Together:
    found = run_together(schedule, ACE, ACE.system(system), payloads, lifo=lifo, without_routers=without_routers)
    assert found.run.data_ok
    assert max(found.ends) == found.run.cycles
    return found


@pytest.mark.parametrize("network", ["ace-torus:4x2x1", "ace-alltoall:2x2"])
@pytest.mark.parametrize("system", SYSTEMS)
def test_one_collective_is_the_run_of_its_tables(network: str, system: str) -> None:
    """To the cycle, on lanes and through routers, of one chunk and of several, whenever it begins."""
    schedule = schedule_of(network)
    for without_routers, size, start in ((True, CHUNK, 0), (False, CHUNK, 0), (True, 5 * CHUNK - 777, 5), (False, 2 * CHUNK, 777)):
        alone = run_joint(joint_tables(schedule, ACE, size), ACE, ACE.system(system), without_routers=without_routers, start=start)
        found = together(schedule, system, Payload(size, start), without_routers=without_routers)
        assert (found.ends, found.run.messages) == ((alone.cycles,), alone.messages)


def one_drawn(number: int) -> int:
    """One collective of a drawn network, size and start: its runs together and alone, to the cycle. Returns the chunks of ACE."""
    random = Random(number)
    kind, networks = random.choice([("all-reduce", ("ace-torus:4x2x1", "ace-torus:2x2x2", "ring:4", "mesh:2x3", "torus:3x3")),
                                    ("all-to-all", ("ace-torus:2x2x1", "ace-alltoall:2x2")),
                                    ("all-gather", ("ring:4", "mesh:2x3"))])  # fmt: skip
    network = random.choice(networks)
    schedule = schedule_of(network, kind, None if network.startswith("ace") else random.choice(["multitree", "ring"]))
    size, start = random.randrange(1, 16 * CHUNK), random.choice([0, 777])
    lanes, system = random.random() < 0.7, random.choice(SYSTEMS)
    alone = run_joint(joint_tables(schedule, ACE, size), ACE, ACE.system(system), without_routers=lanes, start=start)
    found = together(schedule, system, Payload(size, start), without_routers=lanes)
    assert (found.ends, found.run.messages) == ((alone.cycles,), alone.messages), number
    return ceil_div(size, CHUNK)


def test_drawn_collectives_alone() -> None:
    assert sum(one_drawn(number) > 1 for number in range(4)) >= 3


def test_three_hundred_drawn_collectives_alone() -> None:
    assert sum(one_drawn(number) > 1 for number in range(300)) >= 250


@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.parametrize("spacing", [1, 2])
def test_collectives_that_do_not_meet_take_as_long_as_each_alone(
    system: str, spacing: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A later start moves a run by as many cycles; nothing of one collective is left when the next begins."""
    monkeypatch.setattr(spacings, "SPACINGS", (spacing,))
    schedule, sizes = schedule_of("ace-torus:4x2x1"), (6 * CHUNK, 2 * CHUNK, 4 * CHUNK)  # whole chunks of all systems
    alone = [together(schedule, system, Payload(size)).ends[0] for size in sizes]
    assert max(alone) < FAR
    starts = [FAR * number for number in range(1, 4)]
    found = together(schedule, system, *(Payload(size, start) for size, start in zip(sizes, starts, strict=True)))
    taken = [end - start for end, start in zip(found.ends, starts, strict=True)]
    assert taken == alone or (system == "ideal" and taken[-1] <= alone[-1])  # ideal: the run whose last end is the earliest


@pytest.mark.parametrize("system", SYSTEMS)
def test_the_latest_collective_goes_first_where_that_is_asked_for(system: str) -> None:
    schedule = schedule_of("ace-torus:4x2x1")
    payloads = Payload(40 * CHUNK), Payload(2 * CHUNK, 100)
    fifo, lifo = (together(schedule, system, *payloads, lifo=lifo).ends for lifo in (False, True))
    assert lifo[1] < fifo[1]
    assert fifo[0] < fifo[1]
    assert lifo[1] < lifo[0]


def drawn(number: int) -> bool:
    """Collectives of drawn sizes and starts: right data everywhere, none over before the others say, and `ideal` the fastest."""
    random = Random(number)
    kind, networks = random.choice([("all-reduce", ("ace-torus:4x2x1", "ace-torus:2x2x2", "ring:4", "mesh:2x3")),
                                    ("all-to-all", ("ace-torus:2x2x1", "ace-alltoall:2x2"))])  # fmt: skip
    network = random.choice(networks)
    method = None if network.startswith("ace") else random.choice(["multitree", "ring"])
    schedule = schedule_of(network, kind, method)
    payloads = [Payload(random.randrange(1, 5 * CHUNK), random.randrange(4000)) for _ in range(random.randrange(1, 5))]
    lifo, lanes = random.random() < 0.5, random.random() < 0.7
    ends = {name: together(schedule, name, *payloads, lifo=lifo, without_routers=lanes).ends for name in SYSTEMS}
    for name, found in ends.items():
        assert all(payload.start < end for payload, end in zip(payloads, found, strict=True)), (number, name)
        assert max(ends["ideal"]) <= max(found), (number, name)
    return len(payloads) > 1


def test_drawn_collectives() -> None:
    assert sum(map(drawn, range(4))) >= 2


def test_two_hundred_drawn_collectives() -> None:
    assert sum(map(drawn, range(200))) >= 100


def kept(number: int) -> None:
    """The runs of `ideal` that keep the order of another system's: none ends later than that one."""
    random = Random(number)
    kind, networks = random.choice([("all-to-all", ("ace-torus:2x2x1", "ring:4", "ring:5")), ("all-gather", ("ring:4", "mesh:2x3")),
                                    ("all-reduce", ("ring:4", "ace-torus:2x2x1"))])  # fmt: skip
    network = random.choice(networks)
    method = None if network.startswith("ace") or kind == "all-to-all" else random.choice(["multitree", "ring"])
    schedule, count = schedule_of(network, kind, method), random.randrange(2, 5)
    payloads = [Payload(random.randrange(1000, 100000), random.choice([0, random.randrange(12000)])) for _ in range(count)]
    bounds = (0, *accumulate(ceil_div(payload.size, CHUNK) for payload in payloads))
    asked = Asked(bounds, tuple(payload.start for payload in payloads), random.random() < 0.5)
    tables, cut, lanes = joint_tables(schedule, ACE, bounds[-1] * CHUNK), Cut(CHUNK, pads=True), random.random() < 0.7

    def options(system: str) -> Options:
        model = TableEndpoints(ACE, ACE.system(system), Fraction(0), cut=cut, asked=asked)
        return Options("paced", without_routers=lanes, endpoint=model)

    others = {one.name: run_with_endpoints(tables, options(one.name)).cycles for one in ACE.systems if one.name != "ideal"}
    ideal = options("ideal")
    assert isinstance(ideal.endpoint, TableEndpoints)
    for found, again in in_other_orders(tables, ideal, ideal.endpoint, lambda _: True):
        assert isinstance(again.endpoint, TableEndpoints)
        assert found.cycles <= others[str(again.endpoint.of)], (number, again.endpoint.of)


def test_kept_orders_end_no_later() -> None:
    for number in range(6):
        kept(number)


def test_two_hundred_kept_orders_end_no_later() -> None:
    for number in range(200):
        kept(number)


def test_a_collective_that_meets_others_through_routers() -> None:
    """The rows of a collective that is asked for late never come before those that have fired, in runs that keep their order."""
    payloads = Payload(3000, 1), Payload(65536), Payload(304794, 8548)
    ends = {one: together(schedule_of("ring:4", "all-to-all"), one, *payloads, without_routers=False).run.cycles for one in SYSTEMS}
    assert ends["ideal"] == min(ends.values())


def test_parts_that_are_shorter_than_the_chunks_of_a_schedule() -> None:
    """Chunks are as long as the schedule needs, where equal parts would be shorter."""
    found = json_of(
        "endpoints",
        "ace-torus:4x2x1",
        "--chunk",
        500,
        "--size",
        501,
        "--size",
        "501@1000000",
        "--program",
        "tables",
        "--system",
        "ace",
    )
    assert [(one["chunks"], one["chunk_bytes"]) for one in found["systems"]] == [(4, 384)]


def test_endpoints_run_several_collectives_by_tables() -> None:
    runs = ct.endpoints("ace-torus:4x2x1", payloads=["128KiB", "64KiB@1000"], systems=["ace"])
    (found,) = runs.results
    assert (runs.no_tables, found.data_ok, len(found.ends), found.chunks) == (None, True, 2, 3)
    assert found.ends == together(schedule_of("ace-torus:4x2x1"), "ace", Payload(2 * CHUNK), Payload(CHUNK, 1000)).ends


@pytest.mark.parametrize("joint", [True, False])
def test_one_collective_runs_alone_whenever_it_begins(joint: bool) -> None:
    """In the machine of several collectives, too."""
    first, late = (
        ct.endpoints("ace-torus:2x2x1", payloads=[size], systems=["ace"], joint=joint) for size in ("512KiB", "512KiB@777")
    )
    either = [found.joint["ace"] if joint else found.results[0].tables for found in (first, late)]
    runs = [run for run in either if isinstance(run, Run)]
    uses = [run.endpoint for run in runs if run.endpoint is not None]
    assert len(uses) == len(runs) == 2
    assert runs[1].cycles == runs[0].cycles + 777
    assert uses[1].counts["bound_cycles"] == uses[0].counts["bound_cycles"] + 777
    busy = [use.occupancy["memory_bus"] * run.cycles for use, run in zip(uses, runs, strict=True)]
    assert busy[0] == busy[1] > 0
    if not joint:
        assert late.results[0].ends == (late.results[0].cycles,) == (runs[1].cycles,)
    schedule = made_schedule(ct.topology("ace-torus:2x2x1"), ct.collective("all-reduce"), None, {}, 8 * CHUNK).schedule
    assert together(schedule, "ace", Payload(8 * CHUNK), without_routers=False).run.cycles == runs[0].cycles


@pytest.mark.parametrize("start", [-1, 1 << 64])
def test_a_cycle_that_is_none_is_one_line(start: int) -> None:
    with pytest.raises(ct.InputError, match=f"asked for in cycle {start}; allowed: 0 to 999999999999999"):
        Payload(CHUNK, start)


@pytest.mark.parametrize(("more", "name"), [({"without": ["spare"]}, "without"), ({"ways": 1}, "ways")])
def test_what_is_for_messages_alone_is_refused_next_to_them_too(more: dict[str, Any], name: str) -> None:
    for payloads in (["4KiB"], ["4KiB", "4KiB"]):
        runs = ct.endpoints("ace-torus:2x2x1", payloads=payloads, systems=["ace"], joint=True, **more)
        assert runs.joint == {"ace": f"{name} is for messages alone"}
