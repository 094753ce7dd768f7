"""Tables cut into iterations, the chunks of an engine, that endpoints have room for."""

from dataclasses import replace
from typing import Any

import numpy as np

from certree.extras.endpoints.model.named_system import Cut
from certree.extras.endpoints.run.tables.table_endpoints import TableEndpoints
from certree.hw.tables.lowering import lower
from certree.models.common.errors import UnsupportedError
from certree.models.forms.lowering_chain import takes
from certree.models.machine.machine import Machine
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.schedule_columns import MAX_STEPS
from certree.models.schedule.timing import ceil_div
from certree.models.tables.tables import Tables
from certree.verify.checker import verify_schedule

MAX_CELLS = 1 << 27  # integers of data: 1 GiB
#: a demand fixes the bytes of each block; fine slots, made for one size, become the fewest steps that keep who reads what
TAKES = takes("chunks of endpoints", "buffers", "virtual_channel", "members", rounds=False)


def least_bytes(lowered: Schedule, machine: Machine) -> int:
    """The fewest bytes of an iteration of a schedule that `TAKES` has lowered: a flit for each of its chunks."""
    return lowered.message_chunks * machine.flit_bytes


def in_iterations(tables: Tables, model: TableEndpoints, mode: str) -> Tables:
    """The tables that run on endpoints: as they are, or cut as `model.cut` says.

    Each iteration executes one iteration of the schedule on a part of the message of its own; a message no longer than the size is
    one. Iterations begin as few steps after each other as the endpoints have room for: paced, lanes and routers serialize messages
    that meet; slotted, no two may, and the period is the least such one. With a spacing of K each step of the schedule is K steps
    of the tables, of which all but the first are idle: more iterations are then under way (`spacing.py`). UnsupportedError for a
    demand, for fine slots or a spacing in a slotted run, for a stated period that the endpoints have no room for, for more steps
    than tables have, and for what `lower` refuses. O(rows log rows); slotted, times the periods that are tried.
    """
    if model.cut is None:
        return tables
    if tables.fine_slots and mode == "slotted":
        raise UnsupportedError(f"system {model.name}: fine slots are for one size of the message: cut it in a paced run")
    if model.cut.spacing is not None and mode == "slotted":
        raise UnsupportedError(
            f"system {model.name}: in slots idle steps take as long as others: leave spacing out, or run it paced"
        )
    one = TAKES.lowered(tables.schedule)
    least = least_bytes(one, tables.machine)
    if model.cut.chunk_bytes < least:
        raise UnsupportedError(
            f"system {model.name}: an iteration of {one.message_chunks} chunks of the schedule has {least} bytes or more, not "
            f"{model.cut.chunk_bytes}: take longer chunks"
        )
    is_whole = model.cut.pads or tables.message_bytes <= model.cut.chunk_bytes
    most = model.cut.chunk_bytes if is_whole else model.cut.chunk_bytes // least * least
    repeats = ceil_div(tables.message_bytes, most)
    message_bytes = tables.message_bytes
    if model.cut.at_most is not None and repeats > model.cut.at_most:
        repeats, message_bytes = model.cut.at_most, model.cut.at_most * most
    cells = repeats * one.chunks * len(one.topology.kind)
    if cells > MAX_CELLS:
        raise UnsupportedError(
            f"system {model.name}: {repeats} iterations of {one.chunks} chunks at {len(one.topology.kind)} nodes are {cells} "
            f"results; allowed: {MAX_CELLS}: take longer chunks"
        )
    if repeats == 1:
        return _lowered(tables, replace(one, period=None, repeats=1, certificate=None), message_bytes)
    alone = _spaced(one, model.cut.spacing or 1, repeats)
    cut = _lowered(tables, alone, message_bytes)
    span = int(cut.step.max(initial=0)) - int(cut.step.min(initial=0))
    period = _period(alone, span, model.places(cut), model.cut, mode)
    cut = cut if period == alone.period else _lowered(tables, replace(alone, period=period), message_bytes)
    if mode == "paced" and cut.is_counted:  # a work cell of each iteration's own: only slots would keep two apart
        return replace(cut, in_flight=cut.repeats)
    return cut


def _spaced(one: Schedule, spacing: int, repeats: int) -> Schedule:
    """Iterations of a schedule one after the other, with `spacing` - 1 idle steps behind each step. O(rows)."""
    steps = one.steps * spacing
    if steps * repeats > MAX_STEPS:
        raise UnsupportedError(f"{repeats} iterations of {steps} steps are more than the {MAX_STEPS} steps that tables have")
    idle: dict[str, Any] = (
        {} if spacing == 1 else {"step": one.step * spacing, "delay": one.delay * spacing, "rounds": np.ones(steps, np.int32)}
    )
    return replace(one, period=steps, repeats=repeats, certificate=None, **idle)


def _lowered(tables: Tables, schedule: Schedule, message_bytes: int) -> Tables:
    return lower(replace(schedule, made_for=None), message_bytes, tables.machine)


def _period(schedule: Schedule, span: int, places: int, cut: Cut, mode: str) -> int:
    """The number of steps from one iteration to the next. `span`: steps from the first row of an iteration to its last."""
    least = 1 if schedule.repeats <= places else span // max(1, places) + 1
    tried = range(least, max(least, schedule.steps) + 1) if cut.period is None else range(cut.period, cut.period + 1)
    if mode == "paced":
        return tried[0]
    for period in tried:
        if verify_schedule(replace(schedule, period=period)).valid:
            return period
    raise UnsupportedError(f"iterations every {tried[-1]} steps meet on links in slots: take another period, or a paced run")
