"""Programs with one wrong line, next to XLA: results are others where the verdict is wrong, and the same where it is right."""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.extras.xla.test_stablehlo import COUNTS

pytestmark = pytest.mark.skipif(importlib.util.find_spec("jax") is None, reason="JAX is not installed (certree[jax])")


@pytest.mark.parametrize("name", COUNTS)
def test_verdicts_are_those_of_results(name: str) -> None:
    wrong, _, same, other, refused = COUNTS[name]
    environment = os.environ | {"XLA_FLAGS": "--xla_force_host_platform_device_count=8", "JAX_PLATFORMS": "cpu"}
    command = [sys.executable, "-m", "tests.extras.xla.faults.on_xla", name]
    done = subprocess.run(command, capture_output=True, env=environment, cwd=Path(__file__).parents[4], check=True)
    found: dict[str, int] = json.loads(done.stdout)
    assert found.get("wrong, other results", 0) == wrong
    assert found.get("same, equal results", 0) == same
    assert found.get("other, other results", 0) == other
    assert sum(found.values()) == wrong + same + other + refused
