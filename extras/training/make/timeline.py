"""Timeline of a training run: what the accelerator does and what each network serves, time to the right."""

from collections.abc import Iterable, Mapping
from fractions import Fraction
from itertools import accumulate, pairwise

from certree.extras.reports.pictures.colours import GREY, GRID, INK, shade
from certree.extras.reports.pictures.svg import Sheet
from certree.extras.training.model.training import Training
from certree.extras.training.model.workload import Act, Phase
from certree.models.common.shown import printable

WIDTH, ROW, SPACE, NAMES = 1040.0, 22.0, 8.0, 110.0
NARROW = 1.0  # units of width: what is narrower shares a shape, and has no hint of its own
TICKS = 8
PHASES: Mapping[str, str] = {Phase.FORWARD: "#0072b2", Phase.INPUT_GRADIENT: "#56b4e9", Phase.WEIGHT_GRADIENT: "#009e73"}
WAITING, IDLE, SERVED = "#d55e00", "#b8a700", ("#cc79a7", "#8f4a72")
_UNITS = ((1, "s"), (10**3, "ms"), (10**6, "µs"), (10**9, "ns"))
Piece = tuple[Fraction, Fraction, str, str]  # begin, end, colour, hint


def training_picture(training: Training, title: str) -> str:
    """SVG of all iterations: a row of computing by phase, one of waiting, and one for each group of nodes, whose network serves
    collectives in two colours in turn, or, where it serves several at once, in shades for their number. Pieces narrower than a unit
    of the picture are merged by colour. O(spans + collectives)."""
    groups = sorted({entry.communication.group for entry in training.collectives})
    tracks: list[tuple[str, list[Piece]]] = [("compute", list(_computing(training))), ("wait", list(_waiting(training)))]
    tracks += [(f"network {group}" if group != "all" else "network", _served(training, group)) for group in groups]
    sheet, whole = Sheet(), max(training.seconds, Fraction(1, 10**12))
    bottom = len(tracks) * (ROW + SPACE)
    _axis(sheet, training, whole, bottom)
    for number, (name, pieces) in enumerate(tracks):
        top = number * (ROW + SPACE)
        sheet.text(-8, top + ROW / 2, printable(name), anchor="end", fill=INK)
        _row(sheet, pieces, whole, top)
    at_once = any(colour not in SERVED for _, pieces in tracks[2:] for *_, colour, _ in pieces)
    _legend(sheet, bottom + 34, idles=any(span.act is Act.IDLE for span in training.spans), at_once=at_once)
    sheet.text(-NAMES, -34, printable(title), size=14, anchor="start", font_weight="bold", fill=INK)
    return sheet.render()


def _computing(training: Training) -> Iterable[Piece]:
    for span in training.spans:
        if span.act is Act.COMPUTE:
            yield span.begin, span.end, PHASES[span.phase], f"{training.workload.layers[span.layer].name}, {span.phase}"


def _waiting(training: Training) -> Iterable[Piece]:
    for span in training.spans:
        if span.act is Act.WAIT:
            yield span.begin, span.end, WAITING, f"waiting for {training.workload.layers[span.layer].name}, {span.phase}"
        elif span.act is Act.IDLE:
            yield span.begin, span.end, IDLE, "idle in the pipeline"


def _served(training: Training, group: str) -> list[Piece]:
    """Collectives in turn; or, where several are under way at once, how many there are."""
    mine = [entry for entry in training.collectives if entry.communication.group == group]
    pieces = sorted(
        (begin, end, SERVED[number % 2], f"{training.workload.layers[entry.layer].name}: {entry.communication.kind}")
        for number, entry in enumerate(mine)
        for begin, end in entry.served
    )
    return _at_once(pieces) if any(one[1] > two[0] for one, two in pairwise(pieces)) else pieces


def _at_once(pieces: list[Piece]) -> list[Piece]:
    """A piece for each number of pieces that lie over each other, the darker the more there are."""
    changes: dict[Fraction, int] = {}
    for begin, end, _, _ in pieces:
        changes[begin] = changes.get(begin, 0) + 1
        changes[end] = changes.get(end, 0) - 1
    times = sorted(changes)
    counts = list(accumulate(changes[time] for time in times))
    return [
        (begin, end, shade(count / max(counts)), f"{count} collectives under way")
        for begin, end, count in zip(times, times[1:], counts, strict=False)
        if count
    ]


def _row(sheet: Sheet, pieces: list[Piece], whole: Fraction, top: float) -> None:
    """The pieces of a track; narrow ones of a colour that follow each other are one."""
    narrow: dict[str, list[tuple[float, float, float, float]]] = {}
    for begin, end, colour, hint in pieces:
        left, right = (float(WIDTH * float(time / whole)) for time in (begin, end))
        if right - left >= NARROW:
            told = printable(f"{hint}: {_words(end - begin)}")
            sheet.box(left, top, right - left, ROW, told, fill=colour, stroke="#ffffff", stroke_width=0.4)
            continue
        drawn = narrow.setdefault(colour, [])
        if drawn and left - sum(drawn[-1][::2]) < 0.2:
            left = drawn.pop()[0]
        drawn.append((left, top, right - left, ROW))
    for colour, boxes in narrow.items():
        sheet.boxes(boxes, fill=colour)


def _axis(sheet: Sheet, training: Training, whole: Fraction, bottom: float) -> None:
    """Ticks at round times, and the ends of iterations."""
    step = _round_step(whole / TICKS)
    scale, unit = _unit(whole)
    tick = Fraction(0)
    while tick <= whole:
        x = WIDTH * float(tick / whole)
        sheet.path([(x, -4), (x, bottom)], stroke=GRID, stroke_width=1)
        sheet.text(x, bottom + 10, f"{float(tick * scale):.4g}", size=10, fill=GREY)
        tick += step
    sheet.text(WIDTH + 14, bottom + 10, unit, size=10, anchor="start", fill=GREY)
    for number, end in enumerate(training.ends):
        x = WIDTH * float(end / whole)
        sheet.path([(x, -14), (x, bottom)], stroke=INK, stroke_width=1, stroke_dasharray="3 3")
        if number < TICKS or number == len(training.ends) - 1:
            sheet.text(x, -20, f"end of {number + 1}", size=10, anchor="end" if x > WIDTH / 2 else "middle", fill=INK)


def _round_step(least: Fraction) -> Fraction:
    """The smallest of 1, 2, 5 times a power of ten that is no less."""
    power = Fraction(1)
    while power > least:
        power /= 10
    while power * 10 <= least:
        power *= 10
    return next(power * times for times in (1, 2, 5, 10) if power * times >= least)


def _unit(seconds: Fraction) -> tuple[int, str]:
    return next((entry for entry in _UNITS if seconds * entry[0] >= 1), _UNITS[-1])


def _words(seconds: Fraction) -> str:
    scale, unit = _unit(seconds)
    return f"{float(seconds * scale):.4g} {unit}"


def _legend(sheet: Sheet, y: float, *, idles: bool, at_once: bool) -> None:
    entries = [(colour, str(phase)) for phase, colour in PHASES.items()]
    entries += [(WAITING, "waiting for a collective"), *([(IDLE, "idle in the pipeline")] if idles else [])]
    x = 0.0
    for colour, words in [*entries, (shade(0.5), "collectives at once") if at_once else (SERVED[0], "collectives in turn")]:
        sheet.box(x, y - 6, 14, 12, rounding=2, fill=colour)
        sheet.text(x + 20, y, words, size=10, anchor="start", fill=INK)
        x += 46 + 7 * len(words)
