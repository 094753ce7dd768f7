"""Programs of runtimes refuse demands with one line that says why; so does SystemVerilog."""

from pathlib import Path

import pytest

import certree.api as ct
from certree.models.schedule.schedule import Schedule
from tests.synth.flows.demands import zipf

SIZES = "the chunks of a program's buffers have one size; the blocks of an alltoallv differ"


@pytest.fixture(scope="module")
def made() -> Schedule:
    network = ct.topology("ring:4")
    collective = ct.collective("alltoallv", demand=ct.demand(zipf(4, 0, 1 << 12, hot=True), network))
    schedule = ct.synthesize(network, collective, method="prepared-paths")
    assert isinstance(schedule, Schedule)
    return schedule


@pytest.mark.parametrize("name", ["msccl-xml", "mscclpp", "chakra"])
def test_programs(made: Schedule, name: str, tmp_path: Path) -> None:
    with pytest.raises(ct.UnsupportedError, match=SIZES):
        ct.export_program(made, name, tmp_path / "program")
    assert not list(tmp_path.iterdir())


def test_systemverilog(made: Schedule, tmp_path: Path) -> None:
    with pytest.raises(ct.UnsupportedError, match="not supported for demands, its constants state one message size"):
        ct.export(made, "systemverilog", tmp_path / "tables")
    assert not list(tmp_path.iterdir())
