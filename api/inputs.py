"""Inputs: the objects that arguments stand for, paths included, and files of schedules and networks."""

from pathlib import Path
from typing import Any

from certree.api import parsing
from certree.api.artefacts import Asked, opened_kind
from certree.api.parsing import Network
from certree.models.common.errors import InputError
from certree.models.common.files import Opened
from certree.models.network.network_files import save_topology
from certree.models.network.topology import Topology
from certree.models.schedule.collective import Collective
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.symmetric.symmetric_file import save_any_schedule
from certree.models.schedule.symmetric.symmetric_schedule import AnySchedule, SymmetricSchedule
from certree.models.tables.tables import Tables


def load(
    path: str | Path,
    *,
    topology: Network | None = None,
    collective: str | Collective | None = None,
    root: int | None = None,
    route: str | None = None,
) -> Any:
    """The object that a path holds: a schedule, tables, a network, the document of a frontier, a program, ...

    `certree list` names the kinds; the contents of a file decide, not the end of its name. `verify` checks whether it is valid.

    Parameters
    ----------
    path : str or path
        A file or a folder.
    topology, collective, root : optional
        A CSV is read with these; other schedules must be for them.
    route : {"shortest", "dimension-order"}, optional
        Routes of CSV rows between nodes that are not neighbours.

    Returns
    -------
    object
        An object of the class of its kind.

    Raises
    ------
    InputError
        Or ScheduleFormatError or TableFormatError, which name the file and the fault.

    Examples
    --------
    >>> import certree.api as ct
    >>> ct.save(ct.synthesize("ring:4", size="1MiB"), "ring4.json")
    >>> ct.load("ring4.json")
    <Schedule all-reduce on ring:4: chunks 24, steps 18, repeats 1, transfers 144>
    """
    opened, kind = opened_kind(path)
    asked = asked_for(topology, collective, root, route)
    kind.require_applicable(opened, asked)
    return kind.load(opened, asked)


def save(subject: AnySchedule | Topology, path: str | Path, *, force: bool = False) -> None:
    """Write a schedule or a network to a file.

    Parameters
    ----------
    subject : Schedule, SymmetricSchedule or Topology
        What is written.
    path : str or path
        A name with a suffix: .json, .json.gz or .npz for a schedule, .json or .graphml, zipped too, for a network.
    force : bool
        Overwrite a file that exists.

    Raises
    ------
    InputError
        For another suffix, and for a file that exists, unless `force`.

    Examples
    --------
    >>> import certree.api as ct
    >>> ct.save(ct.topology("torus:4x4"), "torus.graphml")
    """
    if isinstance(subject, Topology):
        save_topology(subject, Path(path), force=force)
    else:
        save_any_schedule(subject, Path(path), force=force)


def asked_for(
    topology: Network | None = None, collective: str | Collective | None = None, root: int | None = None, route: str | None = None
) -> Asked:
    """The requirements that the arguments of `load` state."""
    network = None if topology is None else parsing.topology(topology)
    return Asked(network, None if collective is None else parsing.collective(collective, root), root, route)


def given(
    source: str | Path | Opened | AnySchedule | Tables,
    topology: Network | None = None,
    collective: str | Collective | None = None,
    root: int | None = None,
    route: str | None = None,
) -> AnySchedule | Tables:
    """The schedule or the tables of an argument: themselves, or those that a path holds; the other arguments as in `load`."""
    if isinstance(source, Schedule | SymmetricSchedule | Tables):
        return source
    if not isinstance(source, str | Path | Opened):
        raise InputError(f"{source!r} is not a schedule; expected a path, a Schedule or Tables")
    opened, kind = opened_kind(source)
    asked = asked_for(topology, collective, root, route)
    kind.require_applicable(opened, asked)
    return kind.schedule(opened, asked)


def schedule_of(
    source: str | Path | Opened | AnySchedule | Tables,
    topology: Network | None = None,
    collective: str | Collective | None = None,
    root: int | None = None,
    route: str | None = None,
) -> AnySchedule:
    """The schedule of an argument: a schedule, that of tables, or the one that a path holds; the other arguments as in `load`."""
    found = given(source, topology, collective, root, route)
    return found.schedule if isinstance(found, Tables) else found


def size_or_default(size: int | str | None) -> int:
    """The message size given, or the default one."""
    return parsing.size() if size is None else parsing.size(size)
