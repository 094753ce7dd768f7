"""Runs the simulator tests on a core built with sanitizers: `python -m tests.hw.sanitized BUILD_FOLDER` (see `make sanitize`)."""

import importlib.util
import sys
from pathlib import Path

import pytest

import certree.hw

#: what runs on it; the runs that only measure mean latencies are left out
TESTS = (
    "tests/hw/engines/test_simulator.py",
    "tests/hw/engines/test_reference.py",
    "tests/hw/engines/test_schedule_run.py",
    "tests/hw/engines/test_published.py",
    "tests/hw/routers/test_packet_injection.py",
    "tests/hw/engines/test_flit.py",
    "tests/hw/engines/test_flit_traces.py",
    "tests/extras/endpoints/run/test_endpoints.py",
    "tests/extras/endpoints/run/test_table_runs.py",
    "tests/extras/aggregation/run/test_aggregation.py",
    "--deselect=tests/hw/routers/test_packet_injection.py::test_mean_latency_under_uniform_traffic",
)


def load_core(build: Path) -> None:
    """Put the core in `build` in the place of the installed one."""
    (path,) = build.glob("hw/core/_core*.so")
    spec = importlib.util.spec_from_file_location("certree.hw._core", path)
    assert spec is not None
    assert spec.loader is not None
    core = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(core)
    sys.modules[core.__name__] = certree.hw._core = core


if __name__ == "__main__":
    load_core(Path(sys.argv[1]))
    sys.exit(pytest.main(["-q", "-p", "no:cacheprovider", *TESTS]))
