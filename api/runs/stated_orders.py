"""The order of additions that tables and runs state."""

from dataclasses import replace

from certree.api.api_errors import InvalidScheduleError
from certree.hw.engines.runs import Options
from certree.hw.engines.schedule_run import SimulatedSchedule
from certree.hw.engines.table_framing import framed
from certree.models.common.errors import InputError
from certree.models.routers.transparency import schedule_effect
from certree.models.schedule.timing import packet_lengths
from certree.models.tables.tables import Tables
from certree.verify.order.additions import additions_of
from certree.verify.order.agreement import agreement_of_tables
from certree.verify.tables.table_checker import check_additions
from certree.verify.verdict import Findings


def with_additions(tables: Tables) -> Tables:
    """The tables with the order in which they add, where their slots fix one for all chunks and messages are never late. For valid
    tables. O(rows log rows)."""
    found = additions_of(tables.schedule)
    is_certain = found is not None and found.is_fixed and found.expression is not None and agreement_of_tables(tables) is None
    return replace(tables, additions=found.expression if found is not None and is_certain else None)


def stated_order(source: Tables | SimulatedSchedule, options: Options, *, is_given: bool) -> str | None:
    """The order that the tables of a run state, or that the slots of a schedule without tables fix; None where there is none.

    `is_given`: whether the tables were given, and not made from a schedule for this run; those state no order of packets.
    InvalidScheduleError for tables whose rows, in the framing of the run, add in another order than they state. O(rows log rows).
    """
    if isinstance(source, Tables):
        if not is_given and options.framing != "message":
            return None
        program, findings = framed(source, options.framing), Findings()
        if source.additions is not None:
            check_additions(replace(program, additions=source.additions), findings)
        if findings.rules:
            raise InvalidScheduleError(source.schedule, findings.verdict())
        return source.additions
    try:
        found = additions_of(source.schedule) if options.framing == "message" else None
    except InputError:  # too large to be examined
        return None
    if found is None or not found.is_fixed or found.expression is None:
        return None
    lengths = packet_lengths(source.chunk_bytes, source.machine, options.framing)
    return found.expression if schedule_effect(source.schedule, source.machine, lengths, None) is None else None
