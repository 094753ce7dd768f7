"""One answer about deadlock everywhere: checker, tables, export, simulator, model checker and packets."""

import json
from dataclasses import replace
from pathlib import Path

import jsonschema
import numpy as np
import pytest

import certree.api as ct
from certree.extras.papers.experiments.collectives.all_reduce_runs import run_all_reduce
from certree.extras.papers.experiments.collectives.local_switches import run_line
from certree.hw.engines.runs import Options
from certree.hw.routers.packets import Packets
from certree.hw.run import run
from certree.hw.tables.lowering import lower
from certree.models.machine.machine import Machine
from certree.models.network.network_files import save_topology
from certree.models.network.topology import Topology
from certree.models.schedule.schedule import Schedule
from certree.verify.checker import verify_schedule
from certree.verify.deadlock.freedom import deadlock_of_routes, deadlock_of_schedule
from certree.verify.deadlock.graph import numbering_fault
from certree.verify.tables.table_checker import verify_tables
from tests.verify.deadlock.routers import KIB, direct, small, switch_ring

ONE_VC = small(vcs=1, flits=8)


@pytest.fixture(scope="module")
def stuck() -> Schedule:
    """A schedule that is valid in slots and deadlocks in routers: a ring of four switches, one virtual channel of 8 flits."""
    return replace(direct(switch_ring(), ONE_VC), virtual_channel=None)


def test_the_example_deadlocks_in_routers_and_not_on_lanes(stuck: Schedule) -> None:
    tables = lower(stuck, 64 * KIB, ONE_VC)
    assert verify_schedule(stuck).valid
    on_lanes = run(tables, Options(engine="lanes"))
    assert (on_lanes.cycles, on_lanes.closed_form_cycles, on_lanes.data_ok) == (19098, 19098, True)
    through_routers = run(tables, Options(engine="flit"))
    assert through_routers.cycles == 194685
    assert through_routers.deadlock[-1] == "the last of these waits for the first"


def test_every_command_gives_the_same_answer(stuck: Schedule, tmp_path: Path) -> None:
    tables = lower(stuck, 64 * KIB, ONE_VC)
    assert set(ct.verify(stuck).counts) == set(verify_tables(tables).counts) == set(ct.verify(tables).counts) == {"deadlock"}
    message = ct.verify(stuck).violations[0].message
    assert "the packet on 0>4>5>6>2 holds 4>5 (virtual channel 0) and waits for 5>6 (virtual channel 0)" in message
    assert "that is a circle. Repairs: routes in 2 layers of virtual channels (the machine has 1)" in message
    assert "or other routes, or buffers of 13056 flits (the machine has 8)" in message
    with pytest.raises(ct.InvalidScheduleError, match="deadlock"):
        ct.export(stuck, folder=tmp_path / "tables")
    assert not list(tmp_path.iterdir())
    for engine in ("auto", "fast", "lanes", "flit"):
        for source in (stuck, tables):
            with pytest.raises(ct.InvalidScheduleError, match="deadlock"):
                ct.simulate(source, engine=engine)
    with pytest.raises(ct.InvalidScheduleError, match="deadlock"):
        ct.model_check(schedule=stuck)
    assert ct.simulate(tables, without_routers=True).data_ok
    assert ct.simulate(tables, engine="flit", allow_deadlock=True).deadlock


@pytest.mark.parametrize(
    "machine",
    [
        small(vcs=1, flits=13056),
        small(vcs=1, flits=13056, flow_control="cut-through"),
        replace(ONE_VC, router_cycles=0),  # no routers that could wait: messages wait in memory
    ],
    ids=["deep", "deep cut-through", "no routers"],
)
def test_the_repairs_that_are_named_repair(stuck: Schedule, machine: Machine) -> None:
    answer = ct.deadlock(stuck, machine=machine)
    assert answer.free
    assert answer.fault() is None
    assert ct.verify(stuck, machine=machine).valid
    if machine.router_cycles:
        assert run(lower(stuck, 64 * KIB, machine), Options(engine="flit")).data_ok


