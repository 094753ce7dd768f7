"""Input paths: schedule files, CSVs, tables directories, frontiers, and schedules in bundles."""

import re
from dataclasses import dataclass
from pathlib import Path

from certree.api import parsing
from certree.api.parsing import Network
from certree.api.settings import setting
from certree.models.bundle.bundle import is_bundle, load_bundle
from certree.models.common.errors import InputError
from certree.models.common.files import first_bytes
from certree.models.machine.machine import Machine
from certree.models.network.topology import Topology
from certree.models.network.topology_file import save_topology
from certree.models.schedule.collective import Collective
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.schedule_csv import load_schedule_csv
from certree.models.schedule.symmetric.symmetric import AnySchedule, SymmetricSchedule
from certree.models.schedule.symmetric.symmetric_file import load_any_schedule, save_any_schedule
from certree.models.tables.tables import Tables
from certree.verify.checker import verify_schedule
from certree.verify.deadlock.verdicts import verdict_on_machine
from certree.verify.verdict import Verdict

_START = r'\s*\{{\s*"format"\s*:\s*"{}"'  # of a JSON document written by certree


@dataclass(frozen=True)
class Checked:
    """A schedule and the verdict on it; `slot_cycles` of tables, None of a schedule file."""

    schedule: AnySchedule
    verdict: Verdict
    slot_cycles: int | None = None


def read_schedule(
    path: Path, topology: Topology | None = None, collective: Collective | None = None, route: str | None = None
) -> AnySchedule:
    """The schedule in a file; a CSV says neither `topology` nor `collective`, so they must be given. `route`: how rows of a CSV
    between nodes that are not neighbours go, "shortest" or "dimension-order"."""
    if path.is_dir():
        raise InputError(f"{path} is a folder; expected a schedule file (.json, .json.gz, .npz, .csv, .certree)")
    if path.suffix == ".csv":
        if topology is None or collective is None:
            raise InputError(
                f"{path}: a CSV does not say its network; verify and certify take it with --topology and --collective (and --root)"
            )
        return load_schedule_csv(path, topology, collective, route)
    if path.suffix.lower() == ".xml":
        advice = "`certree verify` takes programs one by one, `certree import` makes schedules of them"
        raise InputError(f"{path}: a program of a runtime, or a network; {advice}")
    if route is not None:
        raise InputError(f"{path}: routes are asked for, which only a CSV may leave open; other schedules state theirs")
    schedule = load_bundle(path).schedule if is_bundle(path) else load_any_schedule(path)
    _require(path, schedule, collective)
    return schedule


def load(
    path: str | Path,
    *,
    topology: Network | None = None,
    collective: str | Collective | None = None,
    root: int | None = None,
    route: str | None = None,
) -> AnySchedule | Tables:
    """The schedule or tables in a file (.json, .json.gz, .npz, .csv; .certree, a bundle) or tables directory. `verify` checks
    whether it is valid.

    A CSV is read with `topology`, `collective` and `root`; other schedules must be for these where they are given. `route`: routes
    of CSV rows between nodes that are not neighbours, "shortest" or "dimension-order". Raises InputError, or ScheduleFormatError
    and TableFormatError, which name the file and the fault.

    >>> import certree.api as ct
    >>> ct.save(ct.synthesize("ring:4", size="1MiB"), "ring4.json")
    >>> ct.load("ring4.json")
    <Schedule all-reduce on ring:4: chunks 24, steps 18, repeats 1, transfers 144>
    """
    if Path(path).is_dir():
        from certree.hw.tables.directory import read_tables

        return read_tables(Path(path))
    return schedule_of(path, topology, collective, root, route)


def save(subject: AnySchedule | Topology, path: str | Path, *, force: bool = False) -> None:
    """Write a schedule (.json, .json.gz, .npz) or a network (.json, .graphml, zipped too).

    Raises InputError for another suffix, and for a file that exists, unless `force`.

    >>> import certree.api as ct
    >>> ct.save(ct.topology("torus:4x4"), "torus.graphml")
    """
    if isinstance(subject, Topology):
        save_topology(subject, Path(path), force=force)
    else:
        save_any_schedule(subject, Path(path), force=force)


