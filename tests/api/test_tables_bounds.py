"""Exported tables have the bounds of the schedule that they came from."""

from pathlib import Path

import pytest

import certree.api as ct


@pytest.mark.parametrize(
    ("network", "collective", "method"),
    [
        ("ring:5", "all-to-all", "auto"), ("mesh:2x3", "all-reduce", "multitree"), ("mesh:3x3", "all-gather", "free-shares"),
        ("ring:4", "reduce-scatter", "packing"), ("switch:4", "all-reduce", "ring"),
    ],
)  # fmt: skip
def test_same_bounds(network: str, collective: str, method: str, tmp_path: Path) -> None:
    schedule = ct.synthesize(network, collective, method=method, size="4KiB")
    tables = ct.export(schedule, "readmemh", tmp_path / "tables")
    own, found, inside = (ct.verify(one).quality for one in (schedule, tmp_path / "tables", tables))
    assert own is not None
    for quality in (found, inside):
        assert quality is not None
        assert quality.bandwidth_bound == own.bandwidth_bound
        assert (quality.latency_steps, quality.latency_bound) == (own.latency_steps, own.latency_bound)
        assert [one["kind"] for one in quality.witnesses] == [one["kind"] for one in own.witnesses]
