"""Machines whose routers make messages late: what only slots keep in order is refused by name, and not returned."""

from dataclasses import replace

import pytest

from certree.models.common.errors import UnsupportedError
from certree.models.machine.machine import load_machine
from certree.synth.method import METHODS, load_methods
from certree.verify.deadlock.deadlock_verdicts import refusal
from tests.synth.execution import ask

load_methods()


@pytest.mark.parametrize("name", ["one-shot", "mixed-shot", "levels"])
def test_it_is_refused(name: str) -> None:
    request = replace(ask("torus:3x3", "all-reduce", 1 << 14), machine=load_machine("booksim2"))
    with pytest.raises(UnsupportedError, match=f"^{name}: late: chunk .* only slots keep them in order"):
        METHODS[name](request)


def test_what_waits_for_what_it_needs_is_made() -> None:
    request = replace(ask("torus:3x3", "all-reduce", 1 << 14), machine=load_machine("booksim2"))
    assert refusal(METHODS["two-shot"](request), request.machine, request.message_bytes) is None