def test_one_flit_less_is_refused(stuck: Schedule) -> None:
    assert not ct.deadlock(stuck, machine=small(flits=12299)).free
    assert not ct.deadlock(stuck, machine=small(flits=13056, vc_reuse="empty")).free


def test_more_virtual_channels_without_rules_for_them_do_not_help(stuck: Schedule) -> None:
    """A packet may take any of them, so all can be taken."""
    answer = ct.deadlock(stuck, machine=small(vcs=4))
    assert not answer.free
    assert {wait.holds.virtual_channels for wait in answer.cycle} == {(0, 1, 2, 3)}
    assert answer.virtual_channels == 2


def numbers_in(document):
    """The numbering of a document, channel by channel, as `numbering_fault` takes it."""
    return {
        (entry["source"], entry["destination"], vc): entry["number"]
        for entry in document["numbering"] or ()
        for vc in entry["virtual_channels"]
    }


def is_rising(document: dict[str, object], answer: ct.Freedom) -> bool:
    """Whether the small checker takes the numbering of a document."""
    return numbering_fault(answer.walks, numbers_in(document)) is None


@pytest.mark.parametrize(
    ("spec", "method"), [("torus:4x4", "halving-doubling"), ("mesh:3x3", "recursive-doubling"), ("fattree:2x4", "direct")]
)
def test_certificates_of_free_schedules_are_checked_again(spec: str, method: str) -> None:
    try:
        schedule = ct.synthesize(spec, method=method, size="64KiB")
    except ct.UnsupportedError:
        schedule = ct.synthesize(spec, method="ring", size="64KiB")
    answer = ct.deadlock(schedule)
    document = json.loads(json.dumps(answer.document()))
    jsonschema.validate(document, ct.schemas()["deadlock"])
    assert answer.free
    assert is_rising(document, answer)


def test_the_counterexample_as_a_document(stuck: Schedule) -> None:
    document = json.loads(json.dumps(ct.deadlock(stuck).document()))
    jsonschema.validate(document, ct.schemas()["deadlock"])
    assert (document["free"], document["numbering"], len(document["cycle"])) == (False, None, 4)
    for wait, after in zip(document["cycle"], [*document["cycle"][1:], document["cycle"][0]], strict=True):
        assert wait["wants"] == after["holds"]
    assert document["agrees_with_lanes"] is False
    assert document["router_effect"] == "buffers of 8 flits do not cover the loop of a credit, 304 cycles"


def ring_packets(topology: Topology, hops: int) -> Packets:
    """Every node sends one packet some nodes on."""
    node = np.arange(len(topology.kind))
    return Packets(node, node, (node + hops) % len(node), np.full(len(node), 400), np.zeros(len(node), np.int64))


@pytest.mark.parametrize(
    ("vcs", "datelines", "hops", "free"), [(2, True, 3, True), (2, False, 3, False), (1, True, 3, False), (1, True, 1, True)]
)
@pytest.mark.parametrize("rule", ["wrap", "ends"])
def test_packets_on_a_ring_need_datelines(vcs: int, datelines: bool, hops: int, free: bool, rule: str) -> None:
    topology = ct.topology("ring:8")
    machine = small(vcs=vcs, flits=20, datelines=datelines, dateline_rule=rule)
    packets = ring_packets(topology, hops)
    answer = ct.deadlock(topology, packets=packets, machine=machine)
    assert answer.free == free
    if free:
        assert answer.fault() is None
        assert not ct.inject(topology, packets, machine=machine).result.deadlock
    else:
        with pytest.raises(ct.DeadlockError, match="may deadlock on ring:8"):
            ct.inject(topology, packets, machine=machine)
        assert ct.inject(topology, packets, machine=machine, allow_deadlock=True).result.deadlock


