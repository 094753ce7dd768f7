"""SVG pictures as PNG: the same bytes on every computer, since the fonts are those of matplotlib."""

from pathlib import Path

import resvg_py

from certree.extras.reports.make.plotting import NEEDED
from certree.models.common.errors import ToolMissingError, UnsupportedError

try:
    import matplotlib as mpl
except ModuleNotFoundError:
    raise ToolMissingError(NEEDED) from None

ZOOM, WIDEST = 2.0, 12_000.0  # pixels of a unit of the picture; pixels across
_FONTS = [str(Path(mpl.get_data_path()) / "fonts" / "ttf" / f"DejaVuSans{style}.ttf") for style in ("", "-Bold")]
_FAMILY = "DejaVu Sans"


def as_png(svg: str) -> bytes:
    """The picture, twice as many pixels as its units, or fewer where it would be wider or higher than WIDEST.

    UnsupportedError for a picture that cannot be turned into pixels.
    """
    head = svg[: svg.index(">")]
    width, height = (float(head.partition(f' {name}="')[2].partition('"')[0]) for name in ("width", "height"))
    zoom = min(ZOOM, WIDEST / max(width, height))
    try:
        data = resvg_py.svg_to_bytes(
            svg_string=svg, zoom=zoom, skip_system_fonts=True, font_files=_FONTS, font_family=_FAMILY, sans_serif_family=_FAMILY
        )  # fmt: skip
    except ValueError as error:
        raise UnsupportedError(f"no PNG of this picture: {error}; .svg has no limit") from None
    return bytes(data)
