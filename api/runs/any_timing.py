"""Proofs of the checker about the timing of a program, for runs that need them."""

from dataclasses import replace

from certree.hw.engines.runs import Options
from certree.hw.engines.schedule_run import SimulatedSchedule
from certree.hw.engines.table_framing import framed
from certree.models.tables.tables import Tables
from certree.verify.order.agreement import race_of_tables
from certree.verify.order.races import Race, race_of


def with_proof(source: Tables | SimulatedSchedule, options: Options) -> Options:
    """The options of a run; for a paced one with `at_any_timing`, where data are right at any timing. Costs as `race_of_run`."""
    return replace(options, at_any_timing=race_of_run(source, options) is None) if options.mode == "paced" else options


def race_of_run(source: Tables | SimulatedSchedule, options: Options) -> Race | None:
    """The uses that only slots keep in order in the program that runs: in packets that of `framed`; with endpoints, which keep the
    order of uses of a cell, between iterations alone. Errors as `framed`; time and memory as `race_of`."""
    program = framed(source, options.framing)
    race = race_of_tables(program) if isinstance(program, Tables) else race_of(program.schedule)
    return race if options.endpoint is None or race is None or race.second is None else None
