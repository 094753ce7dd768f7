"""Execution of StableHLO: whole numbers next to those of Python, moves of data next to XLA."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from certree.extras.xla.check.hlo.numbers import WHOLE
from certree.extras.xla.check.hlo.tensors import elementwise


def _divided(one: int, two: int) -> int:
    return -1 if two == 0 else abs(one) // abs(two) * (1 if (one < 0) == (two < 0) else -1)


#: by operation what it does with whole numbers that have no end; `bits` of the type
EXACT: dict[str, Callable[[int, int, int], int]] = {
    "add": lambda a, b, bits: a + b,
    "subtract": lambda a, b, bits: a - b,
    "multiply": lambda a, b, bits: a * b,
    "divide": lambda a, b, bits: _divided(a, b),
    "remainder": lambda a, b, bits: a if b == 0 else a - b * _divided(a, b),
    "maximum": lambda a, b, bits: max(a, b),
    "minimum": lambda a, b, bits: min(a, b),
    "and": lambda a, b, bits: a & b,
    "or": lambda a, b, bits: a | b,
    "xor": lambda a, b, bits: a ^ b,
    "shift_left": lambda a, b, bits: a << b if 0 <= b < bits else 0,
    "shift_right_logical": lambda a, b, bits: (a % (1 << bits)) >> b if 0 <= b < bits else 0,
}


@pytest.mark.parametrize("kind", ["int8", "uint8", "int32", "uint32"])
@pytest.mark.parametrize("name", EXACT)
def test_whole_numbers_wrap_around(name: str, kind: str) -> None:
    limits = np.iinfo(kind)
    edges = [limits.min, limits.min + 1, limits.max, limits.max - 1, 0, 1, 2, 3, 7, 8, 31, 32, limits.max // 2]
    edges += [-1, -2, -7] if limits.min else []
    one, two = (part.reshape(1, -1) for part in np.meshgrid(np.array(edges, kind), np.array(edges, kind)))
    found = elementwise(WHOLE[f"stablehlo.{name}"], [one, two])
    assert found.dtype == kind
    for a, b, c in zip(one[0].tolist(), two[0].tolist(), found[0].tolist(), strict=True):
        exact = EXACT[name](a, b, limits.bits)
        assert (exact - c) % (1 << limits.bits) == 0, (a, b, c, exact)


def test_shifts_keep_the_sign() -> None:
    one, two = np.array([[-128, -1, 5, -7, 127]], np.int8), np.array([[1, 9, 1, -1, 8]], np.int8)
    assert elementwise(WHOLE["stablehlo.shift_right_arithmetic"], [one, two]).tolist() == [[-64, -1, 2, -1, 0]]


def compared(*names: str) -> dict[str, object]:
    pytest.importorskip("jax", reason="JAX is not installed (certree[jax])")
    environment = os.environ | {"XLA_FLAGS": "--xla_force_host_platform_device_count=4", "JAX_PLATFORMS": "cpu"}
    command = [sys.executable, "-m", "tests.extras.xla.hlo_moves", *names]
    done = subprocess.run(command, capture_output=True, env=environment, cwd=Path(__file__).parents[3], check=True)
    found: dict[str, object] = json.loads(done.stdout)
    return found


def test_transposes_move_what_xla_moves() -> None:
    assert compared("transpose") == {"programs": 4, "wrong": []}


def test_all_moves_are_those_of_xla() -> None:
    found = compared()
    assert found == {"programs": 140, "wrong": []}
