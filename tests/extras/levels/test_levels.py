"""Method `levels`: what it makes is valid and runs as booked, its levels are those of the network, and loads are counted."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from certree.extras.levels.make.level_orders import LevelOrder, Meetings, level_orders, transfers_of
from certree.extras.levels.make.level_programs import program_of_order, sums_in_levels
from certree.extras.levels.make.probing import runs_alike, soonest
from certree.extras.levels.make.spreads import spread_program
from certree.hw.engines.runs import Options
from certree.hw.run import run, tables_or_plan
from certree.models.common.errors import UnsupportedError
from certree.models.fine.slots import fine_times
from certree.models.network.spec import parse_topology
from certree.models.schedule.schedule import Schedule
from certree.synth.fine.fine_routes import default_routes, lighter_routes
from certree.synth.method import METHODS, load_methods
from certree.synth.methods.auto import candidates
from certree.synth.monitor import Monitor
from certree.verify.checker import verify_schedule
from tests.synth.execution import ask

ROOT = 3


def made(network: str, kind: str = "all-reduce", size: int = 1 << 14, **options: str) -> Schedule:
    found = load_methods()["levels"](
        ask(network, kind, size, root=ROOT if kind in ("broadcast", "reduce") else None, options=options)
    )
    assert isinstance(found, Schedule)
    return found


@pytest.mark.parametrize(
    ("network", "kind", "size"),
    [
        ("h100:2", "all-reduce", 1 << 10),
        ("fattree:3x2", "reduce-scatter", 1 << 12),
        ("fattree:3x4", "all-gather", 1 << 12),
        ("hyperx:2x2@2", "all-reduce", 1 << 12),
        ("mesh:2x3", "all-reduce", 1000),
        ("h100:2", "broadcast", 1 << 12),
        ("fattree:3x2", "reduce", 1 << 12),
        ("dragonfly:7x3x2@1", "reduce-scatter", 1 << 12),
    ],
)
def test_valid_and_as_booked(network: str, kind: str, size: int) -> None:
    found = made(network, kind, size)
    assert verify_schedule(found).valid
    assert found.made_for is not None
    ran = run(tables_or_plan(found, size, found.made_for.machine), Options(mode="slotted"))
    assert ran.data_ok
    assert (ran.cycles, ran.contention_cycles, ran.late) == (fine_times(found).cycles, 0, 0)


def test_routes_of_many_layers_are_left_out() -> None:
    """Even routes of this broadcast need three layers, and each of four virtual channels is used up too early: runs take longer
    than was booked. Default routes on grids with datelines need none."""
    request, order = ask("torus:3x5", "broadcast", 1 << 14, root=1), LevelOrder((15,), 1, 2)
    lighter, default = (spread_program(request, order, routes(request.topology)) for routes in (lighter_routes, default_routes))
    assert lighter.routes != default.routes
    assert not runs_alike(request, lighter)
    assert runs_alike(request, default)
    assert [label for label, _ in soonest(request, [("lighter", lighter), ("default", default)], 2)] == ["default"]
    with pytest.raises(UnsupportedError, match="the routes need more layers of virtual channels than machine multitree can spare"):
        soonest(request, [("lighter", lighter)], 1)


@pytest.mark.parametrize(("network", "sizes"), [("switch:80", (80,)), ("switch:128", (2,) * 7)])
def test_stated_sizes_may_be_larger_or_more(network: str, sizes: tuple[int, ...]) -> None:
    """Than those that are looked for: groups of up to 64, and up to six levels."""
    assert {order.sizes for order in level_orders(ask(network), sizes)} == {sizes}


def test_chunks_that_were_asked_for() -> None:
    request = ask("full:4", message_bytes=1 << 12, chunks=8)
    assert all(len(program.chunk_root) == 8 for _, program in sums_in_levels(request, None))
    with pytest.raises(UnsupportedError, match="levels makes 1, 2, 3, 4, 6, 8, 12, 16, 24, 32 chunks here; 7 were asked for"):
        list(sums_in_levels(replace(request, chunks=7), None))


def test_orders_that_cannot_win_are_left_out() -> None:
    """Left out are orders with much longer estimates than the best schedule."""
    every = level_orders(ask("h100:2", message_bytes=1 << 16))
    few = level_orders(ask("h100:2", message_bytes=1 << 16, monitor=Monitor(bar=800)))
    assert 0 < len(few) < len(every)
    assert few == [order for order in every if order in few]
    with pytest.raises(UnsupportedError, match="levels is not likely to be faster than 100 cycles here"):
        level_orders(ask("h100:2", message_bytes=1 << 16, monitor=Monitor(bar=100)))


@pytest.mark.parametrize(("network", "kind", "size"), [("torus:2x4", "all-reduce", 1 << 14), ("ring:8", "broadcast", 1 << 14)])
def test_the_order_that_wins_is_not_left_out(network: str, kind: str, size: int) -> None:
    """One schedule comes out alone and next to a slightly slower one; it takes about half its estimate or two thirds here."""
    alone = made(network, kind, size)
    cycles = fine_times(alone).cycles
    late = ask(network, kind, size, root=alone.collective.root, monitor=Monitor(bar=cycles + cycles // 100))
    found = METHODS["levels"](late)
    assert isinstance(found, Schedule)
    assert found.digest == alone.digest


def test_faster_than_boxes_where_latency_counts() -> None:
    request = ask("h100:2", message_bytes=1 << 12)
    assert request.cycles(made("h100:2", size=1 << 12)) < request.cycles(METHODS["boxes"](request))


def test_levels_of_rails() -> None:
    """Endpoints of one box meet over 18 lanes, those of one place over rails of 2, and no route joins others."""
    meetings = Meetings(parse_topology("h100:4"))
    inside, rails = meetings.on((1, 8)), meetings.on((8, 4))
    assert inside is not None
    assert rails is not None
    assert (inside.most, rails.most) == (Fraction(7, 18), Fraction(3, 2))
    assert meetings.on((1, 32)) is None
    assert meetings.along((8, 4)) is not None
    assert meetings.along((4, 8)) is None
    assert all(np.prod(order.sizes[:-1]) % 8 == 0 or order.sizes[0] < 8 for order in level_orders(ask("h100:4")))


@pytest.mark.parametrize(
    ("order", "rows"),
    [
        (LevelOrder((2, 3), 0, 1), 6 * (1 + 2)),
        (LevelOrder((2, 3), 1, 1), 6 * (1 + 2 + 1)),
        (LevelOrder((2, 3), 2, 2), 2 * 6 * (2 * 3 // 2 + 2 + 2 + 3)),
        (LevelOrder((2, 3, 2), 2, 2, turned=True), None),
    ],
)
def test_transfers_of_an_order(order: LevelOrder, rows: int | None) -> None:
    """An order has as many transfers as its program, without local copies."""
    request = ask("full:6" if rows else "full:12", message_bytes=1 << 12)
    counted = transfers_of(request, order)
    assert rows in (None, counted)
    program = program_of_order(request, order, even=False)
    assert int((program.src != program.dst).sum()) == counted


@pytest.mark.parametrize(("sizes", "scattered", "pieces"), [((2, 3), 0, 2), ((2, 3), 1, 1), ((2, 3), 2, 1), ((3, 2, 2), 2, 2)])
@pytest.mark.parametrize("kind", ["broadcast", "reduce"])
def test_each_endpoint_gets_each_chunk_once(sizes: tuple[int, ...], scattered: int, pieces: int, kind: str) -> None:
    """From one that has it: in a broadcast in an earlier stage, in a reduce it goes on in a later one."""
    count = math.prod(sizes)
    request = ask(f"full:{count}", kind, root=ROOT)
    program = spread_program(request, LevelOrder(sizes, scattered, pieces), default_routes(request.topology))
    chunks = pieces * math.prod(sizes[:scattered])
    assert program.rows == chunks * (count - 1)
    here, there = (program.src, program.dst) if kind == "broadcast" else (program.dst, program.src)
    step = program.reads if kind == "broadcast" else -program.reads
    came = {(int(chunk), int(node)): int(when) for chunk, node, when in zip(program.chunk, there, step, strict=True)}
    assert len(came) == program.rows
    assert all((chunk, ROOT) not in came for chunk in range(chunks))
    assert all(
        came.get((int(chunk), int(node)), when - 1) < when
        for chunk, node, when in zip(program.chunk, here, step.tolist(), strict=True)
    )


@pytest.mark.parametrize(
    ("network", "options", "why"),
    [
        ("ring:3", {}, "levels needs four endpoints or more; there are 3"),
        ("switch:67", {}, "67 endpoints do not form groups of up to 64 that routes join"),
        ("h100:2", {"factors": "4x4"}, "no levels of sizes 4x4 that routes join"),
        ("h100:2", {"factors": "4x5"}, "levels of sizes 4x5 are for 20 endpoints; there are 16"),
        ("switch:800", {"factors": "800"}, "looks at up to 524288 pairs of endpoints; sizes 800 have 639200"),
    ],
)
def test_refusals(network: str, options: dict[str, str], why: str) -> None:
    with pytest.raises(UnsupportedError, match=why):
        made(network, **options)


@pytest.mark.parametrize(("network", "is_tried"), [("torus:8x8", False), ("h100:4", True), ("torus:5x13", True)])
def test_auto_tries_it_among_many_and_behind_switches(network: str, is_tried: bool) -> None:
    load_methods()
    assert any(name == "levels" for _, name, _ in candidates(ask(network, message_bytes=1 << 10))) == is_tried
