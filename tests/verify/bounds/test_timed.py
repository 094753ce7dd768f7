"""Every kind of witness of a time bound: the cycles it shows, and each fault that it can have."""

from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from certree.api.evidence import found_time_bounds
from certree.models.common.errors import InputError
from certree.models.demand import Demand
from certree.models.fine.slots import fine_times
from certree.models.machine.machine import load_machine
from certree.models.network.spec import parse_topology
from certree.models.schedule.collective import Collective, parse_collective
from certree.models.schedule.made_for import MadeFor
from certree.synth.bounds.find import find_bounds
from certree.synth.bounds.quickest import time_bounds
from certree.verify.bounds.instance import Instance
from certree.verify.bounds.timed import TimeInstance, best_time, check_time_bound, load_time_witnesses, make_time_bound
from certree.verify.bounds.witness import Bound, WitnessError
from certree.verify.checker import verify_schedule
from tests.verify.build import COPY, REDUCE, build, network

MULTITREE = load_machine("multitree")
MALFORMED, WRONG, VALUE, FOREIGN = "witness-malformed", "witness-wrong", "witness-value", "witness-foreign"


def of_instance(spec: str, kind: str = "all-reduce", size: int = 16, root: int | None = None, **machine: Any) -> TimeInstance:
    instance = Instance(parse_topology(spec), parse_collective(kind, root))
    return TimeInstance(instance, size, replace(MULTITREE, **machine))


def refusal(of: TimeInstance, bound: Any) -> WitnessError:
    """How a time bound is refused."""
    with pytest.raises(WitnessError) as caught:
        check_time_bound(of, bound)
    return caught.value


def all_bounds(of: TimeInstance) -> list[Bound]:
    bounds = find_bounds(of.instance.topology, of.instance.collective)
    return found_time_bounds(of.instance, bounds[:1], of.message_bytes, of.machine)


def found(of: TimeInstance) -> dict[str, int]:
    """The cycles that each kind of witness proves."""
    bounds = all_bounds(of)
    return {bound["kind"]: check_time_bound(of, bound) for bound in bounds}


@pytest.mark.parametrize(
    ("size", "cycles"),
    [(256, 1251), (1024, 1263), (4096, 1311), (16384, 1486), (32768, 1742), (65536, 2254), (1 << 18, 8223), (1 << 20, 32415)],
)
def test_torus(size: int, cycles: int) -> None:
    """8 hops of 153 cycles and 5, a header, a quarter of the message, 17 for an addition; then 159 and 63/128 of the message."""
    assert max(found(of_instance("torus:8x8", size=size)).values()) == cycles


@pytest.mark.parametrize(
    ("spec", "kind", "size", "root", "cycles"),
    [
        # one link of 158 cycles, a header, 4 granules, 17 for the addition: 180
        ("ring:2", "all-reduce", 64, None, {"flow": 180, "receptions": 180, "load": 163, "additions": 158 + 2 + 17}),
        # units of half a link: each flit takes two cycles, the header and the granules 2 + 8
        ("full:2,capacity=1/2", "all-reduce", 64, None, {"flow": 185, "receptions": 185, "load": 168, "additions": 158 + 4 + 17}),
        # two links; either side of node 0 has half of what the far node needs
        ("ring:4", "broadcast", 64, 0, {"flow": 311 + 1 + 2, "copies": 311 + 1 + 2, "load": 161}),
        # two links, a header, half of the message, an addition
        ("ring:4", "reduce", 64, 0, {"flow": 331, "receptions": 331, "load": 161, "additions": 177}),
        # 3 blocks of 2 granules through two links, or one over the distance of two
        ("ring:4", "all-gather", 128, None, {"flow": 311 + 1 + 1, "radius": 313, "load": 162}),
        ("ring:4", "reduce-scatter", 128, None, {"flow": 330, "receptions": 330, "radius": 330, "load": 162, "additions": 177}),
        ("ring:4", "all-gather", 1 << 14, None, {"flow": 158 + 1 + 384, "radius": 313, "load": 158 + 1 + 384}),
        ("ring:4", "scatter", 1 << 14, 1, {"flow": 158 + 1 + 384, "load": 158 + 1 + 384}),
        ("ring:4", "gather", 1 << 14, 1, {"flow": 158 + 1 + 384, "load": 158 + 1 + 384}),
        ("ring:4", "all-to-all", 1 << 14, None, {"flow": 158 + 1 + 384, "load": 158 + 1 + 512}),
        # through a switch; on networks with switches endpoints do not forward
        ("switch:4", "all-reduce", 64, None,
            {"receptions": 311 + 1 + 3 * 4 + 17, "flow": 311 + 1 + 4 + 17, "load": 311 + 1 + 6, "additions": 311 + 2 + 17}),
        # what a switch adds takes as long; it is as near to an endpoint as a neighbour
        ("switch:4,reducing=switches", "all-reduce", 64, None,
            {"flow": 311 + 1 + 4 + 17, "load": 158 + 1 + 4, "additions": 158 + 2 + 17}),
    ],
)  # fmt: skip
def test_by_hand(spec: str, kind: str, size: int, root: int | None, cycles: dict[str, int]) -> None:
    assert found(of_instance(spec, kind, size, root)) == cycles


