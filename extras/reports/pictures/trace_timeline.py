"""Timeline of a run from its trace: by node what its endpoint fetches and takes in, its iterations, and its messages on the way."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from certree.extras.endpoints.model.whole_trace import is_whole_trace
from certree.extras.reports.pictures.colours import GREY, GRID, INK, lightened, of_chunk
from certree.extras.reports.pictures.svg import Sheet
from certree.models.common.errors import UnsupportedError
from certree.models.common.fields import Fields
from certree.models.common.files import Opened
from certree.models.traces.lines import trace_lines

MAX_SPANS, MAX_NODES, MOST_LANES = 20_000, 64, 8
MAX_CYCLE = 2**63 - 1
WIDTH, ROW, NAMES = 1200.0, 11.0, 130.0
#: tracks of a node, in order: of iterations at engines, and of messages by where they are
TRACKS = ("iterations", "fetched", "on the way", "taken in", "in its router")
#: what an iteration did before an event, and how light it is drawn
_BEFORE = {"loaded": "loading", "gone on": "at work", "returned": "returning"}
_LIGHT = {"loading": 0.7, "returning": 0.4}
_STARTS = (b'{"endpoint":', b'{"node":')
_ROUTER = 4


@dataclass(frozen=True, order=True)
class Span:
    """Something on a track of a node from cycle to cycle, of an iteration."""

    node: int
    track: int
    begin: int
    end: int
    iteration: int
    words: str


def begins_like_trace(opened: Opened) -> bool:
    """Whether a file begins as a trace of `simulate` does, with a line of JSON for a message, an iteration or a whole run."""
    return opened.start.startswith(_STARTS) or is_whole_trace(opened)


def timeline_picture(trace: Path, title: str | None) -> str:
    """SVG: tracks of each node over the cycles of the run, a colour for each iteration; what overlaps on a track is stacked. Of a
    whole run also packets in routers, from their first flit out to a link until the last.

    InputError for lines that no trace of `simulate` has. UnsupportedError for more than MAX_NODES nodes or MAX_SPANS spans.
    O(spans log spans).
    """
    spans = sorted(_spans(trace_lines(trace, "simulate"), is_whole_trace(trace)))
    nodes, last = sorted({span.node for span in spans}), max((span.end for span in spans), default=1)
    if len(spans) > MAX_SPANS or len(nodes) > MAX_NODES:
        raise UnsupportedError(f"a timeline of {len(spans)} spans at {len(nodes)} nodes; allowed: {MAX_SPANS} and {MAX_NODES}")
    of_track: defaultdict[tuple[int, int], list[Span]] = defaultdict(list)
    for span in spans:
        of_track[span.node, span.track].append(span)
    lanes_of = {place: _stacked(own) for place, own in of_track.items()}
    heights = {place: ROW * min(MOST_LANES, max(lanes) + 1) for place, lanes in lanes_of.items()}
    sheet, top, scale = Sheet(), 0.0, WIDTH / max(1, last)
    _axis(sheet, last, scale, sum(heights.values()) + 2 * len(heights))
    for (node, track), own in sorted(of_track.items()):
        lanes, height = lanes_of[node, track], heights[node, track]
        sheet.path([(0, top), (WIDTH, top)], stroke=GRID, stroke_width=1)
        sheet.text(-8, top + height / 2, f"node {node}: {TRACKS[track]}", size=9, anchor="end", fill=INK)
        for span, lane in zip(own, lanes, strict=True):
            colour, left = GREY if track == _ROUTER else of_chunk(span.iteration), scale * span.begin
            width = max(0.6, scale * (span.end - span.begin))
            fill = lightened(colour, 0.2 * track or _LIGHT.get(span.words, 0))
            place = top + ROW * min(lane, MOST_LANES - 1) + 1
            whose = "" if track == _ROUTER else f", iteration {span.iteration}"
            hint = f"{span.words}{whose}: cycles {span.begin:,} to {span.end:,}"
            sheet.box(left, place, width, ROW - 2, hint, 1, fill=fill, stroke=colour, stroke_width=0.5)
        top += height + 2
    sheet.text(-NAMES, -40, title or f"{trace.name}: {last:,} cycles", size=14, anchor="start", font_weight="bold", fill=INK)
    sheet.text(
        -NAMES, top + 22, "a colour for each iteration; more than 8 at a time share a line", size=10, anchor="start", fill=GREY
    )
    return sheet.render()


def _spans(lines: Iterator[tuple[int, Fields]], is_whole: bool) -> Iterator[Span]:
    """The spans of a trace; those of runs without endpoints have no fetch. `is_whole`: with steps of routers."""
    begun: dict[tuple[int, int], int] = {}
    routers = _Routers(next(lines)[1]) if is_whole else None
    for _, fields in lines:
        if routers is not None and "channel" in fields:
            yield from routers.step(fields)
            continue
        iteration = fields.whole("iteration")
        if "endpoint" in fields:
            node, event, cycle = fields.whole("endpoint"), fields.text("event"), _cycle(fields, "cycle")
            if event in _BEFORE:
                yield Span(node, 0, begun.get((node, iteration), 0), cycle, iteration, _BEFORE[event])
            begun[node, iteration] = cycle
            continue
        node, target = fields.whole("node"), fields.whole("destination")
        fired, first = _cycle(fields, "fired"), _cycle(fields, "first_flit")
        whole, usable = _cycle(fields, "last_flit_arrived"), _cycle(fields, "usable")
        there = _cycle(fields, "at_interface") if "at_interface" in fields else fired
        words = f"row {fields.whole('row')} to node {target}"
        if there > fired:
            yield Span(node, 1, fired, there, iteration, words)
        yield Span(node, 2, first, max(first, whole), iteration, words)
        if usable > whole:
            yield Span(target, 3, whole, usable, iteration, f"row {fields.whole('row')} of node {node}")


class _Routers:
    """Packets in routers, from the lines of their flits."""

    def __init__(self, first: Fields) -> None:
        given = first.table.get("routers")
        if not isinstance(given, dict):
            first.refuse("routers is no object")
        routers = Fields(given, first.where)
        self._channels, self._packets = _numbers(routers, "channels", 2), _numbers(routers, "packets", 3)
        self._begun: dict[tuple[int, int], int] = {}

    def step(self, fields: Fields) -> Iterator[Span]:
        """The span that a step ends: of a packet whose last flit goes out to the next router."""
        channel, cycle = fields.whole("channel", 0, len(self._channels) - 1), _cycle(fields, "cycle")
        if fields.table.get("event") != "send":
            return
        node, to = self._channels[channel]
        packet, flit = fields.whole("packet", 0, len(self._packets) - 1), fields.whole("flit")
        begin = self._begun.setdefault((packet, channel), cycle)
        source, target, flits = self._packets[packet]
        if flit == flits - 1 and node >= 0:
            words = f"packet {packet} from node {source} to node {target}, out to {f'node {to}' if to >= 0 else 'its interface'}"
            yield Span(node, _ROUTER, begin, cycle + 1, 0, words)


def _numbers(fields: Fields, name: str, length: int) -> list[list[int]]:
    """Entries that are lists of as many whole numbers; InputError for others."""
    found: list[list[int]] = list(fields.entries(name))
    for place, entry in enumerate(found):
        if not (isinstance(entry, list) and len(entry) == length and all(type(one) is int for one in entry)):
            fields.refuse(f"{name} {place} is not a list of {length} whole numbers")
    return found


def _cycle(fields: Fields, name: str) -> int:
    return fields.whole(name, 0, MAX_CYCLE)


def _stacked(spans: Sequence[Span]) -> list[int]:
    """Lanes of spans that are sorted by their begin: the first one that is free."""
    ends: list[int] = []
    lanes = []
    for span in spans:
        lane = next((lane for lane, end in enumerate(ends) if end <= span.begin), len(ends))
        ends[lane : lane + 1] = [span.end]
        lanes.append(lane)
    return lanes


def _axis(sheet: Sheet, last: int, scale: float, bottom: float) -> None:
    """Cycles above the tracks, at round numbers."""
    step = next(size for power in range(20) for size in (10**power, 2 * 10**power, 5 * 10**power) if last // size <= 12)
    for cycle in range(0, last + 1, step):
        sheet.path([(scale * cycle, -6), (scale * cycle, bottom)], stroke=GRID, stroke_width=1)
        sheet.text(scale * cycle, -14, f"{cycle:,}", size=9, fill=INK)
