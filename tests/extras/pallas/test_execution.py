"""Kernels interpreted on CPU devices of JAX: results, bit for bit, and what is refused."""

import ast
import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import certree.api as ct
from tests.cli.running import certree, json_of
from tests.extras.xla.test_modules import ROOTED
from tests.synth.execution import make

pytestmark = pytest.mark.skipif(importlib.util.find_spec("jax") is None, reason="JAX is not installed (certree[jax])")
SOURCE = Path(__file__).parent / "on_kernels.py"
CHECKS = [
    one.name
    for one in ast.parse(SOURCE.read_text()).body
    if isinstance(one, ast.FunctionDef) and any(getattr(mark, "id", "") == "check" for mark in one.decorator_list)
]


def run(*names: str) -> dict[str, str]:
    environment = os.environ | {"XLA_FLAGS": "--xla_force_host_platform_device_count=8", "JAX_PLATFORMS": "cpu", "NPROC": "32"}
    command = [sys.executable, "-m", "tests.extras.pallas.on_kernels", *names]
    done = subprocess.run(command, capture_output=True, env=environment, cwd=SOURCE.parents[3], check=True, timeout=300)
    found: dict[str, str] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("name", CHECKS)
def test_on_devices(name: str) -> None:
    assert run(name) == {name: ""}


def test_execute(tmp_path: Path) -> None:
    ct.save(make("multitree", "mesh:2x2", "all-reduce"), tmp_path / "s.json")
    document = json_of("execute", tmp_path / "s.json", "--on", "pallas", "--size", "1000B", "--iterations", "1", "--devices", "8")
    assert (document["right"], document["exact"], document["on"]) == (True, True, "pallas")
    for words, message in (
        (("--devices", "3"), "3 devices; mesh:2x2 has 4 endpoints"),
        (("--devices", "65"), "65 devices of this computer; allowed: up to 64"),
    ):
        refused = certree("execute", tmp_path / "s.json", "--size", "1000B", "--on", "pallas", *words)
        assert refused.code == 2
        assert refused.err.splitlines()[-1] == f"error: {message}"


def test_room_is_asked_for_before_devices_are_made(tmp_path: Path) -> None:
    ct.save(make("multitree", "mesh:2x2", "all-reduce"), tmp_path / "s.json")
    refused = certree("execute", tmp_path / "s.json", "--on", "pallas", "--size", "64MiB", "--time-limit", "0.1s")
    assert refused.code == 2
    words = refused.err.splitlines()[-1]
    assert words.startswith("error: a kernel for 64 MiB takes ")
    assert words.endswith(" bytes of vector memory; allowed: up to 16,777,216; --on jax takes any size")


def test_the_time_is_limited(tmp_path: Path) -> None:
    ct.save(make("multitree", "mesh:2x2", "all-reduce"), tmp_path / "s.json")
    ended = certree("execute", tmp_path / "s.json", "--on", "pallas", "--size", "1000B", "--time-limit", "0.1s")
    assert ended.code == 1
    assert "the devices of JAX did not end within the time limit" in ended.err


@pytest.mark.parametrize("kind", ["all-reduce", "reduce-scatter", "all-gather", "all-to-all", *ROOTED])
def test_bits_of_the_order_of_the_schedule(kind: str) -> None:
    from tests.extras.runtimes.make.test_round_trips import METHODS

    schedule = make(METHODS[kind], "torus:2x4", kind, root=1 if kind in ROOTED else None)
    assert ct.execute(schedule, on="pallas", size=5000, iterations=1, time_limit="300s").right