def test_sum_that_leaves_later() -> None:
    """Up to 1,391 cycles each contribution leaves alone and is added elsewhere; later ones may leave as a sum; between the two the
    time of a sum decides: received (160) + 17 cycles at a neighbour, 1,224 over 8 hops, 7 in interfaces and for a granule."""
    cycles = [found(of_instance("torus:8x8", size=64 * granules))["flow"] for granules in (155, 165, 170, 185)]
    assert cycles == [1230 + 155 + 17, 1408, 1408, 1230 + 185]


def test_additions_next_to_a_narrow_link() -> None:
    """A path 0-1-2, twice as wide between 0 and 1, and a sum at 2 of three chunks of 60 granules: node 1 adds one chunk while the
    link to 2 carries the other two, and sends it as a sum. No addition follows it, so none may count in the bound."""
    topology = network("eee", [(0, 1, 2), (1, 0, 2), (1, 2, 1), (2, 1, 1)])
    sends = [(0, 0, 2, 1), (0, 0, 0, 1), *((k, (k - 1) * 61, node, 2) for k in (1, 2) for node in (0, 1))]
    rows = [(chunk, REDUCE, step, src, dst) for chunk, step, src, dst in sends] + [(0, COPY, 275, 1, 2)]
    route = [0 if row[3:] == (0, 2) else -1 for row in rows]
    order = sorted(range(len(rows)), key=lambda at: rows[at][2])
    columns = {"route": [route[at] for at in order], "routes": ((0, 2),), "slot_cycles": 1}
    made_for = MadeFor(3 * 60 * 16, MULTITREE)
    run = build(topology, "reduce", [rows[at] for at in order], collective_root=2, chunks=3, made_for=made_for, **columns)
    of = TimeInstance(Instance.of(run), made_for.message_bytes, MULTITREE)
    assert verify_schedule(run).valid
    assert fine_times(run).cycles == 494
    assert found(of)["flow"] == 490 + 2


def test_store_and_forward() -> None:
    """Endpoint 2 between two switches stores: the first flit takes two routes of 311 cycles, each with a header; 3 more follow."""
    topology = network("esese", [(*ends, 1) for k in range(4) for ends in ((k, k + 1), (k + 1, k))])
    of = TimeInstance(Instance(topology, parse_collective("all-reduce")), 64, MULTITREE)
    assert found(of)["flow"] == 2 * (311 + 1 + 1) + 3 + 17


def test_start_and_issue() -> None:
    """A machine that opens its first slot late, and whose interfaces are slow, adds as much to every bound."""
    plain, slow = (found(of_instance("ring:4", ni_start_cycles=start, ni_issue_cycles=start)) for start in (0, 7))
    assert {kind: slow[kind] - cycles for kind, cycles in plain.items()} == dict.fromkeys(plain, 14)


def test_members() -> None:
    """Two nodes on opposite sides of a ring of four: one block each, one addition on four units; nodes between only forward."""
    collective = Collective("all-reduce", members=(0, 2))  # type: ignore[arg-type]
    of = TimeInstance(Instance(parse_topology("ring:4"), collective), 1 << 18, MULTITREE)
    assert found(of) == {
        "flow": 311 + 1 + (1 << 13),
        "receptions": 311 + 1 + (1 << 13),
        "load": 158 + 1 + (1 << 13),
        "additions": 158 + 3 + 16 * 32,
    }


