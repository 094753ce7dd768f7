"""The order of additions that tables and runs state."""

from contextlib import suppress
from dataclasses import replace

from certree.api.api_errors import InvalidScheduleError
from certree.hw.engines.router_transparency import router_effect
from certree.hw.engines.runs import Options
from certree.hw.engines.schedule_run import SimulatedSchedule
from certree.hw.engines.table_framing import framed
from certree.models.common.errors import InputError, UndecidedError
from certree.models.tables.tables import Tables
from certree.verify.order.additions import additions_of
from certree.verify.tables.table_checker import check_additions
from certree.verify.verdict import Findings


def with_additions(tables: Tables) -> Tables:
    """The tables with the order in which they add (`_order_of_slots`). For valid tables. O(rows log rows)."""
    return replace(tables, additions=_order_of_slots(tables))


def stated_order(source: Tables | SimulatedSchedule, options: Options, *, is_given: bool) -> str | None:
    """The order that the tables of a run state, or that the slots of a schedule without tables fix; None without one.

    `is_given`: whether tables were given, and not made from a schedule for this run, whose order is that of whole messages.
    InvalidScheduleError for tables whose rows, in the framing of the run, add in another order than they state. O(rows log rows).
    """
    if not (isinstance(source, Tables) and is_given):
        if options.framing != "message":
            return None
        return source.additions if isinstance(source, Tables) else _order_of_slots(source)
    if source.additions is not None:
        findings = Findings()
        check_additions(replace(framed(source, options.framing), additions=source.additions), findings)
        if findings.rules:
            raise InvalidScheduleError(source.schedule, findings.verdict())
    return source.additions


def _order_of_slots(source: Tables | SimulatedSchedule) -> str | None:
    """The one order that slots fix for all chunks, where no message is late; None without one, and where that is too much to be
    examined."""
    found = None
    with suppress(InputError, UndecidedError):
        found = additions_of(source.schedule)
    if found is None or found.certain is None:
        return None
    return found.certain if router_effect(source, "message", in_time=True) is None else None
