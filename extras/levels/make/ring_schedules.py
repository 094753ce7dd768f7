"""The fastest schedule of some pieces along rings: all are booked, those that end first in many turns, and one is written out."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod

import numpy as np

from certree.extras.levels.make.ring_pieces import chunks_of_a_piece
from certree.extras.levels.make.translated import Rings, Translated
from certree.models.common.errors import UnsupportedError
from certree.models.fine.list_jobs import Booked, Turns
from certree.models.routers.transparency import pass_without_waiting, pipeline_effect
from certree.models.schedule.made_for import MadeFor
from certree.models.schedule.schedule import Schedule, make_schedule
from certree.models.schedule.schedule_columns import NO_ROOT
from certree.models.schedule.symmetric.symmetric_schedule import written_out
from certree.models.schedule.timing import chunk_bytes_of, message_flits
from certree.synth.deadlock_free_routes import with_channels
from certree.synth.fine.booking import least_cycles
from certree.synth.fine.fine_schedule import FAR, FINALISTS, MOST_SLOTS, NEAR, costs_of, flits_of
from certree.synth.fine.levels import Piece
from certree.synth.fine.search import Trial, searched, tried
from certree.synth.method import Options, Request, require_shape
from certree.verify.deadlock.deadlock_verdicts import refusal

PROBED = 40  # pieces that are booked: those with the lowest estimates
MOST_TRANSFERS = 1 << 20  # of a schedule, for effort 1


@dataclass(frozen=True, eq=False)
class _Probed:
    """The pieces that were booked, and the best booking of a few."""

    translated: Translated
    trial: Trial
    turns: Turns
    booked: Booked


def fastest_on_rings(request: Request, rings: Rings, choices: Sequence[Sequence[Piece]], method: str, options: Options) -> Schedule:
    """The schedule that ends first of those of the first PROBED pieces whose messages pass routers without waiting.

    UnsupportedError where there are none, where all have too many transfers, where the machine takes none (`refusal`), and
    where none is faster than the best so far. O(PROBED) bookings, the local searches of FINALISTS, and the transfers of one
    schedule; where messages may be late, of up to MOST_TRANSFERS more.
    """
    bar, begin = request.monitor.best_cycles, request.machine.ni_start_cycles
    slower = UnsupportedError(f"{method} is not faster than {bar} cycles here")
    found = sorted(_probed(request, rings, choices, method), key=lambda one: one.booked.end)
    if bar is not None and begin + found[0].booked.end > bar * FAR:
        raise slower
    finalists, reason = _finalists(request, found, method, options)
    for winner in sorted(finalists, key=lambda one: one.booked.end):
        if bar is not None and begin + winner.booked.end >= bar:
            raise slower
        made, refused = _written(request, winner, method, options)
        if made is not None:
            require_shape(request, method, made.chunks, made.steps)
            return request.offer(made)
        reason = reason or refused
    raise UnsupportedError(f"{method}: {reason}")


def _finalists(request: Request, found: Sequence[_Probed], method: str, options: Options) -> tuple[list[_Probed], str]:
    """The first FINALISTS of `found`, ended by local searches; where messages may be late, of those that the machine takes, of
    up to MOST_TRANSFERS together. Why it does not take one, if there is one."""
    bar, begin = request.monitor.best_cycles, request.machine.ni_start_cycles
    finalists: list[_Probed] = []
    reason, limit, left = "", bar, MOST_TRANSFERS * request.effort
    for one in found:
        if len(finalists) == FINALISTS or (finalists and one.booked.end > found[0].booked.end * FAR):
            break
        flits = flits_of(request, one.translated.program)
        if pipeline_effect(request.topology, request.machine, flits, flits, is_far=True) is not None:
            left -= one.translated.transfers
            if left < 0:
                break
            made, refused = _written(request, one, method, options)
            reason = reason or refused
            if made is None:
                continue
        limits = (None, None) if limit is None else (int(limit * NEAR) - begin, limit - begin)
        least = least_cycles(one.translated.program, costs_of(request, one.translated.program))
        booked = searched(one.trial, request, (one.turns, one.booked), least, *limits)
        finalists.append(replace(one, booked=booked))
        limit = min(begin + booked.end, limit or begin + booked.end)
    return finalists, reason


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


def _written(request: Request, probed: _Probed, method: str, options: Options) -> tuple[Schedule | None, str]:
    """All transfers that a booking stands for; or None, and why the machine does not take them."""
    made = make_schedule(
        request.topology,
        request.collective,
        np.full(probed.translated.chunks, NO_ROOT, np.int32),
        **probed.translated.written(probed.trial, probed.booked),
        slot_cycles=1,
        made_for=MadeFor(request.message_bytes, request.machine),
        provenance=request.provenance(method, options, program=f"{probed.translated}"),
    )
    try:
        made = written_out(with_channels(made, request.machine))
    except UnsupportedError as error:
        return None, str(error)
    refused = refusal(made, request.machine, request.message_bytes)
    return (made, "") if refused is None else (None, refused)
