"""The fastest schedule of some pieces along rings: all are booked, those that end first in many turns, and one is written out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from certree.extras.levels.make.ring_pieces import chunks_of_a_piece
from certree.extras.levels.make.translated import Rings, Translated
from certree.models.common.errors import UnsupportedError
from certree.models.fine.list_jobs import Booked, Turns
from certree.models.routers.transparency import pass_without_waiting
from certree.models.schedule.made_for import MadeFor
from certree.models.schedule.schedule import Schedule, make_schedule
from certree.models.schedule.schedule_columns import NO_ROOT
from certree.models.schedule.symmetric.symmetric_schedule import written_out
from certree.models.schedule.timing import chunk_bytes_of, message_flits
from certree.synth.deadlock_free_routes import with_channels
from certree.synth.fine.booking import least_cycles
from certree.synth.fine.fine_schedule import FAR, MOST_SLOTS, NEAR, costs_of
from certree.synth.fine.levels import Piece
from certree.synth.fine.search import Trial, searched, tried
from certree.synth.method import Options, Request, require_shape

PROBED = 40  # pieces that are booked: those with the lowest estimates
MOST_TRANSFERS = 1 << 20  # of a schedule, for effort 1
FINALISTS = 3


@dataclass(frozen=True, eq=False)
class _Probed:
    """The pieces that were booked, and the best booking of a few."""

    translated: Translated
    trial: Trial
    turns: Turns
    booked: Booked


def fastest_on_rings(request: Request, rings: Rings, choices: Sequence[Sequence[Piece]], method: str, options: Options) -> Schedule:
    """The schedule that ends first of those of the first PROBED pieces whose messages pass routers without waiting.

    UnsupportedError where there are none, where all have too many transfers, and where none is faster than the best so far.
    O(PROBED) bookings, the local searches of FINALISTS, and the transfers of one schedule.
    """
    bar, begin = request.monitor.best_cycles, request.machine.ni_start_cycles
    slower = UnsupportedError(f"{method} is not faster than {bar} cycles here")
    found = sorted(_probed(request, rings, choices, method), key=lambda one: one.booked.end)
    first, winner, limit = found[0].booked.end, found[0], bar
    if bar is not None and begin + first > bar * FAR:
        raise slower
    for one in found[:FINALISTS]:
        if one.booked.end > first * FAR:
            break
        limits = (None, None) if limit is None else (int(limit * NEAR) - begin, limit - begin)
        least = least_cycles(one.translated.program, one.trial.costs)
        booked = searched(one.trial, request, (one.turns, one.booked), least, *limits)
        if booked.end < winner.booked.end:
            winner = _Probed(one.translated, one.trial, one.turns, booked)
        limit = min(begin + winner.booked.end, limit or begin + winner.booked.end)
    if bar is not None and begin + winner.booked.end >= bar:
        raise slower
    made = _written(request, winner, request.provenance(method, options, program=f"{winner.translated}"))
    require_shape(request, method, made.chunks, made.steps)
    return request.offer(made)


def _probed(request: Request, rings: Rings, choices: Sequence[Sequence[Piece]], method: str) -> list[_Probed]:
    """The first PROBED choices, booked; at least one, and no other within no time."""
    found: list[_Probed] = []
    most, refused = MOST_TRANSFERS * request.effort, ""
    for pieces in choices:
        if len(found) == PROBED or (found and request.monitor.expired):
            break
        if least_transfers(rings, pieces) > most:
            refused = refused or f"{method} writes up to {most} transfers; {rings.topology.name} would take more"
            continue
        chunk = chunk_bytes_of(
            request.message_bytes, len(pieces) * chunks_of_a_piece(rings.layout.sizes, pieces), 1, request.machine
        )
        flits = np.array([message_flits(chunk, request.machine)])
        if not pass_without_waiting(rings.topology, request.machine, flits).all():
            refused = f"{method}: messages would wait for credits in the routers of machine {request.machine.name}"
            continue
        translated = Translated(rings, request.collective, pieces)
        try:
            trial = translated.trial(costs_of(request, translated.program))
            turns, booked = tried(trial, request)
        except UnsupportedError as error:
            refused = f"{method}: {error}"
            continue
        if booked.end > MOST_SLOTS:
            refused = f"{method} makes fine slots of one cycle, up to {MOST_SLOTS} of them; here are {booked.end}"
            continue
        found.append(_Probed(translated, trial, turns, booked))
    if not found:
        raise UnsupportedError(refused)
    return found


def least_transfers(rings: Rings, pieces: Sequence[Piece]) -> int:
    """How many transfers some pieces have at least: those of shares on their way there and back, or one to each other node."""
    sizes = rings.layout.sizes
    shares = prod(sizes[one] for one in pieces[0].order[: pieces[0].scattered])
    return len(rings.digits) * len(pieces) * chunks_of_a_piece(sizes, pieces) // shares * max(1, 2 * (shares - 1))


def _written(request: Request, probed: _Probed, provenance: Mapping[str, Any]) -> Schedule:
    """All transfers that a booking stands for."""
    made = make_schedule(
        request.topology,
        request.collective,
        np.full(probed.translated.chunks, NO_ROOT, np.int32),
        **probed.translated.written(probed.trial, probed.booked),
        slot_cycles=1,
        made_for=MadeFor(request.message_bytes, request.machine),
        provenance=provenance,
    )
    return written_out(with_channels(made, request.machine))
