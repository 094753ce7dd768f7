"""Modules on CPU devices of JAX: results, gradients, types, meshes and refusals, next to JAX's own collectives."""

import ast
import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import certree.api as ct
from certree.extras.xla.make.permutes import lower_to_permutes
from tests.cli.running import certree, json_of
from tests.extras.xla.test_modules import ROOTED
from tests.synth.execution import make

pytestmark = pytest.mark.skipif(importlib.util.find_spec("jax") is None, reason="JAX is not installed (certree[jax])")
SOURCE = Path(__file__).parent / "on_devices.py"
#: every check is one process: JAX has as many devices as it is told when it starts
CHECKS = [
    one.name
    for one in ast.parse(SOURCE.read_text()).body
    if isinstance(one, ast.FunctionDef) and any(getattr(mark, "id", "") == "check" for mark in one.decorator_list)
]
FEW = ("gradients_inside_count_outputs_as_one", "meshes_of_two_axes", "members_only", "refusals")


def run(*names: str) -> dict[str, str]:
    environment = os.environ | {"XLA_FLAGS": "--xla_force_host_platform_device_count=8", "JAX_PLATFORMS": "cpu"}
    command = [sys.executable, "-m", "tests.extras.xla.on_devices", *names]
    done = subprocess.run(command, capture_output=True, env=environment, cwd=SOURCE.parents[3], check=True)
    found: dict[str, str] = json.loads(done.stdout)
    return found


def test_a_few() -> None:
    assert run(*FEW) == dict.fromkeys(FEW, "")


@pytest.mark.parametrize("name", CHECKS)
def test_next_to_jax(name: str) -> None:
    assert run(name) == {name: ""}


def test_execute(tmp_path: Path) -> None:
    ct.save(make("multitree", "torus:2x4", "all-reduce"), tmp_path / "s.json")
    document = json_of("execute", tmp_path / "s.json", "--on", "jax", "--size", "1000B", "--iterations", "2")
    assert (document["right"], document["exact"], document["on"], document["permutes"]) == (True, True, "jax", 14)
    assert len(document["own_seconds"]) == 2
    for words, message in (
        (("--on", "jax", "--devices", "7"), "7 devices; torus:2x4 has 8 endpoints"),
        (("--on", "jax", "--devices", "257"), "257 devices of this computer; allowed: up to 256"),
        (("--on", "jax", "--local", "8"), "processes on this computer, and executor jax: one of the two"),
        (("--on", "mpi"), "unknown executor 'mpi'; known: jax, pallas"),
        (("--devices", "8"), "8 devices; they are for an executor: jax, pallas"),
    ):
        refused = certree("execute", tmp_path / "s.json", "--size", "1000B", *words)
        assert refused.code == 2
        assert refused.err.splitlines()[-1] == f"error: {message}"


def test_steps_that_choose_their_permutes() -> None:
    """More stretches than a module has loops, and messages that land a step later."""
    schedule = make("packing", "mesh:2x4", "all-reduce")
    program = lower_to_permutes(schedule)
    assert len(program.stretches) > 8
    assert program.depth > 1
    assert ct.execute(schedule, on="jax", size=3000, iterations=1).right


@pytest.mark.parametrize("type_name", ["float32", "float16", "bfloat16", "int32"])
@pytest.mark.parametrize("kind", ["all-reduce", "reduce-scatter", "all-gather", "all-to-all", *ROOTED])
def test_bits_of_the_order_of_the_schedule(kind: str, type_name: str) -> None:
    from tests.extras.runtimes.make.test_round_trips import METHODS

    schedule = make(METHODS[kind], "mesh:2x3", kind, root=1 if kind in ROOTED else None)
    assert ct.execute(schedule, on="jax", size=5000, type=type_name, iterations=1).right
