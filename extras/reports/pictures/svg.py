"""SVG shapes for the pictures, with numbers rounded to a tenth of a pixel so that bytes repeat."""

from collections.abc import Sequence
from xml.sax.saxutils import escape, quoteattr

LETTER = 0.66  # width over height of a letter, an estimate on the safe side
FONT = "Helvetica, Arial, sans-serif"


def number(value: float) -> str:
    """A coordinate: at most one decimal, no negative zero."""
    text = f"{value:.1f}".removesuffix(".0")
    return "0" if text == "-0" else text


class Sheet:
    """Shapes in the order of drawing; `margin` is kept free around all of them."""

    def __init__(self, margin: float = 24) -> None:
        self._margin = margin
        self._shapes: list[str] = []
        self._box = [0.0, 0.0, 1.0, 1.0]
        self._empty = True

    def cover(self, left: float, top: float, right: float, bottom: float) -> None:
        """Make the sheet reach over a rectangle."""
        box = self._box
        self._box = (
            [left, top, right, bottom]
            if self._empty
            else [min(left, box[0]), min(top, box[1]), max(right, box[2]), max(bottom, box[3])]
        )
        self._empty = False

    @property
    def extent(self) -> tuple[float, float, float, float]:
        """left, top, right, bottom of what has been drawn."""
        left, top, right, bottom = self._box
        return left, top, right, bottom

    def add(self, tag: str, attributes: dict[str, str | float], text: str | None = None, hint: str | None = None) -> None:
        """A raw element; numbers are rounded. `hint`: what a browser shows under the pointer."""
        written = "".join(
            f" {key}={quoteattr(value if isinstance(value, str) else number(value))}" for key, value in attributes.items()
        )
        inside = (f"<title>{escape(hint)}</title>" if hint else "") + (escape(text) if text else "")
        self._shapes.append(f"<{tag}{written}>{inside}</{tag}>" if inside else f"<{tag}{written}/>")

    def path(self, points: Sequence[tuple[float, float]], hint: str | None = None, **style: str | float) -> None:
        """A straight line (two points) or a cubic curve (four)."""
        for x, y in points:
            self.cover(x, y, x, y)
        (x, y), rest = points[0], points[1:]
        tail = " ".join(f"{number(px)},{number(py)}" for px, py in rest)
        line = f"M{number(x)},{number(y)} {'C' if len(rest) == 3 else 'L'}{tail}"
        self.add("path", {"d": line, "fill": "none", **_dashed(style)}, hint=hint)

    def circle(self, x: float, y: float, radius: float, hint: str | None = None, **style: str | float) -> None:
        """A circle."""
        self.cover(x - radius, y - radius, x + radius, y + radius)
        self.add("circle", {"cx": x, "cy": y, "r": radius, **_dashed(style)}, hint=hint)

    def box(
        self,
        left: float,
        top: float,
        width: float,
        height: float,
        hint: str | None = None,
        rounding: float = 0,
        **style: str | float,
    ) -> None:
        """A rectangle."""
        self.cover(left, top, left + width, top + height)
        self.add("rect", {"x": left, "y": top, "width": width, "height": height, "rx": rounding, **_dashed(style)}, hint=hint)

    def boxes(self, boxes: Sequence[tuple[float, float, float, float]], **style: str | float) -> None:
        """Rectangles (left, top, width, height) of one style as one shape: far fewer bytes than one each."""
        if not boxes:
            return
        parts = []
        for left, top, width, height in boxes:
            self.cover(left, top, left + width, top + height)
            parts.append(f"M{number(left)},{number(top)}h{number(width)}v{number(height)}h{number(-width)}z")
        self.add("path", {"d": "".join(parts), **_dashed(style)})

    def line(self, points: Sequence[tuple[float, float]], **style: str | float) -> None:
        """Straight lines from point to point."""
        for x, y in points:
            self.cover(x, y, x, y)
        self.add("polyline", {"points": " ".join(f"{number(x)},{number(y)}" for x, y in points), "fill": "none", **_dashed(style)})

    def text(self, x: float, y: float, text: str, size: float = 11, anchor: str = "middle", **style: str | float) -> None:
        """A line of text whose middle height is y."""
        wide = LETTER * size * len(text)
        left = x - {"middle": wide / 2, "start": 0, "end": wide}[anchor]
        self.cover(left, y - size / 2, left + wide, y + size / 2)
        place: dict[str, str | float] = {"x": x, "y": y + 0.35 * size, "font-size": size, "text-anchor": anchor}
        self.add("text", {**place, **_dashed(style)}, text)

    def render(self) -> str:
        """The document."""
        left, top, right, bottom = self._box
        left, top = left - self._margin, top - self._margin
        width, height = right - left + self._margin, bottom - top + self._margin
        view = " ".join(number(value) for value in (left, top, width, height))
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{number(width)}" height="{number(height)}" viewBox="{view}"'
            f' font-family="{FONT}">'
        )
        ground = f'<rect x="{number(left)}" y="{number(top)}" width="{number(width)}" height="{number(height)}" fill="#ffffff"/>'
        return "\n".join([head, ground, *self._shapes, "</svg>", ""])


def _dashed(style: dict[str, str | float]) -> dict[str, str | float]:
    """Python names as SVG names."""
    return {key.replace("_", "-"): value for key, value in style.items()}
