"""Bundles of evidence: collected, written, read back and re-checked."""

import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path

from certree.api import parsing
from certree.api.api_errors import DisagreementError, InvalidScheduleError
from certree.api.artefacts import kind_of, verify_artefact
from certree.api.checks.verdicts import on_machine
from certree.api.evidence import add_certificate
from certree.api.inputs import asked_for, given, schedule_of
from certree.api.parsing import Network
from certree.api.settings import setting, silent
from certree.extras.bundles.check.checking import BundleVerdict, verify_bundle
from certree.extras.bundles.evidence import Source, load_evidence
from certree.extras.bundles.model.bundle import PAGE, SUFFIX, Bundle, Item, bundle_of
from certree.extras.bundles.page import page
from certree.extras.frontiers.make.frontiers import FoundFrontier
from certree.extras.joint.check.joint_checks import verify_joint
from certree.extras.joint.model.joint_file import as_joint, is_joint
from certree.extras.joint.model.joint_schedule import JointSchedule
from certree.hw.engines.runs import MODES, check_known
from certree.hw.formats import load_formats
from certree.hw.run import through_files
from certree.models.common.errors import InputError, UnsupportedError
from certree.models.common.files import Opened, check_writable, require_suffix, write_atomically
from certree.models.machine.machine import Machine
from certree.models.schedule.collective import Collective
from certree.models.schedule.symmetric.symmetric_schedule import AnySchedule
from certree.models.tables.tables import Tables
from certree.verify.checker import verify_schedule


def bundle(
    source: str | Path | AnySchedule | Tables | JointSchedule | FoundFrontier,
    path: str | Path,
    *,
    topology: Network | None = None,
    collective: str | Collective | None = None,
    root: int | None = None,
    route: str | None = None,
    size: int | str | None = None,
    machine: str | Path | Machine | None = None,
    format: str = "readmemh",
    runs: Sequence[str] = ("slotted",),
    without_routers: bool = False,
    tla: bool = True,
    force: bool = False,
    progress: Callable[[str], None] | None = None,
) -> BundleVerdict:
    """Write a schedule, a frontier or a joint schedule with all its evidence as one file, read it back and re-check it.

    The same input gives the same bytes.

    Parameters
    ----------
    source
        A schedule, tables, a frontier, a joint schedule, or the path of one. A schedule without certificate gets one.
    path : str or path
        Where to write, a name that ends in .certree.
    topology, collective, root, route
        As in `verify`.
    size, machine
        By default what the schedule was made for, or 64 MiB and multitree; the schedule in the bundle records them.
    format : str
        The format of the tables.
    runs : sequence of {"slotted", "paced"}
        The modes that are simulated.
    without_routers : bool
        As in `simulate`.
    tla : bool
        Whether TLC checks the models, and tables that are small enough.
    force : bool
        Whether a file that exists is overwritten.
    progress : callable, optional
        Receives a line for each model that TLC has checked.

    Returns
    -------
    BundleVerdict
        The result of the re-check.

    Raises
    ------
    InvalidScheduleError
        For a schedule that breaks rules.
    InputError
        For another suffix, a file that exists (unless `force`), an invalid frontier, and options that do not apply.
    ToolMissingError
        Without Java or TLC, unless `tla` is False. Nothing is written in all these cases.

    Examples
    --------
    >>> import certree.api as ct
    >>> made = ct.bundle(ct.synthesize("ring:4", size="1MiB"), "ring4.certree", tla=False)
    >>> [item.name for item in made.items if item.status == "absent"]
    ['fewest-cycles', 'fewest-steps', 'optimum', 'order', 'tla']
    >>> print(next(item.text for item in made.items if item.name == "tables"))
    140 rows execute the schedule; 1 MiB, machine multitree, slots of 2,732 cycles
    """
    target = Path(path)
    require_suffix(target, (SUFFIX,), "a bundle")
    check_writable(target, force=force)
    _ = load_formats()[format]
    for mode in runs:
        check_known("run mode", mode, MODES)
    if isinstance(source, FoundFrontier) or (isinstance(source, str | Path) and _is_frontier(source)):
        wanted = _frontier_source(source, topology, collective, root, size, machine)
    elif isinstance(source, JointSchedule) or is_joint(source):
        stated = {"collective": collective, "root": root, "route": route, "size": size, "machine": machine}
        wanted = replace(_joint_source(source, topology, stated, runs), format=format)
    else:
        wanted = _schedule_source(source, topology, collective, root, route, size, machine)
        wanted = replace(wanted, format=format, runs=tuple(runs), without_routers=without_routers, tla=tla)
    made = _collected(replace(wanted, tell=progress or silent))
    checked = verify_bundle(bundle_of(made.data, str(target)))
    if (wrong := next((item for item in checked.items if not item.passed), None)) is not None:
        raise DisagreementError(f"the bundle that was made is invalid: {wrong.name}: {wrong.text}")
    write_atomically(target, made.data, force=force)
    return checked


