"""What the checker proves of the timing of a program, for runs that need it."""

from dataclasses import replace

from certree.hw.engines.runs import Options
from certree.hw.engines.schedule_run import SimulatedSchedule
from certree.models.tables.tables import Tables
from certree.verify.order.agreement import race_of_tables
from certree.verify.order.races import race_of


def with_proof(source: Tables | SimulatedSchedule, options: Options) -> Options:
    """The options of a run; of a paced one with `at_any_timing`, where the data of the program are right at any timing (`race_of`).
    Time and memory as that."""
    if options.mode != "paced":
        return options
    race = race_of_tables(source) if isinstance(source, Tables) else race_of(source.schedule)
    return replace(options, at_any_timing=race is None)
