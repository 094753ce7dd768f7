"""Verdicts on many files and folders, one after the other."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any

from certree.api.artefacts import Artefact, kind_of, opened_kind
from certree.api.inputs import asked_for
from certree.api.parsing import Network
from certree.api.settings import silent
from certree.models.common.errors import CertreeError, InputError, UndecidedError, internal_error
from certree.models.common.files import Opened
from certree.models.machine.machine import Machine
from certree.models.schedule.collective import Collective


@dataclass(frozen=True)
class CheckedPath:
    """A path with the report on what it holds, as `certree verify --json` has it for one path, or with the `error` why there is
    none; exactly one of them. `undecided`: it was read, and the check ended without an answer (`models.common.budget`).
    `internal`: a bug in certree ended the check."""

    path: Path
    report: dict[str, Any] | None = None
    error: str | None = None
    undecided: bool = False
    internal: bool = False

    @property
    def valid(self) -> bool:
        """Whether it was read and breaks no rule."""
        return self.report is not None and bool(self.report["valid"])

    @property
    def reason(self) -> str:
        """The reason why there is no report."""
        return "internal error" if self.internal else "undecided" if self.undecided else "unreadable"


@dataclass(frozen=True)
class Batch:
    """Verification results in the order of the paths; `skipped` are CSVs in folders, which do not state their network, and
    `networks` those among several paths, which have nothing to verify."""

    checked: tuple[CheckedPath, ...]
    skipped: tuple[Path, ...] = ()
    networks: tuple[Path, ...] = ()

    @property
    def exit_code(self) -> int:
        """70 where a bug in certree ended a check, else 2 where something could not be read, else 1 where something is invalid,
        else 3 where something is undecided, else 0."""
        if any(one.internal for one in self.checked):
            return CertreeError.exit_code
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
    why = {name: True for name in ("undecided", "internal") if getattr(one, name)}
    return {"valid": False, "error": one.error, **why}


def is_batch(paths: Sequence[Path]) -> bool:
    """Whether there are several things to verify: more than one path, or a folder that is not itself an artefact."""
    return len(paths) != 1 or (paths[0].is_dir() and kind_of(Opened(paths[0])) is None and any(_found_in(paths[0])))


def verify_all(
    *paths: str | Path,
    topology: Network | None = None,
    collective: str | Collective | None = None,
    root: int | None = None,
    route: str | None = None,
    size: int | str | None = None,
    machine: str | Path | Machine | None = None,
    executor: str | None = None,
    progress: Callable[[str], None] | None = None,
) -> Batch:
    """Verify files, tables directories, and in other folders every artefact that has a check, sub-folders included.

    Parameters
    ----------
    *paths : str or path
        Files and folders.
    topology, collective, root, route
        As in `verify`: all must be for these, and CSVs are read with them. Without them CSVs in folders are skipped, and so are
        networks among several paths.
    size, machine : optional
        Those of the reported times, for which routes must also be free of deadlock; by default those that each was made for.
    executor : str, optional
        The executor whose limits programs must keep.
    progress : callable, optional
        Receives a line for each path.

    Returns
    -------
    Batch
        An unreadable file is an entry with its error, and so is one whose check would take more steps or memory than the budget of
        a file has, or is ended by a bug in certree.

    Raises
    ------
    InputError
        For a folder with nothing to verify.

    Examples
    --------
    >>> import certree.api as ct
    >>> ct.save(ct.synthesize("ring:4", size="1MiB"), "ring4.json")
    >>> [(str(one.path), one.valid) for one in ct.verify_all("ring4.json").checked]
    [('ring4.json', True)]
    """
    stated = replace(asked_for(topology, collective, root, route), size=size, machine=machine, executor=executor)
    checked, skipped, networks = [], [], []
    for opened, kind in _all_paths([Path(path) for path in paths]):
        path = opened.path
        if kind.is_network and len(paths) > 1:
            networks.append(path)
            continue
        if kind.needs_network and path not in map(Path, paths) and (stated.topology is None or stated.collective is None):
            skipped.append(path)
            continue
        if progress is not None:
            progress(f"verifying {path}")
        try:
            checked.append(CheckedPath(path, kind.verify(opened, kind.applicable(stated)).report(silent)))
        except InputError as error:
            checked.append(CheckedPath(path, error=str(error)))
        except UndecidedError as error:
            checked.append(CheckedPath(path, error=f"{path}: {error}", undecided=True))
        except MemoryError:
            checked.append(CheckedPath(path, error=f"{path}: undecided: it takes more memory than there is", undecided=True))
        except Exception as error:
            checked.append(CheckedPath(path, error=internal_error(error), internal=True))
    return Batch(tuple(checked), tuple(skipped), tuple(networks))


def _all_paths(paths: Sequence[Path]) -> Iterator[tuple[Opened, Artefact]]:
    """Each path once, with its kind; folders that are not artefacts by themselves are replaced by their contents."""
    seen: set[Path] = set()
    for path in paths:
        opened = Opened(path)
        found = _found_in(path) if opened.is_folder and kind_of(opened) is None else iter([opened_kind(opened)])
        first = next(found, None)
        if first is None:
            raise InputError(f"{path}: no schedule, frontier or tables in this folder")
        for one, kind in chain([first], found):
            if one.path not in seen:
                seen.add(one.path)
                yield one, kind


def _found_in(folder: Path) -> Iterator[tuple[Opened, Artefact]]:
    """Artefacts that can be verified in a folder and its sub-folders, in the order of their paths, with their kinds; hidden ones
    are left out, and folders that cannot be read."""
    whole = Opened(folder)
    if (kind := kind_of(whole)) is not None:
        yield whole, kind
        return
    with suppress(OSError):
        for path in sorted(folder.iterdir()):
            if path.name.startswith("."):
                continue
            if path.is_dir():
                yield from () if path.is_symlink() else _found_in(path)
            elif (kind := kind_of(opened := Opened(path))) is not None and kind.in_folders:
                yield opened, kind
