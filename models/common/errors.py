"""Errors named by condition; each carries the exit code that the command line gives it."""

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from difflib import get_close_matches


class CertreeError(Exception):
    """Base of all errors that certree raises on purpose."""

    exit_code = 70


class InputError(CertreeError):
    """Bad input: the message says what is wrong, where (file, field, row) and what is allowed."""

    exit_code = 2


class TopologyError(InputError):
    """A topology spec or file that does not describe a usable network."""


class ScheduleFormatError(InputError):
    """A schedule file whose columns are malformed (truncated, out of range, not integers, foreign)."""


class TableFormatError(InputError):
    """A tables directory that is malformed or was changed after its export."""


class MachineError(InputError):
    """A machine parameter file that is malformed or out of range."""


class UnsupportedError(InputError):
    """A well-formed request that the chosen method or format does not cover; the message says why."""


class OutputError(CertreeError):
    """Output could not be written to standard output, for example because a disk is full."""

    exit_code = 74


class ToolMissingError(CertreeError):
    """An external tool (Java, TLC) is not installed."""

    exit_code = 69


class RejectedError(CertreeError):
    """A schedule that a method made and the checker rejects: a fault of the method."""


class UndecidedError(CertreeError):
    """A search ended without an answer: neither a result nor a refutation."""

    exit_code = 3


def internal_error(error: Exception) -> str:
    """The message for a bug in certree; the error itself is raised where the environment variable CERTREE_DEBUG is set."""
    if os.environ.get("CERTREE_DEBUG"):
        raise error
    return f"{type(error).__name__}: {error} (this is a bug in certree; CERTREE_DEBUG=1 shows where)"


def printable(text: str) -> str:
    """The text without characters that control a terminal or that XML does not allow, since names in files are not trusted."""
    return "".join(letter if letter.isprintable() or letter in "\n\t" else "?" for letter in text)


def short(value: object) -> str:
    """The value as Python writes it, cut when it is long."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:50]}..."


@contextmanager
def located(where: str, error: Callable[[str], Exception] = InputError) -> Iterator[None]:
    """Prefix InputErrors from the body with their place, if it is missing: `error` of "{where}: {message}"."""
    try:
        yield
    except InputError as reason:
        raise error(str(reason) if str(reason).startswith(f"{where}: ") else f"{where}: {reason}") from None


def unknown_name(kind: str, name: object, known: Iterable[object], besides: str = "") -> str:
    """The message for an unknown name: the closest name, then the known names and other allowed values (`besides`).

    >>> unknown_name("engine", "fats", ["fast", "flit"])
    "unknown engine 'fats'; did you mean 'fast'? known: fast, flit"
    """
    return f"unknown {kind} {short(name)}; {known_names(known, [name], besides)}"


def known_names(known: Iterable[object], unknown: Iterable[object], besides: str = "") -> str:
    """The name closest to an unknown one, if any is close, and a list of the known names."""
    names = [str(one) for one in known]
    hint = next((hint for name in unknown if (hint := closest(name, names))), "")
    return f"{hint.removeprefix('; ')}{' ' if hint else ''}known: {', '.join([*names, besides] if besides else names)}"


def suggestion(name: object, known: Iterable[object]) -> str:
    """A question as `closest` asks it, or a semicolon where no name is close: what is allowed can follow either.

    >>> suggestion("rign", ["ring", "torus"]), suggestion("x", ["ring"])
    ("; did you mean 'ring'?", ';')
    """
    return closest(name, known) or ";"


def closest(name: object, known: Iterable[object]) -> str:
    """`; did you mean 'ring'?` for a name that is close to a known one, otherwise nothing.

    >>> closest("rign", ["ring", "torus"])
    "; did you mean 'ring'?"
    """
    found = get_close_matches(str(name), [str(one) for one in known], 1)
    return f"; did you mean {found[0]!r}?" if found else ""
