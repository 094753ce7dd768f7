"""What schedules cost in the terms of cost models, counted from their transfers, against the closed forms and by hand."""

from dataclasses import replace
from fractions import Fraction
from functools import cache
from math import prod

import numpy as np
import pytest

import certree.api as ct
from certree.extras.costs.model.counting import Counts, count
from certree.extras.costs.model.formulas.genmodel import load_genmodel
from certree.extras.costs.model.link_kinds import LinkKind, link_kinds
from certree.extras.costs.model.profile import Profile, factored_profile, halving_profile, pairwise_profile
from certree.models.common.errors import InputError, UnsupportedError
from certree.models.network.spec import parse_topology
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.schedule_columns import Op
from tests.extras.costs.counts.profiles import reduce_broadcast_profile
from tests.synth.execution import make, valid

MODEL = load_genmodel("gentree")
ALPHA, FLOATS = Fraction(1, 50), Fraction(10**7)


#: Table 2 of GenTree: method, options, profile in closed form, numbers of servers
TABLE_2 = [
    ("reduce-broadcast", {}, reduce_broadcast_profile, [2, 3, 5, 9, 10, 12, 24]),
    ("ring", {}, lambda nodes: pairwise_profile(nodes, 2 * (nodes - 1)), [2, 3, 6, 8, 15]),
    *(
        ("halving-doubling", {"distance": distance, "fold": "whole"}, halving_profile, [2, 4, 8, 16, 32, 3, 5, 6, 7, 12, 24])
        for distance in ("doubling", "halving")
    ),
    ("cps", {}, lambda nodes: factored_profile((nodes,)), [2, 3, 5, 9, 10, 12, 24]),
    *(
        ("hierarchical-cps", {"factors": "x".join(map(str, sizes))}, lambda _, sizes=sizes: factored_profile(sizes), [prod(sizes)])
        for sizes in ((2, 2), (6, 2), (2, 6), (3, 5), (12, 2), (2, 12), (2, 3, 4), (4, 3, 2), (3, 3, 3), (2, 2, 3, 2))
    ),
]


@pytest.mark.parametrize(("method", "options", "closed", "servers"), TABLE_2)
def test_table_2(method, options, closed, servers) -> None:
    """Coefficient by coefficient, and so in seconds, exactly."""
    for nodes in servers:
        counted = count(valid(method, f"switch:{nodes}", options=options)).profile()
        assert counted == closed(nodes)
        assert counted.seconds(MODEL.middle, MODEL.server, ALPHA, FLOATS) > 0
    if method == "halving-doubling":  # for any number of servers
        assert all(closed(nodes).steps == 2 * (nodes - 1).bit_length() for nodes in servers)


def repeated(made: Schedule, period: int, repeats: int) -> Schedule:
    return replace(made, rounds=np.ones_like(made.rounds), period=period, repeats=repeats)


def written_out(made: Schedule) -> Schedule:
    """All iterations as rows of one that does not repeat."""
    times, period = made.repeats, made.period or 0
    shift = np.repeat(np.arange(times), made.transfers)
    return Schedule(
        made.topology,
        made.collective,
        np.tile(made.chunk_root, times),
        np.ones(made.total_steps, np.int32),
        np.tile(made.chunk, times) + shift * made.chunks,
        np.tile(made.op, times),
        np.tile(made.step, times) + shift * period,
        np.tile(made.src, times),
        np.tile(made.dst, times),
        np.tile(made.route, times),
        made.routes,
        delay=made.delay,
    )


@cache
def repeating() -> list[Schedule]:
    """Iterations that overlap in two steps, in all, in many, and not at all."""
    ring, cps = make("ring", "full:4"), make("cps", "full:4")
    one = make("reduce-broadcast", "full:4")  # its terms one after the other, into the cell that the next iteration's go to as well
    slow = replace(one, rounds=np.ones(4, np.int32), step=np.where(one.op == Op.REDUCE, one.src - 1, 3))
    return [
        repeated(ring, 4, 5), repeated(cps, 1, 3), make("packing", "mesh:3x3"), repeated(ring, 9, 4), repeated(ring, 1, 2),
        repeated(slow, 1, 4),
    ]  # fmt: skip


@pytest.mark.parametrize("number", range(6))
def test_a_repeating_schedule_counts_as_it_does_written_out(number: int) -> None:
    made = repeating()[number]
    short, long = count(made), count(written_out(made))
    assert made.repeats > 1
    assert short.profile() == long.profile()
    assert (short.sent == long.sent).all()
    assert (short.received == long.received).all()


def test_a_long_run_is_counted_without_writing_it_out() -> None:
    made = repeated(make("ring", "full:4"), period=4, repeats=1 << 20)
    counts = count(made)
    assert counts.steps == 4 * ((1 << 20) - 1) + 6  # 6 steps, the last two of each iteration next to the next one's first
    assert counts.profile().additions == Fraction(3, 4)
    assert len(counts.occurs) < 20


def test_idle_steps_are_no_communication() -> None:
    made = make("cps", "switch:3")
    slower = replace(made, rounds=np.full(7, 4), step=made.step * 6)
    assert count(slower).profile() == count(made).profile()