def schedule_of(
    source: str | Path | AnySchedule | Tables,
    topology: Network | None = None,
    collective: str | Collective | None = None,
    root: int | None = None,
    route: str | None = None,
) -> AnySchedule:
    """The schedule of an argument: a schedule, tables, or the path of a file.

    `topology`, `collective`, `root` and `route` as in `load`.
    """
    if isinstance(source, Schedule | SymmetricSchedule):
        return source
    if isinstance(source, Tables):
        return source.schedule
    if not isinstance(source, str | Path):
        raise InputError(f"{source!r} is not a schedule; expected a path, a Schedule or Tables")
    asked = None if collective is None else parsing.collective(collective, root)
    return read_schedule(Path(source), None if topology is None else parsing.topology(topology), asked, route)


def verify_path(
    path: Path,
    topology: Topology | None = None,
    collective: Collective | None = None,
    route: str | None = None,
    *,
    size: int | str | None = None,
    machine: str | Path | Machine | None = None,
) -> Checked:
    """Read and verify; `topology` and `collective`, where given, must be those of the schedule. `route` as in `read_schedule`.

    The routes of a schedule must be free of deadlock on `machine` for `size`, by default what it was made for (`setting`); those of
    tables on theirs."""
    if not path.is_dir():
        schedule = read_schedule(path, topology, collective, route)
        verdict = verify_schedule(schedule, topology=topology)
        return Checked(schedule, on_machine(schedule, verdict, size, machine))
    from certree.hw.formats.systemverilog import TRACE_FILE
    from certree.hw.golden import check_trace
    from certree.hw.tables.directory import read_tables
    from certree.verify.tables.checker import verify_tables

    tables = read_tables(path)
    _require(path, tables.schedule, collective)
    verdict = verify_tables(tables)
    if verdict.valid:
        check_trace(tables, path / TRACE_FILE)
    if verdict.valid and topology is not None:
        verdict = verify_schedule(tables.schedule, topology=topology)
    return Checked(tables.schedule, verdict, tables.slot_cycles)


def on_machine(
    schedule: AnySchedule, verdict: Verdict, size: int | str | None = None, machine: str | Path | Machine | None = None
) -> Verdict:
    """The verdict on a schedule that is to run for `size` on `machine`, by default what it was made for: its routes must be free of
    deadlock there."""
    if not verdict.valid:
        return verdict
    used = setting(schedule, size, machine)
    return verdict_on_machine(schedule, verdict, used.machine, used.message_bytes)


def is_frontier(path: Path) -> bool:
    """Whether a file starts as a frontier with its evidence does; a look at its first bytes."""
    return _starts_as(path, "certree-frontier")


def holds_schedule(path: Path) -> bool:
    """Whether a path is a schedule or tables and no network: a folder, a CSV, an .npz, a bundle, or a file that starts as one."""
    if not path.is_file():
        return path.is_dir()
    return path.suffix in (".csv", ".npz") or is_bundle(path) or _starts_as(path, "certree-(?:symmetric-)?schedule")


def _starts_as(path: Path, name: str) -> bool:
    """Whether a JSON file, zipped or not and whatever its name, starts with this format."""
    return re.match(_START.format(name).encode(), first_bytes(path, 200)) is not None


def size_or_default(size: int | str | None) -> int:
    """The message size given, or the default one."""
    return parsing.size() if size is None else parsing.size(size)


def _require(path: Path, schedule: AnySchedule, collective: Collective | None) -> None:
    if collective is None:
        return
    asked, made = collective.fitted(schedule.topology), schedule.collective
    if asked.demand is not None and made.demand is not None and asked != made:
        blocks = sorted(set(asked.demand.blocks) ^ set(made.demand.blocks))
        raise InputError(
            f"{path}: its demand is another one; a block that only one of the two has: {blocks[0]} (from, to, granules)"
        )
    if asked != made:
        raise InputError(f"{path}: the collective is {schedule.collective.words}, not {collective.words}")
