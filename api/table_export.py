"""Export of schedules as tables for network interfaces, and import; files are read back and verified before they are returned."""

from dataclasses import replace
from pathlib import Path

from certree.api.api_errors import DisagreementError, InvalidScheduleError
from certree.api.artefacts import Asked, opened_kind
from certree.api.inputs import schedule_of
from certree.api.runs.stated_orders import with_additions
from certree.api.settings import setting
from certree.hw.formats import load_formats
from certree.hw.formats.bit_layout import Widths
from certree.hw.golden import trace_files
from certree.hw.tables.directory import export_tables, read_tables
from certree.hw.tables.lowering import lower
from certree.models.common.errors import InputError, UnsupportedError
from certree.models.machine.machine import Machine
from certree.models.schedule.symmetric.symmetric_schedule import AnySchedule, written_out
from certree.models.tables.table_columns import LOCKSTEP, SLOTTED
from certree.models.tables.tables import Tables
from certree.verify.checker import verify_schedule
from certree.verify.deadlock.deadlock_verdicts import verdict_on_machine
from certree.verify.order.agreement import race_of_tables
from certree.verify.tables.table_checker import verify_tables


def export(
    source: str | Path | AnySchedule,
    format: str = "readmemh",
    folder: str | Path = "tables",
    *,
    size: int | str | None = None,
    machine: str | Path | Machine | None = None,
    epoch: int | None = None,
    control: str = SLOTTED,
    force: bool = False,
) -> Tables:
    """Write the tables of a schedule into a new folder, read them back, verify them and return them.

    Parameters
    ----------
    source : schedule, str or path
        The schedule or its file.
    format : str
        One of `certree list`.
    folder : str or path
        A new folder.
    size, machine : optional
        By default what the schedule was made for, or 64 MiB and multitree where that is not known.
    epoch : int, optional
        The number of the export, 0 to 65535, in the header of each node's image together with a CRC-32. Such tables can take over
        from others while a system runs (`simulate_switch`).
    control : {"slotted", "lockstep"}
        What fires the rows of `systemverilog`'s interface. "lockstep" is the timestep counter of MultiTree (E6), for which the
        golden trace is that of a paced run; such tables state no order of additions.
    force : bool
        Replace an empty folder or another tables directory.

    Returns
    -------
    Tables

    Raises
    ------
    InvalidScheduleError
        For a schedule that breaks rules, or whose routes may deadlock on the machine.
    UnsupportedError
        For one that rows cannot express, or that only slots keep right; the message says why.
    InputError
        For an unknown format, and for a folder that exists.

    Examples
    --------
    >>> import certree.api as ct
    >>> schedule = ct.synthesize("ring:4", size="1MiB")
    >>> ct.export(schedule, "readmemh", "ring4").slot_cycles
    2732
    """
    if control != SLOTTED and not load_formats()[format].has_trace:
        raise InputError(f"control {control}: {format} describes no interface that it could be of; format systemverilog does")
    schedule = schedule_of(source)
    used = setting(schedule, size, machine)
    verdict = verdict_on_machine(schedule, verify_schedule(schedule), used.machine, used.message_bytes)
    if not verdict.valid:
        raise InvalidScheduleError(schedule, verdict)
    lowered = lower(written_out(schedule), used.message_bytes, used.machine)
    lowered = replace(lowered if control == LOCKSTEP else with_additions(lowered), epoch=epoch, control=control)
    files = trace_files(lowered, format)  # of lockstep, this refuses rows that do not wait for what they send
    if control == LOCKSTEP and (race := race_of_tables(lowered)) is not None:
        raise UnsupportedError(f"control {control}: only slots keep transfers of chunk {race.chunk} at node {race.node} in order")
    export_tables(lowered, Path(folder), format, force, files)
    tables = read_tables(Path(folder))
    verdict = verify_tables(tables)
    if not verdict.valid:
        raise DisagreementError(f"the tables written to {folder} are invalid: {verdict.violations[0].message}")
    return tables


def row_bits(tables: Tables) -> dict[str, int]:
    """The bits of a row and of an expected arrival.

    Parameters
    ----------
    tables : Tables
        Tables of any format.

    Returns
    -------
    dict
        `row_bits` and `arrival_bits`.

    Examples
    --------
    >>> import certree.api as ct
    >>> ct.row_bits(ct.export(ct.synthesize("ring:4", size="1MiB"), "readmemh", "ring4"))
    {'row_bits': 50, 'arrival_bits': 10}
    """
    widths = Widths.of(tables)
    bits = {"row_bits": widths.row(), "arrival_bits": widths.arrival()}
    return {name: sum(field.bits for field in fields) for name, fields in bits.items()}


def import_tables(folder: str | Path) -> AnySchedule:
    """The schedule that the tables in a folder execute, or that a bundle has with its certificate, verified.

    Parameters
    ----------
    folder : str or path
        A tables directory or a bundle.

    Returns
    -------
    Schedule or SymmetricSchedule

    Raises
    ------
    InvalidScheduleError
        For tables that break rules.
    InvalidBundleError
        For a bundle with an item that failed.
    TableFormatError, InputError
        For files that are damaged or contradict each other.

    Examples
    --------
    >>> import certree.api as ct
    >>> _ = ct.export(ct.synthesize("ring:4", size="1MiB"), "json", "ring4")
    >>> ct.import_tables("ring4")
    <Schedule all-reduce on ring:4: chunks 24, steps 18, repeats 1, transfers 144>
    """
    opened, kind = opened_kind(folder)
    if not kind.imports or kind.on_any_network:
        raise InputError(f"{folder} is not a tables directory or a bundle")
    return kind.require_valid(kind.verify(opened, Asked()))
