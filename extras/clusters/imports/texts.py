"""Text as people copy it from terminals, logs and mails."""

import codecs
import re
from collections.abc import Iterator
from fractions import Fraction

from certree.models.common.errors import TopologyError
from certree.models.common.files import Opened

_ESCAPE = re.compile(r"(?:\x1b|\^\[)[\[(][0-9;?]*[A-Za-z]|\[[0-9;]{0,8}m")  # also where the character ESC was lost
_QUOTING = re.compile(r"^(?:[>|] ?)+")
_DECIMAL = re.compile(r"[0-9]{1,12}(?:\.[0-9]{1,12})?")


def decoded(data: bytes, errors: str = "strict") -> str:
    """The text of UTF-8 or UTF-16 bytes, by their byte order mark, or by zeros in every second place. UnicodeDecodeError."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return data[: len(data) // 2 * 2 if errors != "strict" else None].decode("utf-16", errors)
    for name, zeros in (("utf-16-le", data[1:64:2]), ("utf-16-be", data[:64:2])):
        if len(zeros) > 1 and not any(zeros):
            return data.decode(name, errors)
    return data.decode("utf-8-sig", errors)


def lines_of(text: str) -> list[str]:
    """The lines without terminal escapes and quoting."""
    return [_QUOTING.sub("", _ESCAPE.sub("", line)) for line in text.splitlines()]


def text_of(file: Opened, what: str) -> str:
    """The text of a file; TopologyError, `what` naming the kind of file, for other bytes."""
    try:
        return decoded(file.data())
    except UnicodeDecodeError as error:
        raise TopologyError(f"{file}: not the text of {what}: {error}") from None


def start_of(start: bytes) -> list[str]:
    """The lines with which a file begins, whatever its bytes are."""
    return lines_of(decoded(start, "replace"))


def decimal(text: str) -> Fraction | None:
    """The exact value of a plain decimal number; None for anything else."""
    return Fraction(text) if _DECIMAL.fullmatch(text) else None


def entries(lines: list[str], comment: str) -> Iterator[tuple[int, str]]:
    """(number, text) of the lines that are not empty without their comments."""
    for number, line in enumerate(lines, 1):
        if text := line.split(comment, 1)[0].strip():
            yield number, text
