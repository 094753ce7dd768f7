"""A path that a person types: a schedule file, a CSV or a tables directory."""

import re
from dataclasses import dataclass
from pathlib import Path

from certree.models.common.errors import InputError
from certree.models.common.files import first_bytes, parse_size
from certree.models.machine.machine import Machine, load_machine
from certree.models.network.spec import parse_topology
from certree.models.network.topology import Topology
from certree.models.schedule.collective import Collective, parse_collective
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.schedule_file import load_schedule_csv
from certree.models.schedule.symmetric import AnySchedule, written_out
from certree.models.schedule.symmetric_file import load_any_schedule
from certree.verify.checker import verify_schedule
from certree.verify.verdict import Verdict

DEFAULT_SIZE, DEFAULT_MACHINE = "64MiB", "multitree"

_START = r'\s*\{{\s*"format"\s*:\s*"{}"'  # of a JSON document of ours


@dataclass(frozen=True)
class Judged:
    """A schedule, what the judge says of it, and the size and machine that its time is stated for."""

    schedule: AnySchedule
    verdict: Verdict
    message_bytes: int
    machine: Machine


def read_schedule(path: Path, topology: Topology | None = None, collective: Collective | None = None) -> AnySchedule:
    """The schedule in a file; a CSV says neither `topology` nor `collective`, so they must be given."""
    if path.is_dir():
        raise InputError(f"{path} is a folder; expected a schedule file (.json, .json.gz, .npz, .csv)")
    if path.suffix == ".csv":
        if topology is None or collective is None:
            raise InputError(
                f"{path}: a CSV does not say its network; verify and certify take it with --topology and --collective (and --root)"
            )
        return load_schedule_csv(path, topology, collective)
    schedule = load_any_schedule(path)
    _require(path, schedule, collective)
    return schedule


def verify_path(
    path: Path, topology: Topology | None, collective: Collective | None, size: int | None, machine: Machine | None
) -> Judged:
    """Read and judge; `topology` and `collective`, where given, must be those of the schedule."""
    if not path.is_dir():
        schedule = read_schedule(path, topology, collective)
        return Judged(schedule, verify_schedule(schedule, topology=topology), size_or_default(size), machine_or_default(machine))
    from certree.hw.tables.directory import read_tables
    from certree.verify.tables.checker import verify_tables

    if size is not None or machine is not None:
        raise InputError(f"{path}: tables are made for one size and machine; --size and --params do not apply")
    tables = read_tables(path)
    _require(path, tables.schedule, collective)
    verdict = verify_tables(tables)
    if verdict.valid and topology is not None:
        verdict = verify_schedule(tables.schedule, topology=topology)
    return Judged(tables.schedule, verdict, tables.message_bytes, tables.machine)


def is_bundle(path: Path) -> bool:
    """Whether a file starts as a frontier with its evidence does; a look at its first bytes."""
    return _starts_as(path, "certree-frontier")


def holds_schedule(path: Path) -> bool:
    """Whether a path is a schedule or tables and no network: a folder, a CSV, an .npz, a file that starts as a schedule does."""
    return path.is_dir() or (path.is_file() and (path.suffix in (".csv", ".npz") or _starts_as(path, "certree-schedule")))


def _starts_as(path: Path, name: str) -> bool:
    """Whether a JSON file, zipped or not, starts with this format."""
    if path.is_dir() or not path.name.endswith((".json", ".json.gz")):
        return False
    return re.match(_START.format(name).encode(), first_bytes(path, 200)) is not None


def aggregated_schedule(source: str, size: int, machine: Machine, flows: int | None) -> Schedule:
    """What `aggregate` runs: the schedule in a file, or for a network one that has a tree for each flow."""
    if holds_schedule(Path(source)):
        if flows is not None:
            raise InputError("--flows is for networks; a schedule has the trees that it has")
        return written_out(read_schedule(Path(source)))
    from certree.synth.gentree.switch_tree import central_switches
    from certree.synth.method import Request, load_methods

    topology = parse_topology(source)
    roots = [switch for switch in central_switches(topology) if topology.reducing[switch]] if topology.reducing.any() else []
    most = max(1, len(roots))
    if flows is not None and flows > most:
        raise InputError(f"--flows is {flows}; {topology.name} has {most} central switch(es) that reduce, one for each flow")
    request = Request(topology, parse_collective("all-reduce"), size, machine, chunks=flows or most)
    return written_out(load_methods()["netreduce"](request))


def size_or_default(size: int | None) -> int:
    """The message size given, or the default one."""
    return size or parse_size(DEFAULT_SIZE)


def machine_or_default(machine: Machine | None) -> Machine:
    """The machine given, or the default one."""
    return machine or load_machine(DEFAULT_MACHINE)


def _require(path: Path, schedule: AnySchedule, collective: Collective | None) -> None:
    if collective is not None and collective != schedule.collective:
        raise InputError(f"{path}: the collective is {schedule.collective.words}, not {collective.words}")
