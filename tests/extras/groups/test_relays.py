"""Method `relays`: values are right by an executor of its own, bounds are met, faults are found, other requests are refused."""

from dataclasses import replace
from fractions import Fraction
from random import Random

import numpy as np
import pytest

import certree.api as ct
from certree.extras.groups.make.relayed_trees import RelayedNetwork
from certree.models.common.errors import InputError, UnsupportedError
from certree.models.network.spec import parse_topology
from certree.models.schedule.collective import WITH_ONE_ROOT, Collective, CollectiveKind
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.schedule_columns import Op
from certree.synth.method import Request, load_methods
from certree.synth.packing.branchings import KINDS
from certree.verify.checker import verify_schedule
from tests.end_to_end.draws.every_method import drawn_network
from tests.extras.groups.carried import relays_of, run_with_values
from tests.synth.execution import ask

NETWORKS = ("dgx1", "torus:4x4", "mesh:3x3", "h100:2", "fattree:4x4", "hypercube:3,link-capacity=0-1:3", "ring:7,without-link=2>3")


def asked(network: str, kind: CollectiveKind | str, members: tuple[int, ...], size: int = 1 << 18, **fields: object) -> Request:
    """A request for a group; the first member is the root where there is one."""
    kind = CollectiveKind(kind)
    collective = Collective(kind, members[0] if kind in WITH_ONE_ROOT else None, members)
    return replace(ask(network, str(kind), size, root=collective.root, **fields), collective=collective)


def made(*arguments, method: str = "relays", **fields) -> Schedule:
    found = load_methods()[method](asked(*arguments, **fields))
    assert isinstance(found, Schedule)
    return found


def drawn_group(draws: Random, network: str) -> tuple[int, ...]:
    """Some of the endpoints."""
    ends = parse_topology(network).endpoints.tolist()
    return tuple(sorted(draws.sample(ends, draws.randrange(2, min(6, len(ends))))))


@pytest.mark.parametrize("seed", range(12))
def test_values(seed: int) -> None:
    draws = Random(seed)
    network, kind = draws.choice(NETWORKS), draws.choice((CollectiveKind.ALL_REDUCE, *KINDS))
    schedule = made(network, kind, drawn_group(draws, network), 1 << draws.randrange(8, 20), seed=seed)
    assert verify_schedule(schedule).valid
    run_with_values(schedule)


@pytest.mark.parametrize(
    ("network", "kind", "members", "time"),
    [
        ("dgx1", "all-reduce", (0, 7), Fraction(1, 6)),
        ("dgx1", "all-reduce", (0, 3, 5, 6), Fraction(3, 14)),
        ("dgx1", "all-gather", (0, 3, 5, 6), Fraction(1, 8)),
        ("torus:8x8", "broadcast", (0, 1, 8, 9), Fraction(1, 4)),
        ("torus:8x8", "reduce-scatter", (0, 1, 8, 9), Fraction(3, 16)),
    ],
)
def test_bandwidth(network: str, kind: str, members: tuple[int, ...], time: Fraction) -> None:
    schedule = made(network, kind, members, 1 << 24)
    assert schedule.bandwidth_time == time
    assert relays_of(schedule)


def test_the_first_sum_that_reaches_a_relay_is_a_copy() -> None:
    schedule = made("mesh:1x3", "all-reduce", (0, 2))
    into = np.flatnonzero((schedule.dst == 1) & (schedule.chunk == 0))
    assert sorted(schedule.op[into].tolist()) == sorted([Op.COPY, Op.REDUCE])
    wrong = replace(schedule, op=np.where((schedule.dst == 1), Op.REDUCE, schedule.op).astype(np.int8))
    found = verify_schedule(wrong).violations
    assert {one.rule for one in found} >= {"not-held"}
    with pytest.raises(AssertionError, match="to nothing"):
        run_with_values(wrong)


def test_lost_rows_are_found() -> None:
    schedule = made("dgx1", "all-reduce", (0, 3, 5), 1 << 12)
    assert not schedule.has_fine_slots
    names = ("chunk", "op", "step", "src", "dst", "route")
    for lost in range(0, len(schedule.chunk), 3):
        columns = {name: np.delete(getattr(schedule, name), lost) for name in names}
        less = replace(schedule, **columns)
        with pytest.raises(AssertionError):
            run_with_values(less)
        assert not verify_schedule(less).valid


def test_same_seed_same_trees() -> None:
    network = RelayedNetwork(parse_topology("torus:4x4"), Collective(CollectiveKind.ALL_REDUCE, None, (0, 5, 10)))
    first, again = (network.pack(6, 2, seed) for seed in (3, 3))
    assert first is not None
    assert again is not None
    assert np.array_equal(first.up, again.up)
    assert network.pack(9, 2, 3) is None  # a member has four links


def test_refusals() -> None:
    with pytest.raises(UnsupportedError, match=r"^relays is for collectives of some endpoints; here all take part$"):
        load_methods()["relays"](ask("ring:4"))
    with pytest.raises(UnsupportedError, match=r"^found no schedule within 1 steps$"):
        made("ring:4", "all-reduce", (0, 2), chunks=3, steps=1)
    with pytest.raises(UnsupportedError, match=r"^trees for all-gather among 256 members on torus:8x8x8 are too many to look for$"):
        made("torus:8x8x8", "all-gather", tuple(range(0, 512, 2)))


@pytest.mark.parametrize("seed", [21, 24, 45, 80])
def test_drawn_networks(seed: int) -> None:
    """Parallel links, parts of full links, links of one direction, and switches that add to nothing."""
    draws = Random(seed)
    topology = drawn_network(draws)
    members = tuple(sorted(draws.sample(topology.endpoints.tolist(), 2)))
    kind = draws.choice((CollectiveKind.ALL_REDUCE, *KINDS))
    collective = Collective(kind, members[0] if kind in WITH_ONE_ROOT else None, members)
    request = replace(ask(topology, str(kind), 4096, root=collective.root), collective=collective)
    schedule = load_methods()["relays"](request)
    assert isinstance(schedule, Schedule)
    assert verify_schedule(schedule).valid
    run_with_values(schedule)


@pytest.mark.parametrize("relay", [None, 5, ["a"], [1.5]])
def test_a_list_of_relays_has_ids(relay: object) -> None:
    with pytest.raises(InputError, match="allowed: all, members, or ids of endpoints"):
        ct.relayed("dgx1", ct.collective("all-reduce", members=[0, 3]), relay=relay)  # type: ignore[arg-type]


def test_any_whole_numbers_are_ids() -> None:
    group = ct.collective("all-reduce", members=[0, 3])
    network, _ = ct.relayed("dgx1", group, relay=np.array([1]))
    assert network.name == ct.relayed("dgx1", group, relay=iter([1]))[0].name == "dgx1,only=0-1+3"
