"""Method `ring-levels`: what it makes is valid and runs as booked through routers, and translations take it to itself."""

from dataclasses import replace

import numpy as np
import pytest

from certree.extras.levels.make.ring_pieces import RingEstimates, chunks_of_a_piece, ring_pieces
from certree.extras.levels.make.ring_schedules import least_transfers
from certree.extras.levels.make.translated import Rings, Translated
from certree.models.common.errors import UnsupportedError
from certree.models.fine.slots import fine_times
from certree.models.machine.machine import load_machine
from certree.models.schedule.schedule import Schedule
from certree.synth.fine.fine_schedule import costs_of
from certree.synth.fine.levels import Piece
from certree.synth.method import load_methods
from certree.synth.monitor import Monitor
from certree.verify.checker import verify_schedule
from certree.verify.deadlock.deadlock_verdicts import refusal
from tests.bench.small.curve import from_tables
from tests.synth.execution import ask

NO_TIME = 0.0


def made(network: str, size: int, **fields: object) -> Schedule:
    found = load_methods()["ring-levels"](ask(network, "all-reduce", size, **fields))
    assert isinstance(found, Schedule)
    return found


@pytest.mark.parametrize(
    ("network", "size"), [("ring:5", 1000), ("torus:3x5", 1 << 12), ("torus:4x4", 1 << 14), ("torus:3x3x4", 1 << 12)]
)
def test_valid_and_as_booked(network: str, size: int) -> None:
    request = ask(network, "all-reduce", size)
    found = made(network, size, monitor=Monitor(deadline=NO_TIME))
    assert verify_schedule(found).valid
    ran = from_tables(found, request)
    assert (ran.cycles, ran.contention_cycles, ran.late) == (fine_times(found).cycles, 0, 0)


@pytest.mark.parametrize(
    "piece",
    [
        Piece((0, 1), 2, 2),
        Piece((1, 0), 1, 1, mirrored=True),
        Piece((0, 1), 1, 4, swaps=1),
        Piece((1, 0), 1, 2, swaps=2),
        Piece((0, 1), 0, swaps=2),
        Piece((0, 1), 0),
    ],
)
def test_every_kind_of_piece_stands_for_all(piece: Piece) -> None:
    """What is booked on one node, or on those of a few that swap, is right on all."""
    request = ask("torus:4x8", "all-reduce", 1 << 13)
    rings = Rings(request.topology)
    pieces = (piece, Piece(piece.order[::-1], piece.scattered, piece.run, swaps=piece.swaps))
    translated = Translated(rings, request.collective, pieces)
    trial = translated.trial(costs_of(request, translated.program))
    written = translated.written(trial, trial.first)
    rows = written["columns"]
    assert len(rows["chunk"]) >= least_transfers(rings, pieces)
    assert len(rows["chunk"]) * int(np.prod(translated.apart)) % 32 == 0
    routes = written["routes"]
    for src, dst, route in zip(*(rows[name].tolist() for name in ("src", "dst", "route")), strict=True):
        if route >= 0:
            ends = request.topology.src[list(routes[route])].tolist(), request.topology.dst[list(routes[route])].tolist()
            assert (ends[0][0], ends[1][-1], ends[0][1:]) == (src, dst, ends[1][:-1])
    assert translated.chunks == 2 * chunks_of_a_piece(rings.layout.sizes, pieces)


def test_translations_take_all_to_itself() -> None:
    """Along rings without swaps by one node, along others by two."""
    found = made("torus:4x6", 1 << 12, monitor=Monitor(deadline=NO_TIME))
    place = np.arange(24).reshape(4, 6)
    moved = np.roll(place, (2, 2), axis=(0, 1)).ravel()
    rows = np.stack((found.step, found.op, found.src, found.dst))
    images = np.stack((found.step, found.op, moved[found.src], moved[found.dst]))
    assert sorted(map(tuple, rows.T.tolist())) == sorted(map(tuple, images.T.tolist()))


def test_no_message_meets_its_translations() -> None:
    """Over two links, of a message that takes longer than the first of them: the second is taken by that of the next node."""
    assert verify_schedule(made("torus:5x5,latency=1", 1 << 12, monitor=Monitor(deadline=NO_TIME))).valid


@pytest.mark.parametrize("sizes", ["5x8", "3x6"])
def test_which_messages_meet(sizes: str) -> None:
    """The messages that meet are those whose routes share a link."""
    request = ask(f"torus:{sizes}", "all-reduce", 1 << 16)
    rings = Rings(request.topology)
    estimates, found = RingEstimates(request, rings.sizes.tolist()), []
    for pieces in list(ring_pieces(rings.sizes.tolist()))[::7]:
        translated = Translated(rings, request.collective, pieces)
        costs = costs_of(request, translated.program)
        routes = [route for route in set(translated.program.routes) if len(route) > 1]
        ends = [[request.topology.src[route[0]], request.topology.dst[route[0]]] for route in routes]
        along = [int(np.argmax(np.diff(rings.digits[rings.place[one]], axis=0)[0] != 0)) for one in ends]
        apart = [int(translated.apart[one]) for one in along]
        met = [len(route) > one and one * min(costs.hop) < costs.ser for route, one in zip(routes, apart, strict=True)]
        found.append(any(met))
        assert estimates.meet(pieces) == found[-1], pieces
    assert len(set(found)) == 2


def test_a_machine_that_makes_messages_late() -> None:
    """Some pieces write where others may still read, since messages may wait in routers there."""
    request = replace(ask("torus:4x4", "all-reduce", 1 << 12), machine=load_machine("h100"))
    found = load_methods()["ring-levels"](request)
    assert refusal(found, request.machine, request.message_bytes) is None


def test_same_bytes() -> None:
    one, other = (made("torus:3x3", 1 << 12) for _ in range(2))
    assert one.digest == other.digest
    assert verify_schedule(one).valid


@pytest.mark.parametrize(
    ("network", "size", "most"), [("torus:4x4", 1 << 12, 981), ("torus:4x4x8", 1 << 12, 1798), ("torus:4x4x8", 1 << 16, 3320)]
)
def test_as_fast_as_it_was(network: str, size: int, most: int) -> None:
    """The best of all other methods took 1,893 and 4,105 cycles on `torus:4x4x8`."""
    assert fine_times(made(network, size)).cycles <= most


def test_chunks_as_asked_for() -> None:
    assert made("torus:4x4", 1 << 12, chunks=32, monitor=Monitor(deadline=NO_TIME)).chunks == 32


def test_a_bar_that_is_not_reached() -> None:
    with pytest.raises(UnsupportedError, match="ring-levels is not faster than 700 cycles here"):
        made("torus:4x4", 1 << 14, monitor=Monitor(bar=700))


def test_estimates_have_the_latency_of_the_only_way() -> None:
    """One swap on a ring of 4, and the sum of the other pair from a neighbour: two hops, one after the other."""
    request = ask("ring:4", "all-reduce", 16)
    estimate = RingEstimates(request, [4]).cycles((Piece((0,), 0, swaps=1),))
    hop, added = 158 + 2, 1 + 16
    assert estimate == 2 * (hop + added) + 2 * 16 * 3 // 2


def test_pieces_are_not_repeated_without_end() -> None:
    for sizes in ([3], [4, 8], [8, 4, 4]):
        found = list(ring_pieces(sizes))
        assert len(set(found)) == len(found) < 600
        assert all({piece.scattered for piece in pieces} == {pieces[0].scattered} for pieces in found)
