"""What users wait for, timed in CPU time and kept from version to version: `make bench-history` runs, keeps and draws it.

The storage of pytest-benchmark is build/benchmarks, with one file for each run, named after the commit; the picture has a box for
each benchmark and run. `make bench-history` fails where the least time of one is more than 10 % above that of the run before. Each
benchmark is one command of everyday use; what is compared with a baseline in one run is in the modules next to this folder.
"""

from collections.abc import Callable

import pytest

import certree.api as ct

CALLS: dict[str, Callable[[], object]] = {
    "bounds": lambda: ct.bound("torus:8x8,without-link=0-1"),
    "multitree": lambda: ct.synthesize("torus:8x8", method="multitree", size="1MiB"),
    "packing": lambda: ct.synthesize("mesh:8x8", method="packing", size="1MiB"),
    "symmetric": lambda: ct.synthesize("torus:16x16", method="symmetric", size="64MiB"),
    "small message": lambda: ct.synthesize("torus:4x4", size="16KiB"),
}


@pytest.mark.parametrize("name", CALLS)
def test_api(benchmark, name):
    benchmark.pedantic(CALLS[name], rounds=5, warmup_rounds=1)


@pytest.mark.parametrize("name", ["verify", "export", "slotted run", "paced run", "routers"])
def test_schedule(benchmark, tmp_path, name):
    schedule = ct.synthesize("mesh:8x8", method="packing", size="1MiB")
    tables = ct.export(schedule, "readmemh", tmp_path / "tables")
    calls: dict[str, Callable[[], object]] = {
        "verify": lambda: ct.verify(schedule),
        "export": lambda: ct.export(schedule, "readmemh", tmp_path / "tables", force=True),
        "slotted run": lambda: ct.simulate(tables),
        "paced run": lambda: ct.simulate(tables, run="paced"),
        "routers": lambda: ct.simulate(tables, engine="flit"),
    }
    benchmark.pedantic(calls[name], rounds=5, warmup_rounds=1)
