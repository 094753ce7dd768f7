"""Colours that differ for colour-blind eyes and in print: of chunks, and of shares from 0 to 1."""

INK, GREY, GRID, PALE = "#1d2b36", "#5b6b78", "#dfe5ea", "#f4f6f8"
REDUCE, COPY = "#b34700", "#0072b2"  # the two operations, where colour does not tell the chunk
WRONG = "#c8102e"
#: Okabe and Ito's, the black one as a grey: chunk c has entry c modulo their number
CHUNKS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#6b6b6b", "#b8a700")
_SHADES = ((0xE9, 0xF0, 0xF7), (0x9E, 0xC5, 0xE3), (0x3E, 0x8A, 0xC2), (0x0B, 0x4F, 0x94), (0x06, 0x1F, 0x4A))


def of_chunk(chunk: int) -> str:
    """The full colour of a chunk: of its reduces."""
    return CHUNKS[chunk % len(CHUNKS)]


def lightened(colour: str, part: float = 0.72) -> str:
    """The colour mixed with that part of white: of the copies of a chunk."""
    values = (int(colour[place : place + 2], 16) for place in (1, 3, 5))
    return "#" + "".join(f"{round(value + (255 - value) * part):02x}" for value in values)


def shade(share: float) -> str:
    """A shade of blue for a share from 0 (light) to 1 (dark)."""
    place = min(max(share, 0.0), 1.0) * (len(_SHADES) - 1)
    low = min(int(place), len(_SHADES) - 2)
    mixed = (a + (b - a) * (place - low) for a, b in zip(_SHADES[low], _SHADES[low + 1], strict=True))
    return "#" + "".join(f"{round(value):02x}" for value in mixed)


def ink_on(colour: str) -> str:
    """The colour of text on a ground: dark on light ones."""
    red, green, blue = (int(colour[place : place + 2], 16) for place in (1, 3, 5))
    return INK if 299 * red + 587 * green + 114 * blue > 118_000 else "#ffffff"
