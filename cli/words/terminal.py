"""Output of commands: results on stdout, notes on stderr, colors and line breaks only in a terminal."""

import json
import os
import re
import shlex
import shutil
import sys
import textwrap
from collections.abc import Callable, Mapping, Sequence
from typing import IO, Any, Literal

import click

from certree.api.reports.documents import VERSION
from certree.models.common.errors import OutputError, printable

#: what is colored in a terminal
_STYLES = (
    (re.compile(r"^valid(?=:)|\boptimal\b|(?<=data: )right|(?<!NOT )\bas expected\b|(?<=: )equal$", re.MULTILINE), "green"),
    (re.compile(r"^invalid(?=:)|(?<=data: )WRONG|NOT as expected|^ *deadlock(?=:)|^error(?=:)", re.MULTILINE), "red"),
    (re.compile(r"^next(?=:)", re.MULTILINE), "cyan"),
)
_NARROWEST = 40
_PROSE = re.compile(r"[\w`(]")


def note(text: str) -> None:
    """Print one message on stderr."""
    _write(sys.stderr, printable(text))


def note_routers(engine: str, effect: str | None) -> None:
    """Print whether a run included routers. `effect`: what routers add to the run; None where they add nothing."""
    if effect is not None:
        note(("through routers, flit by flit: " if engine == "flit" else "without routers, which may take longer: ") + effect)


def next_step(*words: object) -> None:
    """Suggest on stderr the command that usually follows, given by its words; only where a person reads both streams."""
    if sys.stdout.isatty() and sys.stderr.isatty():
        note("next: certree " + shlex.join(map(str, words)))


def say(text: str, *, styled: bool = False, wrap: bool = True) -> None:
    """Print a result for people on stdout. In a terminal, long lines are wrapped between words (unless `wrap` is false), and
    verdicts are colored. `styled`: the text is a grid with its own escapes and line breaks."""
    if styled:
        _write(sys.stdout, text, styled=True)
        return
    _write(sys.stdout, printable(text), wrap=wrap)


def emit(document: Mapping[str, Any], kind: str | None = None) -> None:
    """Print the one JSON document of a command on stdout, a line for each key: `format`, by default after the command, and
    `version` first."""
    kind = kind or "-".join(click.get_current_context().command_path.split()[1:])
    named = {"format": f"certree-{kind}-report", "version": VERSION, **document}
    lines = [f"  {json.dumps(key)}: {json.dumps(value, allow_nan=False)}" for key, value in named.items()]
    _write(sys.stdout, "{\n" + ",\n".join(lines) + "\n}")


def emit_error(message: str, kind: str) -> None:
    """Print the JSON document of a command that failed under --json; `kind` is the class of the error."""
    document = {"format": "certree-error", "version": VERSION, "error": message, "kind": kind}
    _write(sys.stdout, json.dumps(document))


def show(
    document: Mapping[str, Any],
    words: Callable[[Any], str],
    *,
    as_json: bool,
    kind: str | None = None,
    then: Sequence[object] = (),
) -> None:
    """Print a command's result: the document itself (`kind` as in `emit`), or `words` of it for people and the command that usually
    follows (`then`)."""
    if as_json:
        emit(document, kind)
    else:
        say(words(document))
        if then:
            next_step(*then)


def reflowed(text: str) -> str:
    """Paragraphs of a docstring, each in one line, for a terminal to wrap; tables, lists and indented lines stay as they are."""
    lines: list[str] = []
    for line in text.splitlines():
        if lines and _PROSE.match(line) and _PROSE.match(lines[-1]):
            lines[-1] += " " + line
        else:
            lines.append(line)
    return "\n".join(lines)


def terminal_width() -> int | None:
    """The width in columns of the terminal on stdout; None where stdout is not a terminal."""
    return max(shutil.get_terminal_size().columns, _NARROWEST) if sys.stdout.isatty() else None


def color_system() -> Literal["standard"] | None:
    """Colors for stdout: none outside a terminal, under NO_COLOR and in a dumb terminal."""
    return "standard" if _is_colored(sys.stdout) else None


def _is_colored(stream: IO[str]) -> bool:
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def _wrapped(text: str) -> str:
    """Lines wider than the terminal broken between words, with continuations indented by four columns."""
    width = shutil.get_terminal_size().columns
    return "\n".join(_wrapped_line(line, max(width, _NARROWEST)) if len(line) > width else line for line in text.split("\n"))


def _wrapped_line(line: str, width: int) -> str:
    indent = " " * (len(line) - len(line.lstrip()) + 4)
    return textwrap.fill(
        line, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False, replace_whitespace=False
    )


def _colored(text: str) -> str:
    for pattern, color in _STYLES:
        text = pattern.sub(lambda found, color=color: click.style(found.group(), fg=color), text)  # type: ignore[misc]
    return text


def _write(stream: IO[str], text: str, *, styled: bool = False, wrap: bool = True) -> None:
    if not styled and stream.isatty():
        text = _wrapped(text) if wrap else text
        text = _colored(text) if _is_colored(stream) else text
    try:
        click.echo(text, file=stream, color=True if styled else None)
        stream.flush()
    except OSError as error:  # what is written from here on goes nowhere; a pipe may have been closed by its reader
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        if stream is sys.stdout and not isinstance(error, BrokenPipeError):
            raise OutputError(f"cannot write to standard output: {error.strerror or error}") from None