def test_other_packets_have_channels_of_their_own() -> None:
    schedule = ct.synthesize("ring:8", method="multitree", size="16KiB")
    others = ring_packets(schedule.topology, 3)
    assert ct.simulate(schedule, machine=small(vcs=4, flits=20), background=others).data_ok
    with pytest.raises(ct.InvalidScheduleError, match="virtual channel 1"):  # one for the others: no datelines
        ct.simulate(schedule, machine=small(vcs=2, flits=20), background=others)


def test_a_schedule_without_routes_is_free_on_any_machine() -> None:
    answer = deadlock_of_schedule(ct.synthesize("torus:4x4,without-link=0-1", size="1MiB"), ONE_VC, 1 << 20)  # type: ignore[arg-type]
    assert answer.free
    assert {number for _, number in answer.numbering or ()} == {1}


def test_layers_of_routes_are_virtual_channels_of_the_machine(stuck: Schedule) -> None:
    layers = [int(nodes > 3 or route[0] == 3) for route, nodes in ((route, len(route)) for route in stuck.routes)]
    layered = replace(stuck, virtual_channel=np.array(layers, np.int32))
    verdict = ct.verify(layered, machine=ONE_VC)
    assert set(verdict.counts) == {"channel"}
    assert verdict.violations[0].message == "the routes use 2 virtual channels; machine small has 1 for them"
    answer = ct.deadlock(layered, machine=small(vcs=2))
    assert answer.free == (len(answer.cycle) == 0)


def test_comparisons_and_reducing_switches_ask_too() -> None:
    """A comparison does not simulate what may deadlock; `aggregate` refuses routes that form a circle."""
    network = switch_ring()
    cells = ct.compare(network, methods=["direct"], sizes=["64KiB"], machine=ONE_VC).cells
    assert "deadlock" in str(cells[0]["not_simulated"])
    assert cells[0]["simulated_cycles"] is None
    free = ct.compare(network, methods=["direct"], sizes=["64KiB"], machine=ONE_VC, without_routers=True).cells
    assert free[0]["data_ok"]
    around = [(4, 5), (5, 6), (6, 7), (7, 4)]
    pairs = {(int(a), int(b)): n for n, (a, b) in enumerate(zip(switch_ring().pair_src, switch_ring().pair_dst, strict=True))}
    routes = [(pairs[around[node]], pairs[around[(node + 1) % 4]]) for node in range(4)]
    answer = deadlock_of_routes(switch_ring(), ONE_VC, routes)
    assert not answer.free
    assert len(answer.cycle) == 4
    assert deadlock_of_routes(switch_ring(), ONE_VC, routes[:3]).fault() is None
    assert ct.aggregate("fattree:2x2,reducing=switches", size="4KiB", machine=ONE_VC).result.data_ok


def test_experiments_and_training_ask_too(tmp_path: Path) -> None:
    """Nothing times what may deadlock; without routers it is timed."""
    file = tmp_path / "ring.json"
    save_topology(switch_ring(), file)
    arguments = {
        "network": str(file),
        "methods": ("direct",),
        "options": {},
        "flow": "message",
        "message_bytes": 64 * KIB,
        "machine": ONE_VC.document(),
    }
    for mode in ("slotted", "paced"):
        cell = run_all_reduce({**arguments, "run": mode, "without_routers": False})
        assert cell["cycles"] is None
        assert "deadlock: the packet on" in cell["reason"]
    assert run_all_reduce({**arguments, "run": "slotted", "without_routers": True})["cycles"] == 19098
    line = {**arguments, "method": "direct", "run": "slotted", "engine": "auto", "collective": "all-gather"}
    assert "deadlock: the packet on" in run_line(line)["reason"]
    settings = {"method": "direct", "timing": "slotted", "iterations": 1, "machine": ONE_VC}
    with pytest.raises(ct.InvalidScheduleError, match="deadlock"):
        ct.train("astra-resnet50", file, **settings)  # type: ignore[arg-type]
