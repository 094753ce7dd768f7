"""SystemVerilog for demands: headers state the granules of a message, and the testbench knows where each block belongs."""

import re
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


def test_messages_state_their_size_and_blocks_their_places(made: Schedule, tmp_path: Path) -> None:
    ct.export(made, "systemverilog", tmp_path / "tables")
    package, bench = ((tmp_path / "tables" / name).read_text() for name in ("certree_ni_pkg.sv", "certree_tb_pkg.sv"))
    assert made.chunk_granules is not None
    unit = int(re.findall(r"CHUNK_GRANULES = (\d+)", package)[0]) // int(made.chunk_granules.max())
    assert re.search(r"HAS_SIZES = 1;", package)
    assert re.search(r"HEADER_SIZE_LSB = [1-9]", package)
    granules = re.findall(r"BLOCK_GRANULES\[(\d+)\] = '\{(.*?)\}", bench)[0]
    assert [int(one) for one in granules[1].split(",")] == (unit * made.chunk_granules).tolist()
    assert ct.verify(tmp_path / "tables").valid
