"""Exchanges and trees in one order: valid, in the order that was asked for, and no slower than recursive doubling."""

from dataclasses import replace
from fractions import Fraction
from itertools import permutations

import pytest

import certree.api as ct
from certree.extras.orders.make import exchanges
from certree.extras.orders.make.arranged import KEEPS, arranged
from certree.extras.orders.make.gathering import Gathering
from certree.extras.orders.make.orders import wanted_order
from certree.models.common.errors import UnsupportedError
from certree.models.machine.machine import load_machine
from certree.models.network.spec import parse_topology
from certree.models.schedule.collective import Collective, CollectiveKind
from certree.models.schedule.made_for import MadeFor
from certree.models.schedule.schedule_columns import Op
from certree.synth.fine.fine_routes import default_routes, even_routes
from certree.synth.fine.fine_schedule import costs_of, schedule_of
from certree.synth.fine.levels import Levels, Piece
from certree.synth.fine.order import order_of
from certree.synth.fine.program import Program
from certree.synth.fine.search import Trial
from certree.synth.method import Request
from certree.synth.ranks.layout import Layout
from certree.verify.checker import verify_schedule
from certree.verify.order.additions import additions_of
from certree.verify.order.expressions import Expression
from tests.verify.order.test_additions import slowly

FULL = parse_topology("full:4")
SUM = Collective(CollectiveKind.ALL_REDUCE).fitted(FULL)


@pytest.mark.parametrize(
    ("method", "network", "collective", "order"),
    [
        ("ordered-exchange", "ring:5", "all-reduce", "one"),
        ("ordered-exchange", "mesh:2x3", "all-reduce", "nested"),
        ("ordered-exchange", "ring:4", "all-reduce", "chain"),
        ("ordered-exchange", "fattree:2x2", "all-reduce", "((0,3),(1,2))"),
        ("ordered-exchange", "mesh:2x2", "reduce-scatter", "rank"),
        ("ordered-trees", "mesh:2x3", "all-reduce", "rank"),
        ("ordered-trees", "fattree:2x2", "all-reduce", "nested"),
        ("ordered-trees", "mesh:2x2", "reduce-scatter", "chain"),
    ],
)
def test_one_order(method: str, network: str, collective: str, order: str) -> None:
    made = ct.synthesize(network, collective, method=method, order=order, size="16KiB", time_limit="0.01s")
    assert ct.verify(made).valid
    found = additions_of(made)
    assert found is not None
    assert found.is_fixed
    assert found.orders == len(set(slowly(made).values())) == 1
    wanted = wanted_order(order, made.topology, made.collective)
    assert wanted.expression is None or found.expression == wanted.expression.text
    assert found.is_nested or not wanted.nested


def test_some_take_part() -> None:
    made = ct.synthesize(
        "mesh:2x3", ct.collective("all-reduce", members=[0, 2, 3]), method="ordered-exchange", size="1KiB", time_limit="0.01s"
    )
    found = additions_of(made)
    assert found is not None
    assert found.expression in ("((0,2),3)", "(0,(2,3))", "((0,3),2)")


def everyone_sends(order: str) -> tuple[Program, Expression]:
    """Four send their values to each other; and an order for them."""
    wanted = wanted_order(order, FULL, SUM).expression
    assert wanted is not None
    return program_of(Levels((4,), FULL.endpoints, [Piece((0,), 0)])), wanted


def program_of(levels: Levels) -> Program:
    stages, roots = levels.rows()
    return stages.program(FULL, SUM, roots, default_routes(FULL))


@pytest.mark.parametrize("keeps", KEEPS)
def test_operands_wait_in_buffers(keeps: str) -> None:
    """Each of four who send to each other adds its neighbour's value, and the sum of the two others, made in a scratch buffer."""
    program, expression = everyone_sends("balanced")
    place = {node: node for node in range(4)}
    made = arranged(program, expression, place, keeps)
    assert made is not None
    local = int(((made.src == made.dst) & (made.op == Op.REDUCE)).sum())
    assert local == 4 * {KEEPS[0]: 1, KEEPS[1]: 2, KEEPS[2]: 3}[keeps]
    pairs = program_of(Levels((2, 2), FULL.endpoints[[0, 2, 1, 3]], [Piece((0, 1), 0)]))
    assert arranged(pairs, expression, place, keeps) is None  # it adds 0 and 2 first