def _is_frontier(path: str | Path) -> bool:
    kind = kind_of(Opened(Path(path)))
    return kind is not None and kind.name == "frontier"


def _collected(source: Source) -> Bundle:
    """The bundle of a source."""
    items: list[Item] = []
    members: dict[str, bytes] = {}
    for name, evidence in load_evidence(source.kind).items():
        try:
            found = evidence.collect(source)
        except UnsupportedError as error:
            items.append(Item(name, absent=str(error)))
            continue
        items.append(Item(name, tuple(found)))
        members |= found
    made_with = {"certree": version("certree"), "python": platform.python_version()}
    return Bundle(source.kind, made_with, tuple(items), {PAGE: page(source.kind, items, made_with), **members}, "the bundle")


def _schedule_source(
    source: str | Path | AnySchedule | Tables,
    topology: Network | None,
    collective: str | Collective | None,
    root: int | None,
    route: str | None,
    size: int | str | None,
    machine: str | Path | Machine | None,
) -> Source:
    """The certified schedule with its tables."""
    taken = given(source, topology, collective, root, route)
    if isinstance(taken, Tables) and (size is not None or machine is not None):
        raise InputError("tables are made for one size and machine; size and machine do not apply")
    schedule = schedule_of(taken)
    used = setting(schedule, size, machine)
    if topology is not None and not parsing.topology(topology).is_network_of(schedule.topology):
        raise InputError(f"the schedule is for {schedule.topology.name}, which is not the network asked for")
    recorded = replace(schedule, made_for=used)
    certified, verdict = add_certificate(recorded) if schedule.certificate is None else (recorded, verify_schedule(recorded))
    verdict = on_machine(certified, verdict)
    if not verdict.valid:
        raise InvalidScheduleError(certified, verdict)
    if isinstance(taken, Tables):
        return Source(certified, taken)
    try:
        return Source(certified, through_files(certified, used.message_bytes, used.machine))
    except UnsupportedError as error:
        return Source(certified, no_tables=str(error))


def _frontier_source(
    source: str | Path | FoundFrontier,
    topology: Network | None,
    collective: str | Collective | None,
    root: int | None,
    size: object,
    machine: object,
) -> Source:
    """The document of a valid frontier."""
    if size is not None or machine is not None:
        raise InputError("a frontier is of steps and rounds; size and machine do not apply")
    if isinstance(source, FoundFrontier):
        return Source(frontier=source.verdict.document)
    verdict = verify_artefact(source, asked_for(topology, collective, root)).verdict
    if not verdict.valid:
        raise InputError(f"{source}: the frontier is invalid: {verdict.violations[0].rule}: {verdict.violations[0].message}")
    return Source(frontier=verdict.document)


def _joint_source(source: object, topology: Network | None, stated: Mapping[str, object], runs: Sequence[str]) -> Source:
    """A valid joint schedule."""
    for name, value in stated.items():
        if value is not None:
            raise InputError(f"a joint schedule states its collectives, size and machine; {name} does not apply")
    if tuple(runs) not in ((), MODES[:1]):
        raise InputError(f"joint schedules run in their slots; allowed runs: {MODES[0]}")
    taken = as_joint(source)
    verdict = verify_joint(taken, None if topology is None else parsing.topology(topology))
    if not verdict.valid:
        first, where = verdict.violations[0], source if isinstance(source, str | Path) else "the source"
        raise InputError(f"{where}: the joint schedule is invalid: {first.rule}: {first.message}")
    return Source(joint=taken, runs=tuple(runs))