def test_demand() -> None:
    """A demand of 80 granules: 50 go from 0 to 2, the others to and from neighbours: all 80 out of node 0, on two links."""
    collective = Collective("all-to-all", demand=Demand(((0, 1, 20), (0, 2, 50), (0, 3, 10), (1, 2, 16))))  # type: ignore[arg-type]
    of = TimeInstance(Instance(parse_topology("ring:4"), collective), 16 * 96, MULTITREE)
    assert found(of) == {"flow": 311 + 1 + 25, "load": 158 + 1 + 40}
    assert refusal(of, with_flow(**{"from": [1], "to": [0], "label": [9, 5, 9, 9]})).rule == WRONG


def test_unequal_shares() -> None:
    """All of an all-gather at one endpoint is a broadcast."""
    instance = Instance(parse_topology("ring:4"), parse_collective("all-gather"), (Fraction(1), *[Fraction(0)] * 3))
    of = TimeInstance(instance, 64, MULTITREE)
    assert best_time(of, time_bounds(of)) == 311 + 1 + 2


#: labels of ring:2 and ring:4 by which 4 granules take 180 and 2 + 17 more than two hops
PAIR = {"from": [0], "to": [1], "label": [5, 5 + 153 + 3]}
FLOW = {"kind": "flow", "quantity": "time", "value": "180", "witness": PAIR}
LOAD = {"kind": "load", "quantity": "time", "value": "163", "witness": {
    "bound": {"kind": "partition", "quantity": "bandwidth", "value": "1", "witness": {"part": [0, 1]}}}}  # fmt: skip
ADDITIONS = {"kind": "additions", "quantity": "time", "value": "177", "witness": {}}


def with_flow(**changed: Any) -> dict[str, Any]:
    return FLOW | {"witness": PAIR | changed}


def with_load(**changed: Any) -> dict[str, Any]:
    return LOAD | {"witness": {"bound": LOAD["witness"]["bound"] | changed}}  # type: ignore[index]


def test_the_correct_ones() -> None:
    of = of_instance("ring:2", size=64)
    assert [check_time_bound(of, bound) for bound in (FLOW, LOAD, ADDITIONS)] == [180, 163, 177]
    for bound in (FLOW, LOAD, ADDITIONS):
        made = make_time_bound(of, bound["kind"], bound["witness"])
        assert made == bound | {"class": made["class"]}
        assert made["class"][0] == "any shares"
    assert list(load_time_witnesses()) == ["additions", "copies", "flow", "load", "radius", "receptions"]


@pytest.mark.parametrize(
    ("size", "cycles"),
    [
        # alone: four links, a header, the 12 nodes behind other leaf switches
        (64, 617 + 1 + 12 * 4), (256, 617 + 1 + 12 * 16),
        # sums come 948 cycles after the start: two links, four links, two headers, one granule received, 17 for an addition.
        # 37 granules come as sums, 27 alone: 37 + 12 * 27 are at most 985 - 618
        (1024, 311 + 617 + 2 + 1 + 17 + 37),
    ],
)  # fmt: skip
def test_receptions(size: int, cycles: int) -> None:
    assert found(of_instance("fattree:4x4", size=size))["receptions"] == cycles


#: all other nodes of switch:4 for node 1: 12 granules alone
RECEPTIONS = {"kind": "receptions", "quantity": "time", "value": "341", "witness": {"to": 1, "from": [0, 2, 3]}}


@pytest.mark.parametrize(
    ("rule", "kind", "root", "changed"),
    [
        (VALUE, "all-reduce", None, {"from": [0, 2]}), (VALUE, "reduce-scatter", None, {}), (WRONG, "reduce", 0, {}),
        (WRONG, "all-reduce", None, {"from": [0, 1]}), (WRONG, "all-reduce", None, {"from": [0, 4]}),
        (WRONG, "all-reduce", None, {"to": 4}), (FOREIGN, "all-gather", None, {}), (FOREIGN, "broadcast", 0, {}),
        *((MALFORMED, "all-reduce", None, {"from": ends}) for ends in ([], 0, [0, 0], [5], [-1], [True], ["0"], None)),
        *((MALFORMED, "all-reduce", None, {"to": end}) for end in (5, -1, None, [1], True, "1")),
        (MALFORMED, "all-reduce", None, {"more": 1}),
    ],
)  # fmt: skip
def test_receptions_refused(rule: str, kind: str, root: int | None, changed: dict[str, Any]) -> None:
    bound = RECEPTIONS | {"witness": RECEPTIONS["witness"] | changed}
    assert refusal(of_instance("switch:4", kind, 64, root), bound).rule == rule


