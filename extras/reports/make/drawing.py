"""Pictures of networks, schedules, bounds and runs, and plots of comparisons, fits and reproduced figures, as files."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from certree.api import parsing
from certree.api.artefacts import holds_schedule
from certree.api.checks.checking import Bounds
from certree.api.inputs import schedule_of
from certree.api.parsing import Graph, Network
from certree.extras.joint.model.joint_file import as_joint, is_joint
from certree.extras.joint.model.joint_schedule import JointSchedule
from certree.models.common.errors import InputError
from certree.models.common.files import Opened, as_opened, write_atomically
from certree.models.machine.machine import Machine
from certree.models.network.spec import parse_topology, undamaged
from certree.models.network.topology import Topology
from certree.models.schedule.collective import Collective
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.symmetric.symmetric_schedule import AnySchedule, SymmetricSchedule
from certree.models.tables.tables import Tables

if TYPE_CHECKING:
    from certree.extras.costs.model.fitting.fit import Fit
    from certree.extras.reports.make.views import Asked

SUFFIXES, PAGES = (".svg", ".png"), (".html", ".htm")
NETWORK, BOUND, TIMELINE = "network", "bound", "timeline"


class Plotted(Protocol):
    """A result that plots itself: of `compare` or `reproduce`."""

    def plotted(self, suffix: str) -> bytes:
        """The plot as .svg or .png."""


def draw(
    subject: "Network | AnySchedule | Tables | JointSchedule | Bounds | Plotted | Fit",
    path: str | Path,
    *,
    view: str | None = None,
    title: str | None = None,
    chunks: Sequence[int] | None = None,
    topology: Network | None = None,
    collective: str | Collective | None = None,
    root: int | None = None,
    kind: str | None = None,
    size: int | str | None = None,
    machine: str | Path | Machine | None = None,
    run: str = "slotted",
    without_routers: bool = False,
    force: bool = False,
) -> None:
    """Write a picture (.svg, .png) of a network, a schedule, tables, bounds or a result, or the interactive view of a schedule
    (.html).

    Pictures of large schedules aggregate, and say so.

    Parameters
    ----------
    subject
        A network, a schedule, tables or a joint schedule (objects, files or directories), bounds, or the plot of a comparison, a
        fit or a reproduced figure. A trace of `simulate`, a file, is drawn as "timeline": what interfaces, links and endpoints did
        when.
    path : str or path
        Where to write; the suffix says what.
    view : str, optional
        Of a schedule: "spacetime" (channels over time), "trees" (of `chunks`), "load" (how busy each channel is), "reductions" (the
        reduction units over time), "bound" (the witness of a bound of its certificate), "violation" (the step in which it breaks a
        rule; the default for an invalid one), "waits" (where messages of a simulated `run` waited). Of a network: "network", with
        removed nodes and links dashed, or "bound", the witness of a bound on `collective`. Of a joint schedule: "spacetime", with a
        colour for each collective; of the other options it takes `topology` and `title`.
    title : str, optional
        Instead of the usual one.
    chunks : sequence of int, optional
        Whose trees are drawn, by default those of the first 16.
    topology, collective, root
        As in `load`, for a CSV.
    kind : str, optional
        The bound, by default the strongest on bandwidth time.
    size, machine
        For times, as in `simulate`.
    run : {"slotted", "paced"}
        The run whose waits are drawn.
    without_routers : bool
        As in `simulate`.
    force : bool
        Whether a file that exists is overwritten.

    Raises
    ------
    InputError
        For another suffix or view, a file that exists (unless `force`), and a target that has a table and no figure.
    TopologyError, UnsupportedError
        Where there is nothing to draw.

    Examples
    --------
    >>> import certree.api as ct
    >>> ct.draw("torus:4x4,without-link=0-1", "torus.svg")
    >>> ct.draw(ct.synthesize("ring:4", size="1MiB"), "ring4.png", view="load")
    >>> ct.draw(ct.synthesize("ring:4", size="1MiB"), "ring4.html")
    """
    from certree.extras.reports.make.views import Asked

    where = Path(path)
    require_suffix(where, (*SUFFIXES, *PAGES))
    asked = Asked(
        chunks, None if collective is None else parsing.collective(collective, root), kind, size, machine, run, without_routers
    )
    if where.suffix.lower() in PAGES:
        data = _page(subject, view, title, asked, topology).encode()
    elif isinstance(subject, str | Path | Topology | Graph | Schedule | SymmetricSchedule | Tables | JointSchedule | Bounds):
        svg = picture(subject, view, title, asked, topology)
        if where.suffix.lower() == ".svg":
            data = svg.encode()
        else:
            from certree.extras.reports.make.png import as_png

            data = as_png(svg)
    else:
        data = _plot(subject, where.suffix.lower(), title)
    write_atomically(where, data, force=force)


def _page(subject: object, view: str | None, title: str | None, asked: "Asked", topology: Network | None) -> str:
    """The interactive view of a schedule."""
    from certree.extras.reports.explorer.cell import explore

    source = as_opened(subject) if isinstance(subject, str | Path) else subject
    if not (isinstance(source, Schedule | SymmetricSchedule | Tables) or (isinstance(source, Opened) and holds_schedule(source))):
        if isinstance(source, Opened) and not source.path.exists():
            parse_topology(source)  # what is neither a file nor a network has an error of its own
        raise InputError("a .html shows a schedule or tables; everything else is drawn as .svg or .png")
    for name, is_given in (
        ("view", view is not None), ("chunks", asked.chunks is not None), ("kind of bound", asked.kind is not None),
        ("run", asked.run != "slotted"), ("without_routers", asked.without_routers),
    ):  # fmt: skip
        if is_given:
            raise InputError(f"{name}: for .svg and .png; a .html shows all transfers over time")
    return explore(
        source, topology=topology, collective=asked.collective, size=asked.size, machine=asked.machine, title=title
    ).html  # fmt: skip


def picture(
    subject: "Network | AnySchedule | Tables | JointSchedule | Bounds",
    view: str | None,
    title: str | None,
    asked: "Asked",
    topology: Network | None = None,
) -> str:
    """The SVG that `draw` writes."""
    from certree.extras.reports.make import views
    from certree.extras.reports.pictures.trace_timeline import begins_like_trace, timeline_picture

    if isinstance(subject, Bounds):
        return views.bounds_picture(subject, title, asked)
    source = as_opened(subject) if isinstance(subject, str | Path) else subject
    if isinstance(source, JointSchedule) or is_joint(source):
        return views.of_joint(as_joint(source), view, title, asked, None if topology is None else parsing.topology(topology))
    if isinstance(source, Schedule | SymmetricSchedule | Tables) or (isinstance(source, Opened) and holds_schedule(source)):
        schedule = schedule_of(source, topology, asked.collective)
        return views.schedule_picture(schedule, view, title, asked)
    if isinstance(source, Opened) and begins_like_trace(source):
        if view not in (None, TIMELINE):
            raise InputError(f"view {view!r} is for schedules; a trace has one: {TIMELINE}")
        return timeline_picture(source.path, title)
    network = parse_topology(source) if isinstance(source, Opened) else parsing.topology(source)
    if view == BOUND:
        return views.network_bound(network, title, asked)
    if view not in (None, NETWORK):
        raise InputError(f"view {view!r} is for schedules; views of a network: {NETWORK}, {BOUND}")
    from certree.extras.reports.pictures.network import network_picture

    return network_picture(network, undamaged(network))


def _plot(subject: "Plotted | Fit", suffix: str, title: str | None) -> bytes:
    from certree.extras.costs.model.fitting.fit import Fit
    from certree.extras.reports.make import plots

    if isinstance(subject, Fit):
        return plots.fit_plot(subject, title or "GenModel", suffix)
    return subject.plotted(suffix)


def require_suffix(path: Path | None, allowed: Sequence[str] = SUFFIXES) -> None:
    """Raise InputError unless the name of a picture or plot, if there is one, ends as it must."""
    if path is not None and path.suffix.lower() not in allowed:
        raise InputError(f"{path}: the name of a picture must end in {', '.join(allowed)}")
