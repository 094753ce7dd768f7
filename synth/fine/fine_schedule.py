"""Schedules with fine slots from programs: the fastest of a few orders in which the list scheduler takes the transfers."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certree.models.common.errors import UnsupportedError
from certree.models.fine.list_jobs import NONE, Booked, Costs, Forwarded, Order, Turns
from certree.models.fine.slots import fine_times
from certree.models.network.routing import DIRECT
from certree.models.routers.transparency import pass_without_waiting, pipeline_effect
from certree.models.schedule.made_for import MadeFor
from certree.models.schedule.schedule import Schedule, make_schedule
from certree.models.schedule.symmetric.symmetric_schedule import written_out
from certree.models.schedule.timing import ceil_div, chunk_bytes_of, message_flits
from certree.synth.deadlock_free_routes import with_channels
from certree.synth.fine.booking import least_cycles, without_unread_copies
from certree.synth.fine.program import Program, distinct
from certree.synth.fine.search import Trial, rank_of, searched, tried
from certree.synth.method import Request, require_shape
from certree.verify.deadlock.deadlock_verdicts import refusal

Int64 = NDArray[np.int64]

MOST_SLOTS = 1 << 20  # of a run: where it has more cycles, slots are longer than one cycle
FIRST_WORK = 300_000  # rows and hops after which no further program is booked, for effort 1
FINALISTS = 3  # programs that are booked in other orders
MOST_REFUSED = 3  # further programs that are booked, where the machine takes none of the finalists
#: no other orders are tried for a program of more than this many times the best cycles so far: they gained up to 6 % where measured
FAR = Fraction(17, 16)
#: the same limit for a local search after these orders: it gained up to 3.4 %, so a few faster schedules are missed
NEAR = Fraction(33, 32)
#: the part of the gap between a program's bound and the best schedule that other orders may have to gain: two shots of 1 MiB on
#: ace-alltoall:4x2 gained 9 %
ROOM = Fraction(1, 2)
MOST_HOPS = 1 << 19  # links that all transfers of a program pass
MOST_IN_PIECES = 1 << 13  # links that all messages pass that are cut into pieces, for effort 1
PIECES = "pieces"  # in the provenance: into how many each message is cut so that none waits for credits


@dataclass(frozen=True, eq=False)
class _Tried:
    """A program, its label, the `pieces` into which each message is cut, whether it still `waits` for credits, and the best of a
    few bookings; `least`: its `least_cycles`."""

    label: str
    pieces: int
    waits: bool
    trial: Trial
    best: tuple[Turns, Booked]
    least: int

    @property
    def end(self) -> int:
        """The cycle in which everything has landed."""
        return min(self.best[1].end, self.trial.first.end)


def in_fine_slots(request: Request, programs: Iterable[tuple[str, Program]], method: str, options: Mapping[str, Any]) -> Schedule:
    """The fastest of some programs in fine slots for the request's size and machine, each transfer as early as list scheduling
    allows.

    `programs`: pairs of a label for the provenance and a program. Each program is booked with a few turns of its transfers. A
    search for better turns starts from the fastest few (`synth.fine.search`). Programs that the machine does not take, and those
    whose messages wait for credits in routers, are left out where there are others. So are programs that take at least as long as
    the best schedule so far or that of the monitor. With no time left the result is the first program. UnsupportedError where none
    can be booked, where the machine takes none, or where the request wants other numbers of chunks or steps. O(rows · hops · log
    rows) for each booking.
    """
    choices: list[_Tried] = []
    bar = request.monitor.best_cycles
    refused, spent, limit = "", 0, bar
    others: dict[int, None] = {}  # the numbers of chunks of programs that do not fit the request
    for label, whole in programs:
        if request.chunks not in (None, len(whole.chunk_root)):
            others[len(whole.chunk_root)] = None
            refused = f"{method} cuts this message into {', '.join(map(str, others))} chunks; {request.chunks} were asked for"
            continue
        program, pieces = in_pieces(request, whole if request.order is None else replace(whole, in_order=True))
        hops = sum(map(len, program.routes))
        if hops > MOST_HOPS:
            refused = f"{method} would pass {hops} links here; fine slots are made for up to {MOST_HOPS}"
            continue
        waits = not _passes(request, program)
        if waits and limit is not None:
            refused = refused or f"{method}: messages would wait for credits in the routers of machine {request.machine.name}"
            continue
        costs = costs_of(request, program)
        bound = least_cycles(program, costs)
        if limit is not None and bound >= limit:
            refused = refused or f"{method} is not faster than {limit} cycles here"
            continue
        try:
            trial = Trial.of(program, costs)
            if (reason := _another_order(request, trial)) is not None:
                raise UnsupportedError(reason)
            found = _Tried(label, pieces, waits, trial, tried(trial, request), bound)
        except UnsupportedError as error:
            refused = f"{method}: {error}"
            continue
        choices.append(found)
        cycles = request.machine.ni_start_cycles + found.end
        if not found.waits:
            limit = cycles if limit is None else min(limit, cycles)
        spent += program.rows + hops
        if request.monitor.expired or spent > FIRST_WORK * request.effort:
            break
    if not choices:
        raise UnsupportedError(refused)
    choices = sorted(choices, key=lambda found: found.end)
    choices = [found for found in choices if not found.waits] or choices
    first = sorted((_with_fewer_copies(request, found) for found in choices[:FINALISTS]), key=lambda found: found.end)
    choices = [*first, *choices[FINALISTS:]]
    if bar is not None and choices[0].end > max(bar * FAR, bar + (bar - choices[0].least) * ROOM):
        raise UnsupportedError(f"{method} is not faster than {bar} cycles here")
    made = _fastest(request, choices, method, options, bar)
    require_shape(request, method, made.chunks, made.steps)
    return request.offer(made)


def _another_order(request: Request, trial: Trial) -> str | None:
    """The reason why a program lacks the requested order of additions, the same in any booking; None where there is none."""
    if request.order is None or trial.first.end > MOST_SLOTS:
        return None
    made_for = MadeFor(request.message_bytes, request.machine)
    return request.order.refusal(schedule_of(trial.program, trial.order, trial.first, 1, made_for, {}))


def _with_fewer_copies(request: Request, found: _Tried) -> _Tried:
    """The program without the local copies that nothing reads in its best booking, where that is faster, since the remaining copies
    are made earlier. Transfers that read the original keep others from overwriting it."""
    trial = found.trial
    booked = min(found.best[1], trial.first, key=rank_of)
    program, _ = without_unread_copies(trial.program, trial.order, booked)
    if program.rows == trial.program.rows or request.monitor.expired:
        return found
    try:
        fewer = Trial.of(program, trial.costs)
        slim = replace(found, trial=fewer, best=tried(fewer, request))
    except UnsupportedError:
        return found
    return min(found, slim, key=lambda one: one.end)


def _fastest(request: Request, choices: list[_Tried], method: str, options: Mapping[str, Any], bar: int | None) -> Schedule:
    """The fastest of the first FINALISTS of `choices` that the machine takes; where it takes none of these, the next one that it
    takes, of up to MOST_REFUSED more. UnsupportedError where it takes none. Where messages may be late, no better order is searched
    before the machine takes the present one. `bar`: cycles of the best schedule so far."""
    taken: tuple[int, Schedule] | None = None
    reason: str | None = None
    flits = [flits_of(request, found.trial.program) for found in choices]
    may_be_late = pipeline_effect(request.topology, request.machine, min(flits), max(flits), is_far=True) is not None
    for number, found in enumerate(choices[: FINALISTS + MOST_REFUSED]):
        if taken is not None:
            cannot_win = request.machine.ni_start_cycles + found.least >= taken[0] or found.end > choices[0].end * FAR
            if cannot_win or number >= FINALISTS:
                continue
        elif may_be_late or reason is not None:
            unsearched = _finished(request, found, method, options, is_searched=False)
            refused = refusal(unsearched, request.machine, request.message_bytes)
            if refused is not None:
                reason = reason or refused
                continue
        known = [one for one in (bar, taken and taken[0]) if one is not None]
        made = _finished(request, found, method, options, bar=min(known, default=None))
        cycles = fine_times(made).cycles
        if taken is not None and cycles >= taken[0]:
            continue
        refused = refusal(made, request.machine, request.message_bytes)
        if refused is None:
            taken = cycles, made
        reason = reason or refused
    if taken is None:
        raise UnsupportedError(f"{method}: {reason}")
    return taken[1]


def _finished(
    request: Request,
    found: _Tried,
    method: str,
    options: Mapping[str, Any],
    *,
    is_searched: bool = True,
    bar: int | None = None,
) -> Schedule:
    """The schedule of a program in the best order found, by a search or before; `bar`: cycles of the best schedule so far."""
    trial, best, least, slot = found.trial, found.best, found.least, -(-found.end // MOST_SLOTS)
    program, begin = trial.program, request.machine.ni_start_cycles
    if slot > 1:
        trial = Trial.of(program, costs_of(request, program, slot))
        least, best = least_cycles(program, trial.costs), tried(trial, request)
    limits = (None, None) if bar is None else (int(bar * NEAR) - begin, bar - begin)
    booked = searched(trial, request, best, least, *limits) if is_searched else best[1]
    made_for = MadeFor(request.message_bytes, request.machine)
    pieces = {PIECES: found.pieces} if found.pieces > 1 else {}
    provenance = request.provenance(method, options, program=found.label, **pieces)
    return written_out(with_channels(schedule_of(program, trial.order, booked, slot, made_for, provenance), request.machine))


def in_pieces(request: Request, program: Program) -> tuple[Program, int]:
    """The program with each message in as few pieces as pass the routers without waiting for credits, and their number.

    The program itself and 1 where the messages pass uncut, where no number of pieces passes, where the request states the chunks,
    and where pieces would pass more than MOST_IN_PIECES links, for effort 1.
    """
    if request.chunks is not None or _passes(request, program):
        return program, 1
    head = request.machine.head_flits
    pieces = ceil_div(flits_of(request, program) - head, max(1, request.machine.vc_buffer_flits - head))
    if sum(map(len, program.routes)) * pieces > MOST_IN_PIECES * request.effort or not _passes(request, program, pieces):
        return program, 1
    return program.cut(pieces), pieces


def _passes(request: Request, program: Program, pieces: int = 1) -> bool:
    """Whether messages, each in `pieces`, pass the routers without waiting for credits; not checked where switches reduce."""
    if request.topology.reducing.any():
        return True
    flits = np.array([flits_of(request, program, pieces)])
    return bool(pass_without_waiting(request.topology, request.machine, flits).all())


def flits_of(request: Request, program: Program, pieces: int = 1) -> int:
    """The number of flits of each message of the program in `pieces`, header included, at the request's size."""
    return message_flits(_chunk_bytes(request, program, pieces), request.machine)