@pytest.mark.parametrize(
    ("spec", "size", "cycles"),
    [
        # alone: two links, a header, 4 granules for each of three others
        ("switch:4", 64, 311 + 1 + 3 * 4),
        # 995 cycles late are 29 granules for each of 12 nodes behind other leaf switches: 348. A run of 1,929 cycles has room
        # for 316 on the lane of the root, for 3 on each of 15 others
        ("fattree:4x4", 16384, 1929),
    ],
)  # fmt: skip
def test_copies(spec: str, size: int, cycles: int) -> None:
    assert found(of_instance(spec, "broadcast", size, 1))["copies"] == cycles


def test_what_is_late_matters() -> None:
    """All of 1 KiB takes as long as three copies of it, the last granule as long as one copy and two more granules; then there is
    nothing."""
    of = of_instance("switch:4", "broadcast", 1024, 0)
    shown = [int(make_time_bound(of, "copies", {"to": [1, 2, 3], "late": late})["value"]) for late in (0, 63, 64)]
    assert shown == [312 + 3 * 64, 63 + 312 + 3, 0]


#: 4 granules to the other nodes of switch:4 from node 0
COPIES = {"kind": "copies", "quantity": "time", "value": "324", "witness": {"to": [1, 2, 3], "late": 0}}


@pytest.mark.parametrize(
    ("rule", "kind", "root", "changed"),
    [
        (VALUE, "broadcast", 0, {"to": [1, 2]}), (VALUE, "broadcast", 0, {"late": 1}), (WRONG, "broadcast", 2, {}),
        (WRONG, "broadcast", 0, {"to": [1, 4]}), (FOREIGN, "all-gather", None, {}), (FOREIGN, "reduce", 0, {}),
        *((MALFORMED, "broadcast", 0, {"to": ends}) for ends in ([], 0, [1, 1], [5], [-1], [True], None)),
        *((MALFORMED, "broadcast", 0, {"late": late}) for late in (-1, "0", True, None, 1.0, 1 << 61)),
        (MALFORMED, "broadcast", 0, {"more": 1}),
    ],
)  # fmt: skip
def test_copies_refused(rule: str, kind: str, root: int | None, changed: dict[str, Any]) -> None:
    bound = COPIES | {"witness": COPIES["witness"] | changed}
    assert refusal(of_instance("switch:4", kind, 64, root), bound).rule == rule


def test_copies_with_switches_that_multicast() -> None:
    assert check_time_bound(of_instance("switch:4", "broadcast", 64, 0), COPIES) == 324
    assert refusal(of_instance("switch:4,reducing=switches", "broadcast", 64, 0), COPIES).rule == FOREIGN


def test_additions_of_endpoints_and_switches() -> None:
    """Three sums of 2^16 bytes, on five units, 2,048 bytes in a quantum: 20 of them after the first message (160) and a start."""
    assert found(of_instance("switch:4,reducing=switches", size=1 << 16))["additions"] == 160 + 1 + 20 * 16


def test_receptions_with_switches_that_add() -> None:
    assert check_time_bound(of_instance("switch:4", size=64), RECEPTIONS) == 341
    with pytest.raises(WitnessError, match="whose switches do not reduce"):
        check_time_bound(of_instance("switch:4,reducing=switches", size=64), RECEPTIONS)


