"""Inputs that can run: files, folders and methods; and the comparison of candidates of method `auto`."""

from pathlib import Path

from certree.api.inputs import given, schedule_of
from certree.api.runs.any_timing import with_proof
from certree.api.runs.stated_orders import with_additions
from certree.api.settings import Tell, machine_for, setting, silent
from certree.hw.engines.runs import FASTEST, MODES, Options, check_known
from certree.hw.engines.schedule_run import SimulatedSchedule
from certree.hw.run import run as run_schedule
from certree.hw.run import tables_or_plan, through_files
from certree.models.common.errors import UnsupportedError
from certree.models.common.files import Opened
from certree.models.fine.timed_schedule import timed
from certree.models.machine.machine import Machine
from certree.models.network.spec import parse_topology
from certree.models.schedule.collective import parse_collective
from certree.models.schedule.symmetric.symmetric_schedule import AnySchedule
from certree.models.tables.tables import Tables
from certree.synth.method import Form

#: flits of the message at all endpoints up to which candidates are compared by exact runs: through routers about a second each
MOST_COMPARED_EXACTLY = 1 << 20


def made_tables(topology: str, collective: str, method: str, message_bytes: int) -> Tables:
    """The tables of what a method makes for a network, on the default machine, after export and reading back."""
    from certree.synth.method import Request, load_methods

    network = parse_topology(topology)
    machine = machine_for(network, None)
    request = Request(network, parse_collective(collective), message_bytes, machine)
    return through_files(load_methods()[method](request), message_bytes, machine)


def form_of(run: str, endpoints: int, message_bytes: int, machine: Machine) -> Form:
    """The comparison of candidates where it is not by the closed form of `slotted` runs: `paced` by simulation, or by the `fastest`
    of both.

    Paced runs of large messages use lanes that serve whole messages, one after the other (part of the form's name):
    routers, which interleave flits of messages that share a link, would take minutes. A candidate whose run ends with wrong
    data counts as not runnable.
    """
    check_known("run", run, (*MODES, FASTEST))
    is_large = message_bytes // machine.flit_bytes * endpoints > MOST_COMPARED_EXACTLY
    options = Options(mode="paced", without_routers=is_large)

    def slotted_cycles(schedule: AnySchedule) -> int:
        return timed(schedule, message_bytes, machine).cycles

    def paced_cycles(schedule: AnySchedule) -> int:
        source = tables_or_plan(schedule, message_bytes, machine, files=False)
        result = run_schedule(source, with_proof(source, options))
        if not result.data_ok:
            raise UnsupportedError("the paced run ends with wrong data")
        return result.cycles

    def fewest_cycles(schedule: AnySchedule) -> int:
        try:
            return min(slotted_cycles(schedule), paced_cycles(schedule))
        except UnsupportedError:
            return slotted_cycles(schedule)

    return {
        "paced": Form("paced on lanes" if is_large else "paced", paced_cycles),
        FASTEST: Form("in slots or paced on lanes" if is_large else "in slots or paced", fewest_cycles),
    }[run]


def source_to_run(
    source: str | Path | Opened | AnySchedule | Tables,
    size: int | str | None = None,
    machine: str | Path | Machine | None = None,
    tell: Tell = silent,
) -> Tables | SimulatedSchedule:
    """The tables of a schedule as in `tables_to_run`, or a plan where the schedule has no tables."""
    taken = given(source)
    if isinstance(taken, Tables):
        return tables_to_run(taken, size, machine, tell)
    used = setting(taken, size, machine, tell)
    found = tables_or_plan(taken, used.message_bytes, used.machine)
    return with_additions(found) if isinstance(found, Tables) else found


def tables_to_run(
    source: str | Path | AnySchedule | Tables,
    size: int | str | None = None,
    machine: str | Path | Machine | None = None,
    tell: Tell = silent,
) -> Tables:
    """Tables, or those in a directory, as they are, or made again from their schedule for another size or machine; those of a
    schedule after export to a temporary directory and reading back. `tell` as in `setting`."""
    taken = given(source)
    if isinstance(taken, Tables) and size is None and machine is None:
        return taken
    schedule = schedule_of(taken)
    used = setting(schedule, size, machine, tell)
    return with_additions(through_files(schedule, used.message_bytes, used.machine))