def _chunk_bytes(request: Request, program: Program, pieces: int = 1) -> int:
    chunks = request.collective.message_chunks(request.topology, len(program.chunk_root) * pieces)
    return chunk_bytes_of(request.message_bytes, chunks, 1, request.machine)


def costs_of(request: Request, program: Program, slot: int = 1) -> Costs:
    """The costs of the program at the request's size and machine."""
    return Costs.of(program.topology, _chunk_bytes(request, program), request.machine, slot)


def schedule_of(
    program: Program,
    order: Order,
    booked: Booked,
    slot: int,
    made_for: MadeFor,
    provenance: Mapping[str, Any],
    forwarded: Forwarded | None = None,
) -> Schedule:
    """A booked program as a schedule; local copies that nothing reads are left out. `forwarded`: with its planned waits."""
    plans = [(NONE, ())] * program.rows if forwarded is None else _plans(program, forwarded)
    program, kept = without_unread_copies(program, order, booked)
    routes = [route if len(route) != 1 else (one,) for route, one in zip(program.routes, booked.link[kept].tolist(), strict=True)]
    entries = [(route, *plans[row]) for route, row in zip(routes, kept.tolist(), strict=True)]
    pair = program.topology.pair_of_link
    has_parallel = (np.bincount(pair)[pair] > 1).tolist()  # by link
    # a schedule names the links of a route with several links, with one of several parallel links, or with planned waits
    is_named = [len(route) > 1 or plan != NONE or bool(route and has_parallel[route[0]]) for route, plan, _ in entries]
    links = distinct(entry for entry, named in zip(entries, is_named, strict=True) if named)
    columns: dict[str, NDArray[Any]] = {
        "chunk": program.chunk,
        "op": program.op,
        "step": (booked.fire[kept] // slot).astype(np.int32),
        "src": program.src,
        "dst": program.dst,
        "route": np.array([links.get(entry, DIRECT) for entry in entries], np.int32),
    }
    if program.buffers > 1:
        columns |= {"src_buffer": program.src_buffer, "dst_buffer": program.dst_buffer}
    return make_schedule(
        program.topology,
        program.collective,
        program.chunk_root,
        columns,
        program.chunk_target,
        routes=tuple(route for route, _, _ in links),
        virtual_channel=None if forwarded is None else np.array([channel for _, channel, _ in links], np.int32),
        waits=None if forwarded is None else tuple(waits for _, _, waits in links),
        buffers=program.buffers,
        slot_cycles=slot,
        made_for=made_for,
        provenance=provenance,
    )


def _plans(program: Program, forwarded: Forwarded) -> list[tuple[int, tuple[int, ...]]]:
    """The virtual channel and the waits of each row."""
    end = np.cumsum([len(route) for route in program.routes]).tolist()
    waits = forwarded.wait.tolist()
    rows = zip(forwarded.channel.tolist(), program.routes, end, strict=True)
    return [(channel, tuple(waits[last - max(0, len(route) - 1) : last])) for channel, route, last in rows]
