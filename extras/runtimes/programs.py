"""Programs of communication runtimes: exported from schedules, verified, and read back as schedules."""

from pathlib import Path
from tempfile import TemporaryDirectory

from certree.api import parsing
from certree.api.api_errors import DisagreementError, InvalidScheduleError
from certree.api.artefacts import Asked, opened_kind
from certree.api.inputs import schedule_of
from certree.api.parsing import Network
from certree.api.settings import message_size, setting
from certree.extras.runtimes.formats.program_format import (
    CheckedProgram,
    ProgramFormat,
    Sizes,
    load_program_formats,
    require_roles,
)
from certree.extras.runtimes.reports import AnyVerdict
from certree.models.common.errors import InputError, UnsupportedError
from certree.models.common.fields import Fields
from certree.models.common.files import Opened, check_writable, new_folder, read_json, write_atomically
from certree.models.machine.machine import Machine
from certree.models.schedule.collective import Collective
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.symmetric.symmetric_schedule import AnySchedule, written_out
from certree.verify.checker import verify_schedule

TABLE = "table.json"  # in a folder that `tune` wrote: its ranges of sizes


def export_program(
    source: str | Path | AnySchedule,
    format: str = "msccl-xml",
    path: str | Path = "program.xml",
    *,
    size: int | str | None = None,
    machine: str | Path | Machine | None = None,
    sizes: Sizes | None = None,
    force: bool = False,
) -> AnyVerdict:
    """Write a schedule as a program of a communication runtime, read it back, execute it and return the verdict.

    MSCCL XML has one iteration of a repeating schedule: the runtime executes it for one piece of the message after the other. A
    plan of MSCCL++ has a loop of them; Chakra traces have all of them. Ranks are the endpoints in the order of their ids.

    Parameters
    ----------
    source : str, path or schedule
        A valid schedule.
    format : str
        The format; `certree list` names them.
    path : str or path
        The file, or for Chakra traces a new folder.
    size, machine
        For Chakra traces: the message, and the machine of ASTRA-sim's network; by default those that the schedule was made for.
    sizes : tuple of int, optional
        The smallest and the largest message, in bytes, for which the runtime takes the file.
    force : bool
        Whether a file that exists is overwritten.

    Returns
    -------
    ProgramVerdict, PlanVerdict, AlgorithmVerdict or that of another format

    Raises
    ------
    InvalidScheduleError
        For a schedule that breaks rules.
    UnsupportedError
        For a schedule that a program cannot say or that exceeds a limit of the runtime; the message says which.
    InputError
        For an unknown format and a file that exists.

    Examples
    --------
    >>> import certree.api as ct
    >>> ct.export_program(ct.synthesize("ring:4", size="1MiB"), "msccl-xml", "ring4.xml").valid
    True
    """
    entry = load_program_formats()[format]
    output = Path(path)
    if entry.suffix:
        check_writable(output, force=force)
    schedule = written_out(schedule_of(source))
    verdict = verify_schedule(schedule)
    if not verdict.valid:
        raise InvalidScheduleError(schedule, verdict)
    if sizes is not None and (not entry.suffix or not 0 <= sizes[0] <= sizes[1]):
        raise InputError(
            f"sizes {sizes[0]} to {sizes[1]}: " + ("the smallest comes first" if entry.suffix else f"not for {format}")
        )
    if not entry.suffix:
        used = setting(schedule, size, machine)
        files = entry.write_folder(schedule, used.message_bytes, used.machine, str(output))
        with new_folder(output) as folder:
            for name, data in files.items():
                (folder / name).parent.mkdir(exist_ok=True)
                (folder / name).write_bytes(data)
            return _checked(entry, folder, schedule, output)
    require_size_applies(entry, size, machine, sizes)
    written = entry.write_for(schedule, message_size(schedule, size)) if entry.has_one_size else entry.write(schedule, sizes)
    with TemporaryDirectory() as temporary:
        copy = Path(temporary) / f"program{entry.suffix}"
        copy.write_bytes(written)
        checked = _checked(entry, copy, schedule, output)
    write_atomically(output, written, force=force)
    return checked


def require_size_applies(entry: ProgramFormat, size: object, machine: object, sizes: Sizes | None) -> None:
    """Raise InputError where a size, a machine or limits of sizes are given that files of a format do not have."""
    if entry.has_one_size:
        if machine is not None or sizes is not None:
            raise InputError(
                f"a program for {entry.name} is for one size and any machine; limits of sizes and a machine do not apply"
            )
    elif entry.suffix and (size is not None or machine is not None):
        raise InputError(f"a program for {entry.name} is for any size; size and machine do not apply")


