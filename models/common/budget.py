"""Budgets: how much work and memory checkers and readers take for one input before they answer "undecided", or refuse it.

One step is the work on one entry of a column; an operation of Python counts as PYTHON steps. Analyses whose work is not a few times
the size of their input state it before they begin, or loop by loop (`spend`, `hold`). What they state follows from the input alone:
the answer is the same on every computer. `budgeted` gives a fresh budget to each input; outside of it there is one for each call.

The environment variable `CERTREE_BUDGET` is the factor by which all limits are multiplied: "4", "1/2".
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from fractions import Fraction

from certree.models.common.errors import InputError, UndecidedError, short

VARIABLE = "CERTREE_BUDGET"
MOST_STEPS = 1 << 34  # of the analyses of one input: minutes
MOST_MEMORY = 1 << 32  # bytes of one analysis
MOST_TEXT = 1 << 28  # bytes of a text, unpacked: JSON as Python objects takes ten times as many
MOST_COLUMNS = 1 << 30  # bytes of a file of columns, unpacked: they take as many in memory
PYTHON = 100

_SPENT: ContextVar[list[int] | None] = ContextVar("spent", default=None)


def scaled(limit: int) -> int:
    """A limit times the factor of CERTREE_BUDGET; InputError where that is not a number above 0."""
    text = os.environ.get(VARIABLE, "1")
    try:
        factor = Fraction(text) if len(text) <= 20 and "e" not in text.lower() else Fraction(0)
    except (ValueError, ZeroDivisionError):
        factor = Fraction(0)
    if factor <= 0:
        raise InputError(f"{VARIABLE} is {short(text)}; allowed: a number above 0, such as 4 or 1/2")
    return max(1, int(limit * factor))


@contextmanager
def budgeted() -> Iterator[None]:
    """A budget of steps for the body; inside another such body, as for a bundle that has schedules, the same budget."""
    token = _SPENT.set(_SPENT.get() or [0])
    try:
        yield
    finally:
        _SPENT.reset(token)


def left() -> int:
    """The number of steps that are left."""
    spent = _SPENT.get()
    return scaled(MOST_STEPS) - (0 if spent is None else spent[0])


def spend(steps: int, what: str) -> None:
    """Take steps from the budget; UndecidedError where fewer are left. `what`: the analysis, and how large its input is."""
    spent, most = _SPENT.get() or [0], scaled(MOST_STEPS)
    if spent[0] + steps > most:
        raise UndecidedError(
            f"undecided: {what}: takes {steps:,} steps, and {spent[0]:,} of {most:,} are spent; {VARIABLE} raises the limit"
        )
    spent[0] += steps


def hold(size: int, what: str) -> None:
    """Raise UndecidedError where an analysis would hold more bytes of memory than the budget has."""
    if size > (most := scaled(MOST_MEMORY)):
        raise UndecidedError(f"undecided: {what}: takes {size:,} bytes of memory; the limit is {most:,}, which {VARIABLE} raises")


def require_size(size: int, limit: int, where: str, what: str = "has") -> None:
    """Raise InputError for a file, or a part of one, of more bytes than `limit` times the factor of the environment."""
    if size > (most := scaled(limit)):
        raise InputError(f"{where} {what} more than {most:,} bytes, the limit of its kind; {VARIABLE}=4 reads 4 times as many")