def test_operands_that_follow_each_other_are_sent_at_once() -> None:
    """Sums of one buffer come in the order of rows, and are not sent one after the other has landed."""
    program, expression = everyone_sends("rank")
    made = arranged(program, expression, {node: node for node in range(4)})
    assert made is not None
    follows = order_of(made).follows
    assert follows is not None
    assert {(int(made.src[row]), int(made.src[one])) for row, one in enumerate(follows) if one >= 0 and made.dst[row] == 0} == {
        (2, 1),
        (3, 2),
    }


def test_an_order_that_is_no_exchange() -> None:
    with pytest.raises(UnsupportedError, match="no exchange along dimensions of torus:9x9 has this order"):
        ct.synthesize("torus:9x9", method="ordered-exchange", order="chain", size="1KiB")


@pytest.mark.parametrize(("order", "refused"), [("rank", False), ("balanced", True)])
def test_switches_add_one_operand_after_the_other(order: str, refused: bool) -> None:
    """Operands come to a switch in the order of ranks, which costs no time; a switch cannot add them in another one."""
    if refused:
        with pytest.raises(UnsupportedError, match=r"in-switch: order balanced: the chunks are added in the order '\(\(\(0,1\),2"):
            ct.synthesize("switch:4,reducing=switches", method="in-switch", order=order, size="16KiB")
        return
    made, free = (
        ct.synthesize("switch:4,reducing=switches", method="in-switch", order=one, size="16KiB", time_limit="0.01s")
        for one in (order, None)
    )
    found = additions_of(made)
    assert found is not None
    assert (found.is_fixed, found.expression) == (True, "(((0,1),2),3)")
    assert not additions_of(free).is_fixed  # type: ignore[union-attr]
    assert ct.simulate(made).cycles <= ct.simulate(free).cycles * 102 / 100


CUBE = parse_topology("hypercube:3")
CUBE_GRID = Gathering(CUBE, Layout((2, 2, 2), CUBE.endpoints))


@pytest.mark.parametrize("gathered", [(), *permutations(range(3))])
def test_gathered_in_any_sequence(gathered: tuple[int, ...]) -> None:
    """What was scattered comes back to everyone, in the order of additions in which it was scattered."""
    everyone = Collective(CollectiveKind.ALL_REDUCE).fitted(CUBE)
    stages, roots = Levels((2, 2, 2), CUBE.endpoints, [Piece((0, 1, 2), 3, gathered=gathered)]).rows()
    program = replace(stages.program(CUBE, everyone, roots, even_routes(CUBE)), in_order=True)
    request = Request(CUBE, everyone, 1 << 14, load_machine("multitree"))
    trial = Trial.of(program, costs_of(request, program))
    made = schedule_of(program, trial.order, trial.first, 1, MadeFor(request.message_bytes, request.machine), {})
    assert verify_schedule(made).valid
    found = additions_of(made)
    assert found is not None
    assert found.certain == "(((0,1),(2,3)),((4,5),(6,7)))"


def test_links_are_evenly_loaded() -> None:
    """Dimensions are gathered so that the one that carried least of the sums carries most of the results: 9/16 of the message over
    the busiest link of a hypercube of 16 nodes, where in reverse it is 1."""
    cube = parse_topology("hypercube:4")
    grid = Gathering(cube, Layout((2,) * 4, cube.endpoints))
    order = grid.nearest_first()

    def busiest(gathered: list[tuple[int, ...]]) -> Fraction:
        total = sum(len(gathered) * Fraction(1, 2 << at) * row for at, row in enumerate(grid.loads[list(order)].astype(object)))
        for one in gathered:
            total = total + sum(
                Fraction(1, 16) * (1 << at) * grid.loads[dimension].astype(object) for at, dimension in enumerate(one)
            )
        return Fraction(max(total), len(gathered))

    assert sorted(order) == [0, 1, 2, 3]
    assert busiest([order[::-1]]) == 1
    assert busiest(grid.evenly(order, 4)) == Fraction(9, 16)


def test_more_pieces() -> None:
    """A choice is cut into more pieces while it ends earlier."""
    request = Request(CUBE, Collective(CollectiveKind.ALL_REDUCE).fitted(CUBE), 1 << 22, load_machine("multitree"))
    first = exchanges._Choice.of(CUBE_GRID, (0, 1, 2), 3, exchanges.GATHERS[1], 32)
    before = exchanges._end(request, first.program(request))
    [(end, label, program)] = exchanges._in_more_pieces(request, first, before)
    assert end < before
    assert len(program.chunk_root) >= 64 * 8
    assert f"{len(program.chunk_root) // 8} piece(s)" in label