def export_programs(
    tuned: str | Path, format: str = "msccl-xml", folder: str | Path = "programs"
) -> list[tuple[Path, Sizes, AnyVerdict]]:
    """Write the schedules that `tune` made, each for its range of sizes, as programs into a new folder: (file, sizes, verdict).

    The first range begins at 0 bytes, and the last has no end. Errors as in `export_program`, with the schedule that has no
    program, and InputError for a folder without table.json of `tune`; nothing is written then.
    """
    entry, source = load_program_formats()[format], Path(tuned)
    table = Fields.of_format(read_json(source / TABLE), "certree-tune-report", 1, str(source / TABLE))
    rows = [(row.whole("from", 0), row.whole("to", 0), row.text("file")) for row in table.tables("ranges", least=1)]
    if not entry.suffix or entry.has_one_size:
        raise InputError(f"{format} is for one size; export the schedules one by one")
    found = []
    with new_folder(Path(folder)) as fresh:
        for number, (smallest, largest, file) in enumerate(rows):
            limits = (0 if number == 0 else smallest, entry.no_end if number + 1 == len(rows) else largest)
            name = f"{number}_{Path(file).stem}{entry.suffix}"
            try:
                checked = export_program(source / Path(file).name, format, fresh / name, sizes=limits)
            except UnsupportedError as error:
                raise UnsupportedError(f"{source / file}: {error}") from None
            found.append((Path(folder) / name, limits, checked))
    return found


def _checked(entry: ProgramFormat, path: Path, schedule: Schedule, output: Path) -> AnyVerdict:
    """The verdict on what was written for a schedule; DisagreementError where it is wrong."""
    root = schedule.collective.root
    checked = entry.execute(
        entry.read(Opened(path)),
        schedule.collective.kind,
        None if root is None else int(schedule.topology.rank[root]),
        entry.executor,
    )
    if not checked.valid:
        raise DisagreementError(f"the program for {output} is invalid: {checked.verdict.violations[0].message}")
    try:
        require_roles(checked, schedule.collective, schedule.topology)
    except InputError as error:
        raise DisagreementError(f"the program for {output} is of another collective: {error}") from None
    return checked


def verify_program(
    path: str | Path | Opened,
    *,
    topology: Network | None = None,
    collective: str | Collective | None = None,
    root: int | None = None,
    executor: str | None = None,
) -> CheckedProgram:
    """The verdict on a program of a runtime (MSCCL XML, a plan of MSCCL++, Chakra traces), which is executed.

    Parameters
    ----------
    path : str or path
        The program.
    topology : str, path, Topology or graph, optional
        The network; with it also the schedule that the program executes there.
    collective, root
        Where given, those that the program must have; `root` is an endpoint of the network, or without one a rank.
    executor : {"msccl-0.7.4", "rccl", "mscclpp-0.9"}, optional
        Whose limits count.

    Returns
    -------
    CheckedProgram
        The verdict lists wrong or missing contributions, deadlocks, races between thread blocks, unmatched messages, and the limits
        of the executor that are exceeded; its `limits` has those of all.

    Raises
    ------
    InputError
        For files that cannot be read.

    Examples
    --------
    >>> import certree.api as ct
    >>> _ = ct.export_program(ct.synthesize("ring:4", size="1MiB"), "msccl-xml", "ring4.xml")
    >>> ct.verify_program("ring4.xml", topology="ring:4").schedule
    <Schedule all-reduce on ring:4: chunks 24, steps 18, repeats 1, transfers 144>
    """
    opened, kind = _opened(path)
    network = None if topology is None else parsing.topology(topology)
    return kind.checked(opened, topology=network, collective=collective, root=root, executor=executor)


def import_program(path: str | Path | Opened, topology: Network, *, root: int | None = None) -> Schedule:
    """The schedule that a program executes on a network, verified: transfers in as few rounds as links and data allow.

    Parameters
    ----------
    path : str or path
        The program.
    topology : str, path, Topology or graph
        The network, with as many endpoints as the program has ranks.
    root : int, optional
        The root of a collective that has one.

    Returns
    -------
    Schedule

    Raises
    ------
    InvalidProgramError
        For a program that is wrong.
    InputError
        For a file that cannot be read, and for another number of endpoints.
    UnsupportedError
        Where a place holds contributions to different chunks.

    Examples
    --------
    >>> import certree.api as ct
    >>> _ = ct.export_program(ct.synthesize("ring:4", size="1MiB"), "msccl-xml", "ring4.xml")
    >>> ct.verify(ct.import_program("ring4.xml", "ring:4")).valid
    True
    """
    opened, kind = _opened(path)
    return kind.schedule(opened, Asked(topology=parsing.topology(topology), root=root))


def _opened(path: str | Path | Opened) -> tuple[Opened, ProgramFormat]:
    """A program and its format; InputError for anything else."""
    opened, kind = opened_kind(path)
    if not isinstance(kind, ProgramFormat):
        raise InputError(f"{path}: no program; formats of programs: {', '.join(load_program_formats())}")
    return opened, kind
