"""Cells of tables of times: a process that fails is not reported as out of time."""

import os
import signal
from typing import Any

import pytest

from tests.bench.small.priced import in_own_process


def _killed(code: int) -> dict[str, Any]:
    os.kill(os.getpid(), code)
    return {}


def _wrong() -> dict[str, Any]:
    os._exit(3)


@pytest.mark.parametrize("code", [signal.SIGXCPU, signal.SIGKILL])
def test_out_of_time(code: int) -> None:
    assert in_own_process(_killed, code) == {"error": "no answer within 120 s"}


def test_failure_of_its_own() -> None:
    assert in_own_process(_wrong) == {"error": "failed without an answer, exit code 3"}
