"""Layout of tables for people: as wide as the text in a pipe, at most as wide as the terminal otherwise."""

from collections.abc import Sequence

from certree.cli.words.terminal import color_system, note, say, terminal_width
from certree.models.common.errors import printable

_GAP = 2  # spaces between columns
_WORD = 24  # a longer word of a text column may be broken
_SHORT = 12  # a text column up to this width is not wrapped


def say_table(header: Sequence[str], rows: Sequence[Sequence[str]], optional: Sequence[str] = ()) -> None:
    """Print a table on stdout; a column is right-aligned when its header starts with `>`.

    In a terminal that is too narrow header and text columns are wrapped between words, and numbers are never broken. Where that
    does not fit, the `optional` columns are left out, one after the other, with a note; and where they are not enough, each row
    becomes a block of `header: value` lines.
    """
    names = [name.removeprefix(">") for name in header]
    right = [name.startswith(">") for name in header]
    cells = [[printable(cell) for cell in row] for row in rows]
    for count in range(len(optional) + 1):
        kept = [index for index, name in enumerate(names) if name not in optional[:count]]
        shown = (
            [names[index] for index in kept],
            [right[index] for index in kept],
            [[row[index] for index in kept] for row in cells],
        )
        widths = column_widths(*shown, terminal_width())
        if widths is not None:
            say(_grid(*shown, widths), styled=True)
            if count:
                note(f"left out in this narrow terminal: {', '.join(optional[:count])}")
            return
    say(_blocks(names, cells))


def column_widths(
    names: Sequence[str], right: Sequence[bool], cells: Sequence[Sequence[str]], room: int | None
) -> list[int] | None:
    """Characters for each column so that the table fits into `room` (None: any width); None when it cannot."""
    columns = [list(column) for column in zip(names, *cells, strict=True)]
    widths = [max(map(len, column)) for column in columns]
    if room is None or sum(widths) + _GAP * (len(widths) - 1) <= room:
        return widths
    least = [
        max(_longest_word(name), max((_least(cell, numeric or width <= _SHORT) for cell in column[1:]), default=0))
        for name, numeric, column, width in zip(names, right, columns, widths, strict=True)
    ]
    spare = room - _GAP * (len(widths) - 1) - sum(least)
    if spare < 0:
        return None
    for index in sorted(range(len(widths)), key=lambda column: widths[column] - least[column]):  # small needs are met first
        more = min(widths[index] - least[index], spare)
        least[index] += more
        spare -= more
    return least


def _least(cell: str, whole: bool) -> int:
    return len(cell) if whole else min(_longest_word(cell), _WORD)


def _longest_word(text: str) -> int:
    return max(map(len, text.split()), default=0)


def _grid(names: Sequence[str], right: Sequence[bool], cells: Sequence[Sequence[str]], widths: Sequence[int]) -> str:
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False, padding=(0, _GAP, 0, 0), header_style="bold")
    for name, numeric, width in zip(names, right, widths, strict=True):
        table.add_column(name, justify="right" if numeric else "left", width=width, overflow="fold")
    for row in cells:
        table.add_row(*row)
    width = sum(widths) + _GAP * len(widths)
    console = Console(markup=False, highlight=False, width=width, color_system=color_system(), force_terminal=True)
    with console.capture() as capture:
        console.print(table)
    return "\n".join(line.rstrip() for line in capture.get().splitlines())


def _blocks(names: Sequence[str], cells: Sequence[Sequence[str]]) -> str:
    return "\n\n".join("\n".join(f"{name}: {cell}" for name, cell in zip(names, row, strict=True)) for row in cells)
