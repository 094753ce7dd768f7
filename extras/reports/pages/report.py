"""`report`: one self-contained HTML page on one or several schedules, or on a training run."""

from collections.abc import Callable, Sequence
from importlib import metadata
from pathlib import Path
from typing import Protocol, runtime_checkable

from certree.api import parsing
from certree.api.parsing import Network
from certree.api.settings import silent
from certree.extras.joint.model.joint_file import is_joint
from certree.extras.joint.model.joint_schedule import JointSchedule
from certree.extras.reports.explorer.document import viewer_document
from certree.extras.reports.explorer.page import shown
from certree.extras.reports.explorer.templates import environment
from certree.extras.reports.pages.facts import comparison, context
from certree.extras.reports.pages.joint_page import PACKAGE, joint_page
from certree.extras.reports.pages.subjects import Extent, Source, Subject, complete, read_subject
from certree.models.common.errors import InputError
from certree.models.common.files import as_opened, check_writable, write_atomically
from certree.models.machine.machine import Machine
from certree.models.schedule.collective import Collective
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.symmetric.symmetric_schedule import SymmetricSchedule
from certree.models.tables.tables import Tables

SUFFIXES = (".html", ".htm")
MOST_SUBJECTS = 8


@runtime_checkable
class HasPage(Protocol):
    """A result with a page of its own, such as a training run."""

    def page(self, title: str | None = None) -> str:
        """The HTML."""


def report(
    sources: "Source | JointSchedule | Sequence[Source | JointSchedule] | HasPage",
    path: str | Path,
    *,
    title: str | None = None,
    topology: Network | None = None,
    collective: str | Collective | None = None,
    root: int | None = None,
    size: int | str | None = None,
    machine: str | Path | Machine | None = None,
    published: bool = True,
    simulate: bool = True,
    without_routers: bool = False,
    model_check: bool = False,
    force: bool = False,
    progress: Callable[[str], None] = silent,
) -> None:
    """Write one HTML file, which loads nothing from elsewhere, on a schedule or tables, or side by side on several.

    It has an interactive view of the transfers, what was asked, the verdict, the bounds with pictures of their witnesses, times
    over sizes, loads of channels, statistics of the tables, a simulated run, and for each section the command that re-checks it. An
    invalid schedule is reported with its violations. Where something is too large for a page, the page says what it leaves out. The
    same input gives the same bytes.

    The page of a training run (`train`) has its times, a timeline, layers, what-if and the view of the slowest collective. That of
    a joint schedule has all collectives, their bounds, and the channels that they share.

    Parameters
    ----------
    sources
        Schedules, tables, files (.json, .json.gz, .npz, .csv) or tables directories, at most MOST_SUBJECTS; or a training run,
        which takes `title` and `force` of the options; or a joint schedule, which takes `title`, `topology`, `simulate` and
        `force`.
    path : str or path
        Where to write, a name that ends in .html.
    title : str, optional
        Instead of the usual one.
    topology, collective, root
        As in `verify`, for CSVs.
    size, machine
        By default what each schedule was made for.
    published : bool
        Whether published algorithms are timed for comparison.
    simulate, without_routers : bool
        Whether the schedule is run; the latter as in `simulate`.
    model_check : bool
        Whether TLC checks its tables (needs Java; minutes).
    force : bool
        Whether a file that exists is overwritten.
    progress : callable
        Receives a line for each section.

    Raises
    ------
    InputError
        For unreadable input, another suffix, and a file that exists (unless `force`).

    Examples
    --------
    >>> import certree.api as ct
    >>> ct.report(ct.synthesize("ring:4", size="1MiB"), "report.html", published=False)
    """
    where = Path(path)
    if where.suffix.lower() not in SUFFIXES:
        raise InputError(f"{where}: the name of a report must end in {' or '.join(SUFFIXES)}")
    check_writable(where, force=force)
    if isinstance(sources, HasPage):
        write_atomically(where, sources.page(title).encode(), force=force)
        return
    single = isinstance(sources, str | Path | Schedule | SymmetricSchedule | Tables | JointSchedule)
    listed: list[Source] = [sources] if single else list(sources)  # type: ignore[list-item, arg-type]
    given = [as_opened(source) if isinstance(source, str | Path) else source for source in listed]  # opened once
    if not 1 <= len(given) <= MOST_SUBJECTS:
        raise InputError(f"a report on {len(given)} schedules; allowed: 1 to {MOST_SUBJECTS}")
    network = None if topology is None else parsing.topology(topology)
    asked = None if collective is None else parsing.collective(collective, root)
    if any(is_joint(source) for source in given):
        for name, value in (("collective", asked), ("size", size), ("machine", machine), ("model_check", model_check or None)):
            if value is not None:
                raise InputError(f"{name}: not in a report on a joint schedule, which states all of its collectives")
        write_atomically(where, joint_page(given, title, network, simulate=simulate).encode(), force=force)
        return
    subjects = [read_subject(source, network, asked, size, machine) for source in given]
    extent = Extent(published, simulate, without_routers, model_check)
    for subject in subjects:
        complete(subject, extent, progress)
    write_atomically(where, page(subjects, title).encode(), force=force)


def page(subjects: Sequence[Subject], title: str | None = None) -> str:
    """The HTML of a report."""
    contexts = [context(subject, number) for number, subject in enumerate(subjects)]
    viewers = []
    for facts, subject in zip(contexts, subjects, strict=True):
        viewers.append(viewer_document(subject.schedule, subject.used, subject.verdict))
        facts["view_left_out"] = viewers[-1]["left_out"]
    return str(
        environment(PACKAGE)
        .get_template("report.html.j2")
        .render(
            title=title or (contexts[0]["title"] if len(contexts) == 1 else f"{len(contexts)} schedules side by side"),
            version=metadata.version("certree"),
            subjects=contexts,
            comparison=comparison(contexts, subjects) if len(contexts) > 1 else [],
            **shown(viewers),
        )
    )
