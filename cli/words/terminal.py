"""Where words go: results to stdout, notes and progress to stderr; a reader that went away is no error."""

import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import IO, Any

import click

_SECONDS_BETWEEN_NOTES = 10


def note(text: str) -> None:
    """One message on stderr."""
    _write(sys.stderr, _printable(text))


def note_routers(engine: str, effect: str | None) -> None:
    """Say on which side of what routers add a run was: `effect` says what that is, None that it is nothing."""
    if effect is not None:
        note(("through routers, flit by flit: " if engine == "flit" else "without routers, which may take longer: ") + effect)


def say(text: str) -> None:
    """A result for people on stdout."""
    _write(sys.stdout, _printable(text))


def emit(document: Mapping[str, Any]) -> None:
    """The one JSON document of a command on stdout, a line for each key."""
    lines = [f"  {json.dumps(key)}: {json.dumps(value, allow_nan=False)}" for key, value in document.items()]
    _write(sys.stdout, "{\n" + ",\n".join(lines) + "\n}")


def show(document: Mapping[str, Any], words: Callable[[Any], str], *, as_json: bool) -> None:
    """A command's result: the document itself, or `words` of it for people."""
    if as_json:
        emit(document)
    else:
        say(words(document))


def say_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """A table on stdout; a column is right-aligned when its header starts with `>`."""
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in header:
        table.add_column(name.removeprefix(">"), justify="right" if name.startswith(">") else "left", overflow="fold")
    for row in rows:
        table.add_row(*row)
    console = Console(markup=False, highlight=False, width=None if sys.stdout.isatty() else 200)
    with console.capture() as capture:
        console.print(table)
    say("\n".join(line.rstrip() for line in capture.get().splitlines()))


@contextmanager
def working(title: str) -> Iterator[Callable[[str], None]]:
    """While the body runs: a spinner with `title` where stderr is a terminal. Yields the function that prints progress lines."""
    if not sys.stderr.isatty():
        yield note
        return
    from rich.console import Console

    console = Console(stderr=True, markup=False, highlight=False)
    with console.status(title):
        yield lambda text: console.print(_printable(text))


def now_and_then(tell: Callable[[str], None]) -> Callable[[int], None]:
    """Tells the cycle that a long run has come to, no more often than people read."""
    last = time.monotonic()

    def progress(cycle: int) -> None:
        nonlocal last
        if time.monotonic() - last >= _SECONDS_BETWEEN_NOTES:
            last = time.monotonic()
            tell(f"cycle {cycle:,}")

    return progress


def _printable(text: str) -> str:
    """The text without what could steer a terminal: names in files are anybody's."""
    return "".join(letter if letter.isprintable() or letter in "\n\t" else "?" for letter in text)


def _write(stream: IO[str], text: str) -> None:
    try:
        click.echo(text, file=stream)
        stream.flush()
    except BrokenPipeError:  # whoever read has enough; what is written from here on goes nowhere
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