def test_table_8_traffic() -> None:
    """NetReduce, Table 8: M at a worker and PM at the server; 2(P - 1)/P M on a ring; M with in-network aggregation."""
    workers = 6
    server = count(make("reduce-broadcast", f"switch:{workers + 1}", options={"server": "0"}))
    assert server.traffic() == (workers, workers)
    assert server.sent.tolist()[1:] == server.received.tolist()[1:] == [server.shares] * workers
    assert count(make("ring", f"switch:{workers}")).traffic() == (Fraction(2 * (workers - 1), workers),) * 2
    inside = count(make("netreduce", f"switch:{workers},reducing=switches"))
    assert inside.traffic() == (1, 1)
    assert inside.profile().additions == inside.profile().accesses == 0  # the switch adds up, no server does


def test_links_between_switches_are_counted_by_their_capacity() -> None:
    """In each step of CPS 3 servers below one switch send 9 shares of 1/6 to the other, over a link ten times as fast."""
    counts = count(make("cps", "tree:2x3@10"))
    assert counts.kinds == [LinkKind.SERVER, LinkKind.SWITCH]
    assert counts.narrowest == (1, 10, 0)
    first = counts.link_step == 0
    between = first & (counts.link_kind == LinkKind.SWITCH)
    assert counts.link_communicators[between].tolist() == [4]  # 3 senders
    assert Fraction(int(counts.link_load[between][0]), counts.shares * counts.scale) == Fraction(9, 6 * 10)
    assert counts.profile().received == Fraction(2 * 5, 6)  # the links of servers are the slower ones
    narrow = count(make("cps", "tree:2x3"))
    assert narrow.profile().received == Fraction(2 * 9, 6)


@pytest.mark.parametrize(
    ("network", "kinds"),
    [
        ("switch:5", {LinkKind.SERVER: 10}),
        ("torus:3x3", {LinkKind.SERVER: 36}),
        ("sym384", {LinkKind.SERVER: 768, LinkKind.SWITCH: 32}),
        ("cdc384", {LinkKind.SERVER: 768, LinkKind.SWITCH: 32, LinkKind.CROSS: 2}),
        ("leafspine:3x2x4", {LinkKind.SERVER: 24, LinkKind.SWITCH: 12}),
    ],
)
def test_kinds_of_links(network: str, kinds: dict[LinkKind, int]) -> None:
    values, number = np.unique(link_kinds(parse_topology(network)), return_counts=True)
    assert dict(zip(values.tolist(), number.tolist(), strict=True)) == kinds


def by_hand(made: Schedule) -> tuple[int, Fraction, Fraction, Fraction]:
    """A, C, D and the most any endpoint receives, with dicts and loops."""
    steps: dict[int, dict[int, list[int]]] = {}
    for step, op, chunk, dst in zip(*(getattr(made, name).tolist() for name in ("step", "op", "chunk", "dst")), strict=True):
        steps.setdefault(step, {})
        if op == Op.REDUCE:
            steps[step].setdefault(dst, []).append(chunk)
    added = accessed = 0
    for cells in steps.values():
        added += max((len(chunks) for chunks in cells.values()), default=0)
        accessed += max((len(chunks) + 2 * len(set(chunks)) for chunks in cells.values()), default=0)
    received = np.bincount(made.dst, minlength=len(made.topology.kind)).max()
    return len(steps), Fraction(added, made.chunks), Fraction(accessed, made.chunks), Fraction(int(received), made.chunks)


@pytest.mark.parametrize(
    ("method", "network"),
    [
        ("multitree", "mesh:3x3"),
        ("double-binary-tree", "switch:7"),
        ("gentree", "tree:3+4"),
        ("blueconnect", "fattree:3x4"),
        ("hdrm", "bigraph:4x8"),
    ],
)
def test_irregular_schedules_by_hand(method: str, network: str) -> None:
    made = make(method, network)
    counts = count(made)
    profile = counts.profile()
    assert (profile.steps, profile.additions, profile.accesses, counts.traffic()[1]) == by_hand(made)


def test_what_cannot_be_counted_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    made = make("cps", "switch:4")
    loose = replace(made, route=np.full(made.transfers, -1))
    with pytest.raises(InputError, match="a transfer has no link; verify the schedule first"):
        count(loose)
    monkeypatch.setattr("certree.extras.costs.model.counting.MAX_ROWS", 47)
    with pytest.raises(UnsupportedError, match="48 hops in 1 overlapping iterations; costs are counted for up to 47"):
        count(made)


def test_nothing_sent_costs_nothing() -> None:
    topology = parse_topology("switch:2")
    nothing = np.zeros(0, np.int32)
    made = make("cps", "switch:2")
    empty = Schedule(topology, made.collective, made.chunk_root, np.ones(3, np.int32), *[nothing] * 6)
    assert isinstance(count(empty), Counts)
    assert count(empty).profile() == Profile(0, Fraction(0), Fraction(0), Fraction(0), ())


def test_some_endpoints_cost_what_a_network_of_them_costs() -> None:
    """Four nodes of a mesh of six, on a ring of their own."""
    some = ct.synthesize("mesh:2x3", ct.collective("all-reduce", members=[0, 1, 3, 4]), size="4KiB", method="ring")
    alone, found = count(make("ring", "mesh:2x2")), count(some)
    assert found.endpoints == alone.endpoints == 4
    assert (found.profile(), found.traffic()) == (alone.profile(), alone.traffic())
    cells = ct.cost(some, "mesh:2x2", methods=["ring"]).cells
    assert len({cell["seconds"] for cell in cells}) == 1
    assert [cell["optimality"] is None for cell in cells] == [True, False]
