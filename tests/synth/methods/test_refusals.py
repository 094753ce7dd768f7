"""What methods do not cover, and wrong options: refused with the reason."""

from pathlib import Path

import pytest

from certree.models.common.errors import InputError, UnsupportedError
from tests.synth.execution import make

FIELDS = ("chunks", "steps", "root", "message_bytes")


def cases():
    """A method, networks, a collective, fields and options; then what is said: -> not covered, => bad input, ... for any text."""
    for line in (Path(__file__).parent / "refusals.txt").read_text().splitlines():
        error, sign = (InputError, " => ") if " => " in line else (UnsupportedError, " -> ")
        asked, reason = line.split(sign)
        method, networks, *words = asked.split()
        for network in networks.split(";"):
            yield method, network, words, error, reason.split(" ... ")


def parsed(words):
    """Fields of a request, and the options that the others are."""
    given = dict(word.split("=", 1) for word in words)
    fields = {name: int(given.pop(name)) for name in FIELDS if name in given}
    return fields | {"options": {name.removeprefix("option."): value for name, value in given.items()}}


@pytest.mark.parametrize(("method", "network", "words", "error", "reason"), list(cases()))
def test_refused(method, network, words, error, reason):
    collective = next((word for word in words if "=" not in word), "all-reduce")
    with pytest.raises(error) as told:
        make(method, network, collective, **parsed([word for word in words if "=" in word]))
    assert all(part in str(told.value) for part in reason)
