"""A network as the ground of a picture: nodes and channels at their places, to be coloured by what the picture is about."""

from collections.abc import Iterable

from certree.extras.reports.pictures.colours import GREY, GRID, INK, ink_on
from certree.extras.reports.pictures.curves import Curves, Point, barbs
from certree.extras.reports.pictures.layout import lay_out
from certree.extras.reports.pictures.svg import Sheet
from certree.models.common.errors import UnsupportedError
from certree.models.network.topology import NodeKind, Topology

MOST_NODES, MOST_CHANNELS = 1024, 8192
MOST_NAMED = 256  # nodes whose ids are written
ENDPOINT, SWITCH, GONE = "#eef3f7", "#f6e3b4", "#c8321f"


def is_drawn(topology: Topology) -> bool:
    """Whether a network is small enough for a picture of its nodes and channels."""
    return len(topology.kind) <= MOST_NODES and len(topology.pair_src) <= MOST_CHANNELS


class Ground:
    """A network drawn on a sheet, `zoom` times as large, from `corner` on. UnsupportedError for one that is too large."""

    def __init__(self, sheet: Sheet, topology: Topology, *, zoom: float = 1.0, corner: Point = (0.0, 0.0)) -> None:
        if not is_drawn(topology):
            raise UnsupportedError(
                f"{topology.name}: {len(topology.kind)} nodes and {len(topology.pair_src)} channels are too many for a picture of"
                f" the network; at most {MOST_NODES} and {MOST_CHANNELS} are drawn"
            )
        self.sheet, self.topology = sheet, topology
        self._layout, self.zoom = lay_out(topology), zoom
        self._curves = Curves(self._layout, topology)
        low = self._layout.points.min(axis=0)
        self._move = (corner[0] - zoom * float(low[0]), corner[1] - zoom * float(low[1]))

    @property
    def radius(self) -> float:
        """The radius of a node, in pixels."""
        return self._layout.radius * self.zoom

    @property
    def size(self) -> Point:
        """Width and height between the outermost nodes, in pixels."""
        span = (self._layout.points.max(axis=0) - self._layout.points.min(axis=0)) * self.zoom
        return float(span[0]), float(span[1])

    def _moved(self, points: Iterable[Point]) -> list[Point]:
        return [(self.zoom * x + self._move[0], self.zoom * y + self._move[1]) for x, y in points]

    def point(self, node: int) -> Point:
        """The middle of a node."""
        return self._moved([(float(self._layout.points[node][0]), float(self._layout.points[node][1]))])[0]

    def channel_points(self, pair: int) -> list[Point]:
        """The line of a channel: two points, or four of a cubic curve."""
        topology = self.topology
        return self._moved(self._curves.directed(int(topology.pair_src[pair]), int(topology.pair_dst[pair])))

    def frames(self) -> None:
        """The frames of packages."""
        for left, top, width, height in self._layout.frames:
            ((x, y),) = self._moved([(left, top)])
            box = (x, y, self.zoom * width, self.zoom * height)
            self.sheet.box(*box, rounding=6, fill="#f7f9fb", stroke=GRID, stroke_width=1)

    def channel(self, pair: int, colour: str, width: float = 1.2, *, head: bool = True, hint: str = "", dash: str = "") -> None:
        """A channel, an arrow where it has a `head`; `pair` as in `Topology.pair_index`."""
        points = self.channel_points(pair)
        style: dict[str, str | float] = {"stroke": colour, "stroke_width": width}
        self.sheet.path(points, hint or None, **style, **({"stroke_dasharray": dash} if dash else {}))
        if head:
            self.sheet.line(barbs(points, 2.6 + 2.0 * width * min(1.0, self.zoom * 1.5)), **style, stroke_linejoin="round")

    def node(self, node: int, fill: str = "", ring: str = "", hint: str = "") -> None:
        """A node: a circle, a square for a switch; nothing for an id without a node. `hint`: instead of its name."""
        kind = self.topology.kind[node]
        if kind == NodeKind.ABSENT:
            return
        x, y = self.point(node)
        style: dict[str, str | float] = {"stroke": ring or INK, "stroke_width": (2.6 if ring else 1.0) * max(self.zoom, 0.5)}
        hint = hint or self.name(node)
        if kind == NodeKind.SWITCH:
            half = 0.9 * self.radius
            self.sheet.box(x - half, y - half, 2 * half, 2 * half, hint, 2, fill=fill or SWITCH, **style)
        else:
            self.sheet.circle(x, y, self.radius, hint, fill=fill or ENDPOINT, **style)
        size = min(11.0, 2.3 * self.radius / max(2, len(str(node))))
        if size >= 4 and len(self.topology.kind) <= MOST_NAMED:
            self.sheet.text(x, y, str(node), size=size, fill=ink_on(fill) if fill else INK)

    def nodes(self) -> None:
        """Draw all nodes without a colour of their own."""
        for node in range(len(self.topology.kind)):
            self.node(node)

    def name(self, node: int) -> str:
        """The name of a node: its id, and its label where it has another."""
        labels = self.topology.labels
        return f"node {node}" if labels is None or labels[node] == str(node) else f"node {node}: {labels[node]}"

    def channels(self, colour: str = "#c9d3dc", width: float = 1.0) -> None:
        """Draw all channels without a colour of their own."""
        for pair in range(len(self.topology.pair_src)):
            self.channel(pair, colour, width, head=False)

    def words(self, title: str, below: Iterable[str] = (), colour: str = GREY) -> None:
        """A title above, and lines below everything drawn so far."""
        left, top, _, bottom = self.sheet.extent
        self.sheet.text(left, top - 26, title, size=15, anchor="start", font_weight="bold", fill=INK)
        for number, line in enumerate(below):
            self.sheet.text(left, bottom + 22 + 15 * number, line, size=11, anchor="start", fill=colour)
