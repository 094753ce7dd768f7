"""Pictures of networks, and plots of comparisons, fits and reproduced figures, as files."""

from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from certree.api import parsing
from certree.api.parsing import Graph, Network
from certree.models.common.errors import InputError
from certree.models.common.files import write_atomically
from certree.models.network.spec import undamaged
from certree.models.network.topology import Topology

if TYPE_CHECKING:
    from certree.models.cost.fitting.fit import Fit

PICTURE_SUFFIXES, PLOT_SUFFIXES = (".svg",), (".svg", ".png")


class Plotted(Protocol):
    """A result that plots itself: of `compare` or `reproduce`."""

    def plotted(self, suffix: str) -> bytes:
        """The plot as .svg or .png."""


def draw(subject: "Network | Plotted | Fit", path: str | Path, *, title: str | None = None, force: bool = False) -> None:
    """Write the picture of a network (.svg), or the plot of a comparison, a fit or a reproduced figure (.svg, .png).

    Links and nodes removed by `without-` modifiers are drawn dashed. `title`: of the plot of a fit. Raises InputError for
    another suffix, a file that exists (unless `force`), and a target that has a table and no figure; TopologyError for networks
    that are too large to draw.

    >>> import certree.api as ct
    >>> ct.draw("torus:4x4,without-link=0-1", "torus.svg")
    """
    where = Path(path)
    if isinstance(subject, str | Path | Topology | Graph):
        require_suffix(where, PICTURE_SUFFIXES)
        from certree.models.pictures.network import network_picture

        topology = parsing.topology(subject)
        data = network_picture(topology, undamaged(topology)).encode()
    else:
        require_suffix(where, PLOT_SUFFIXES)
        data = _plot(subject, where.suffix.lower(), title)
    write_atomically(where, data, force=force)


def _plot(subject: "Plotted | Fit", suffix: str, title: str | None) -> bytes:
    from certree.api.pictures import plots
    from certree.models.cost.fitting.fit import Fit

    if isinstance(subject, Fit):
        return plots.fit_plot(subject, title or "GenModel", suffix)
    return subject.plotted(suffix)


def require_suffix(path: Path | None, suffixes: tuple[str, ...]) -> None:
    """Raise InputError unless the name of a picture or plot, if there is one, ends as it must."""
    if path is not None and path.suffix.lower() not in suffixes:
        what = "picture" if suffixes == PICTURE_SUFFIXES else "plot"
        raise InputError(f"{path}: the name of a {what} must end in {', '.join(suffixes)}")
