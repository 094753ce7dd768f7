"""SystemVerilog refuses demands with one line that says why."""

from pathlib import Path

import pytest

import certree.api as ct
from certree.models.schedule.schedule import Schedule
from tests.synth.flows.demands import zipf


@pytest.fixture(scope="module")
def made() -> Schedule:
    network = ct.topology("ring:4")
    collective = ct.collective("alltoallv", demand=ct.demand(zipf(4, 0, 1 << 12, hot=True), network))
    schedule = ct.synthesize(network, collective, method="prepared-paths")
    assert isinstance(schedule, Schedule)
    return schedule


def test_systemverilog(made: Schedule, tmp_path: Path) -> None:
    with pytest.raises(ct.UnsupportedError, match="not supported for demands, its constants state one message size"):
        ct.export(made, "systemverilog", tmp_path / "tables")
    assert not list(tmp_path.iterdir())
