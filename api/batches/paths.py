"""Verdicts on many files and folders, one after the other."""

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from certree.api import parsing
from certree.api.bundles.checking import verify_bundle
from certree.api.bundles.documents import bundle_report
from certree.api.frontiers import verify_frontier
from certree.api.inputs import holds_schedule, is_frontier, verify_path
from certree.api.parsing import Network
from certree.api.reports.frontiers import frontier_report
from certree.api.reports.schedules import schedule_report
from certree.api.settings import setting
from certree.hw.tables.directory import MANIFEST
from certree.models.bundle.bundle import SUFFIX, is_bundle
from certree.models.common.errors import InputError, UndecidedError
from certree.models.machine.machine import Machine
from certree.models.network.topology import Topology
from certree.models.schedule.collective import Collective

_SUFFIXES = (".json", ".json.gz", ".npz", ".csv", SUFFIX)


@dataclass(frozen=True)
class CheckedPath:
    """A path with the report on what it holds, as `certree verify --json` has it for one path, or with the `error` why there is
    none; exactly one of them. `undecided`: it was read, and the check ended without an answer (`models.common.budget`)."""

    path: Path
    report: dict[str, Any] | None = None
    error: str | None = None
    undecided: bool = False

    @property
    def valid(self) -> bool:
        """Whether it was read and breaks no rule."""
        return self.report is not None and bool(self.report["valid"])


@dataclass(frozen=True)
class Batch:
    """Verification results in the order of the paths; `skipped` are CSVs in folders, which do not state their network."""

    checked: tuple[CheckedPath, ...]
    skipped: tuple[Path, ...] = ()

    @property
    def exit_code(self) -> int:
        """2 where something could not be read, else 1 where something is invalid, else 3 where something is undecided, else 0."""
        if any(one.error is not None and not one.undecided for one in self.checked):
            return 2
        if any(one.report is not None and not one.valid for one in self.checked):
            return 1
        return UndecidedError.exit_code if any(one.undecided for one in self.checked) else 0

    def document(self) -> dict[str, Any]:
        """The JSON document of `certree verify` for several paths."""
        files = [{"path": str(one.path), **(one.report or _without_report(one))} for one in self.checked]
        return {"valid": self.exit_code == 0, "files": files}


def _without_report(one: CheckedPath) -> dict[str, Any]:
    return {"valid": False, "error": one.error, **({"undecided": True} if one.undecided else {})}


def is_batch(paths: Sequence[Path]) -> bool:
    """Whether there are several things to verify: more than one path, or a folder that is not a tables directory."""
    return len(paths) != 1 or (paths[0].is_dir() and not (paths[0] / MANIFEST).exists() and any(_found_in(paths[0])))


def verify_all(
    *paths: str | Path,
    topology: Network | None = None,
    collective: str | Collective | None = None,
    root: int | None = None,
    route: str | None = None,
    size: int | str | None = None,
    machine: str | Path | Machine | None = None,
    progress: Callable[[str], None] | None = None,
) -> Batch:
    """Verify files, tables directories, and in other folders everything that starts as a schedule, frontier or bundle or is a
    tables directory, sub-folders included.

    `topology`, `collective`, `root` and `route` as in `verify`: all of them must be for these, and CSVs are read with them; without
    them CSVs in folders are skipped. `size` and `machine`: those of the reported times, and for which routes must be free of
    deadlock, by default those that each was made for.
    `progress` receives a line for each path. An unreadable file is an entry with its error, and so is one whose check would take
    more steps or memory than the budget of a file has. Raises InputError for a folder with nothing to verify.

    >>> import certree.api as ct
    >>> ct.save(ct.synthesize("ring:4", size="1MiB"), "ring4.json")
    >>> [(str(one.path), one.valid) for one in ct.verify_all("ring4.json").checked]
    [('ring4.json', True)]
    """
    network = None if topology is None else parsing.topology(topology)
    asked = None if collective is None else parsing.collective(collective, root)
    checked, skipped = [], []
    for path in _all_paths([Path(path) for path in paths]):
        if path.suffix == ".csv" and path not in map(Path, paths) and (network is None or asked is None):
            skipped.append(path)
            continue
        if progress is not None:
            progress(f"verifying {path}")
        try:
            checked.append(CheckedPath(path, _report(path, network, asked, route, size, machine)))
        except InputError as error:
            checked.append(CheckedPath(path, error=str(error)))
        except UndecidedError as error:
            checked.append(CheckedPath(path, error=f"{path}: {error}", undecided=True))
    return Batch(tuple(checked), tuple(skipped))


def _report(
    path: Path,
    topology: Topology | None,
    collective: Collective | None,
    route: str | None,
    size: int | str | None,
    machine: str | Path | Machine | None,
) -> dict[str, Any]:
    """The report on one path."""
    if is_bundle(path):
        return bundle_report(verify_bundle(path, topology=topology, collective=collective))
    if is_frontier(path):
        return frontier_report(verify_frontier(path, topology, collective))
    if path.is_dir():
        size = machine = None  # tables are made for one size and machine
    checked = verify_path(path, topology, collective, route if path.suffix == ".csv" else None, size=size, machine=machine)
    used = setting(checked.schedule, size, machine)
    return schedule_report(checked.schedule, checked.verdict, used.message_bytes, used.machine, checked.slot_cycles)


def _all_paths(paths: Sequence[Path]) -> Iterator[Path]:
    """Each path once; folders that are not tables directories are replaced by their contents."""
    seen: set[Path] = set()
    for path in paths:
        inside = path.is_dir() and not (path / MANIFEST).exists()
        found = sorted(_found_in(path)) if inside else [path]
        if not found:
            raise InputError(f"{path}: no schedule, frontier or tables in this folder")
        for one in found:
            if one not in seen:
                seen.add(one)
                yield one


def _found_in(folder: Path) -> Iterator[Path]:
    """Files and tables directories in a folder and its sub-folders, hidden ones left out."""
    for place, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        if MANIFEST in files:
            yield Path(place)
            folders.clear()
            continue
        for name in files:
            path = Path(place) / name
            if not name.startswith(".") and name.endswith(_SUFFIXES) and (holds_schedule(path) or is_frontier(path)):
                yield path