@pytest.mark.parametrize(
    ("rule", "bound"),
    [
        *((VALUE, bound | {"value": value}) for bound in (FLOW, LOAD, ADDITIONS) for value in ("162", "164", "179", "181")),
        *((MALFORMED, FLOW | {"value": value}) for value in ("0180", "180/1", "-180", "1.8e2", 180, None, "9" * 50, "")),
        *((MALFORMED, bound) for bound in (None, [], {}, FLOW | {"more": 1}, FLOW | {"kind": "quick"}, FLOW | {"quantity": "steps"},
            FLOW | {"witness": []}, FLOW | {"witness": {}}, ADDITIONS | {"witness": {"from": 0}}, with_flow(more=1))),
        *((MALFORMED, with_flow(label=label)) for label in (
            None, [5], [5, 161, 161], [5, 161.5], [5, True], [5, "161"], [5, -1], [5, 1 << 61], [5, 1 << 70], [[5, 161]])),
        *((MALFORMED, with_flow(to=ends)) for ends in ([], 1, [1, 1], [2], [-1], [True], ["1"], None)),
        # a cycle later the fourth granule is in time, too; and no source can send before cycle 5 nor has to be as early
        (WRONG, with_flow(label=[5, 162])), (WRONG, with_flow(label=[6, 162])), (WRONG, with_flow(label=[4, 161])),
        (WRONG, with_flow(to=[0])), (WRONG, with_flow(**{"from": [1]})),
        (FOREIGN, with_load(kind="cut", witness={"set": [0]})), (WRONG, with_load(witness={"part": [0, 0]})),
        (VALUE, with_load(value="2")), (MALFORMED, with_load(value=2)),
        (WRONG, with_load(kind="distance", quantity="latency", witness={"from": 0, "to": 1, "hops": 1, "label": [0, 1]})),
    ],
)  # fmt: skip
def test_refused(rule: str, bound: Any) -> None:
    refused = refusal(of_instance("ring:2", size=64), bound)
    assert refused.rule == rule
    assert "\n" not in refused.message


#: labels of ring:4 around node 0 and around node 2
OUT, INTO = [5, 158, 311, 158], [311, 158, 5, 158]


@pytest.mark.parametrize(
    ("rule", "spec", "kind", "root", "bound"),
    [
        (FOREIGN, "ring:4", "all-reduce", None, with_flow(**{"from": [0, 1], "to": [2], "label": OUT})),
        (FOREIGN, "ring:4", "all-reduce", None, with_flow(to=[1, 2], label=OUT)),
        (FOREIGN, "ring:4", "all-gather", None, with_flow(to=[1, 2], label=OUT)),
        (FOREIGN, "ring:4", "reduce-scatter", None, with_flow(**{"from": [0, 1], "to": [2], "label": OUT})),
        (WRONG, "ring:4", "broadcast", 2, with_flow(label=OUT)), (WRONG, "ring:4", "reduce", 2, with_flow(to=[1], label=OUT)),
        (WRONG, "ring:4", "gather", 2, with_flow(to=[1], label=OUT)), (WRONG, "ring:4", "scatter", 2, with_flow(label=OUT)),
        (FOREIGN, "ring:4", "all-gather", None, ADDITIONS),
        (WRONG, "switch:2", "all-reduce", None, with_flow(to=[2], label=[5, 5, 5])),
        (MALFORMED, "ring:4,without-node=1", "all-reduce", None, with_flow(to=[2], label=[5, 5, 5, 5])),
        (MALFORMED, "ring:4,without-node=1", "all-reduce", None, with_flow(to=[1], label=[5, -1, 5, 5])),
    ],
)  # fmt: skip
def test_refused_elsewhere(rule: str, spec: str, kind: str, root: int | None, bound: Any) -> None:
    assert refusal(of_instance(spec, kind, 16, root), bound).rule == rule


def test_each_label_counts() -> None:
    """Any other cycle for one node of a tight witness proves no more."""
    of = of_instance("mesh:3x3", size=1 << 12)
    (bound,) = (bound for bound in all_bounds(of) if bound["kind"] == "flow")
    for node, cycle in enumerate(bound["witness"]["label"]):
        for other in (cycle - 1, cycle + 1):
            label = bound["witness"]["label"].copy()
            label[node] = other
            with suppress(WitnessError):
                assert int(make_time_bound(of, "flow", bound["witness"] | {"label": label})["value"]) <= int(bound["value"])


def test_no_message() -> None:
    with pytest.raises(InputError, match=r"message of 0 bytes; allowed: 1 or more"):
        of_instance("ring:4", size=0)


def test_stated_clock() -> None:
    """Cycles are proved whatever the clock; a report leaves them out where network and machine contradict each other."""
    instance = Instance(replace(parse_topology("ring:4"), clock=2), parse_collective("all-reduce"))
    assert found_time_bounds(instance, [], 64, MULTITREE) == []
    (bound, *_) = found_time_bounds(Instance(parse_topology("ring:4"), parse_collective("all-reduce")), [], 64, MULTITREE)
    assert check_time_bound(TimeInstance(instance, 64, MULTITREE), bound) == int(bound["value"])
