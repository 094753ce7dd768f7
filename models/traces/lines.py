"""Trace files: JSON objects, one per line (zipped where the name ends in .gz), the first of which may describe the run."""

from collections.abc import Iterator
from pathlib import Path

from certree.models.common.errors import InputError
from certree.models.common.fields import Fields
from certree.models.common.files import Opened, parse_object, read_bytes

MAX_NUMBER = (1 << 31) - 1  # whole numbers of TLC


def is_trace(file: Path | Opened, form: str) -> bool:
    """Whether the first line of a file states this format."""
    return f'"format":"{form}"'.encode() in (Opened(file) if isinstance(file, Path) else file).start[:200].replace(b" ", b"")


def trace_lines(path: Path, what: str) -> Iterator[tuple[int, Fields]]:
    """The number and the fields of each line; InputError for a line that is not an object, and for a file without lines (`what`
    names the expected trace)."""
    lines = read_bytes(path).splitlines()
    if not lines:
        raise InputError(f"{path} is empty; expected a trace of {what}")
    for number, line in enumerate(lines, 1):
        where = f"{path}, line {number}"
        yield number, Fields(parse_object(line, where), where)


def trace_of_steps(path: Path, what: str, form: str, version: int) -> tuple[Fields, Iterator[tuple[int, Fields]]]:
    """The description of the run from the first line, and the lines of the steps; InputError for steps out of order."""
    lines = trace_lines(path, what)
    _, head = next(lines)
    return Fields.of_format(head.table, form, version, head.where), _in_time(lines)


def _in_time(lines: Iterator[tuple[int, Fields]]) -> Iterator[tuple[int, Fields]]:
    now = 0
    for number, step in lines:
        cycle = step.whole("cycle", 0, 1 << 63)
        if cycle < now:
            step.refuse(f"cycle is {cycle}, before that of the line above, {now}")
        now = cycle
        yield number, step
