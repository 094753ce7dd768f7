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


@pytest.mark.parametrize(("method", "network", "words", "error", "reason"), list(cases()))
def test_refused(method, network, words, error, reason):
    collective = next((word for word in words if "=" not in word), "all-reduce")
    given = dict(word.split("=", 1) for word in words if "=" in word)
    fields = {name: int(given.pop(name)) for name in FIELDS if name in given}
    options = {name.removesuffix("_switch"): value for name, value in given.items()}
    with pytest.raises(error) as told:
        make(method, network, collective, options=options, **fields)
    assert all(part in str(told.value) for part in reason)
