"""Files of packets: what is read, and what is refused with its line."""

import numpy as np
import pytest

from certree.hw.routers.packets import read_packets, synthetic_packets
from certree.models.common.errors import InputError
from certree.models.network.spec import parse_topology

NAMES = "id,src,dst,flits,start\n"


def test_columns_may_come_in_any_order(tmp_path):
    file = tmp_path / "p.csv"
    file.write_text("start, flits, dst, src, id\n 3, 17, 1, 0, 9\r\n\n0,1,2,2,4\n")
    read = read_packets(file, parse_topology("ring:3"))
    assert [read.id.tolist(), read.src.tolist(), read.dst.tolist()] == [[9, 4], [0, 2], [1, 2]]
    assert [read.flits.tolist(), read.start.tolist()] == [[17, 1], [3, 0]]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("", "is empty; expected a line with the columns id,src,dst,flits,start"),
        (NAMES, "no packets"),
        ("id,src,dst,flits\n0,0,1,1\n", "line 1: columns are id,src,dst,flits; expected"),
        ("id,src,dst,flits,start,colour\n", "line 1: columns are"),
        ("id,id,dst,flits,start\n", "line 1: columns are"),
        (NAMES + "0,0,1,1\n", "line 2: 4 values; expected 5"),
        (NAMES + "0,0,1,1,0,0\n", "line 2: 6 values; expected 5"),
        (NAMES + "0,0,1,1,0\n0,0,1,1,5\n", "line 3: id 0 is that of line 2 already"),
        (NAMES + "0,0,1,0,0\n", "line 2: flits is '0'; allowed: whole numbers from 1 to"),
        *((NAMES + f"0,0,1,{flits},0\n", f"line 2: flits is '{flits}'") for flits in ("-1", "1.5", "1e3", "\u0663")),
        (NAMES + "0,0,1,,0\n", "line 2: flits is ''"),
        (NAMES + "0,0,1,1,99999999999999999999\n", "line 2: start is"),
        (NAMES + "0,0,1,1,nan\n", "line 2: start is 'nan'"),
        (NAMES + "0,8,1,1,0\n", "line 2: src is '8'; allowed: whole numbers from 0 to 7"),
        (NAMES + "0,0,5,1,0\n", "line 2: dst 5 is not an endpoint of mesh:2x4"),
        (NAMES + '0,0,1,"1,0\n', "is not CSV"),
        (b"\xff\xfe\x00", "is not text"),
    ],
)
def test_bad_files(tmp_path, content, reason):
    file = tmp_path / "p.csv"
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(InputError) as caught:
        read_packets(file, parse_topology("mesh:2x4,without-node=5"))
    assert reason in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_missing_file_is_refused(tmp_path):
    with pytest.raises(InputError, match="cannot read"):
        read_packets(tmp_path / "none.csv", parse_topology("ring:3"))


def test_synthetic_traffic_offers_its_load():
    """64 nodes offer 0.2 flits a cycle: the number of packets lies within five standard deviations of its mean."""
    sent = synthetic_packets(parse_topology("mesh:8x8"), load=0.2, flits=4, cycles=20000, seed=3)
    mean = 64 * 20000 * 0.05
    assert abs(len(sent.id) - mean) < 5 * mean**0.5
    assert sent.start.max() < 20000
    assert (np.diff(sent.start) >= 0).all()
    counts = np.bincount(sent.dst, minlength=64)
    assert abs(counts - mean / 64).max() < 5 * (mean / 64) ** 0.5


@pytest.mark.parametrize("changes", [{"load": 0}, {"load": 2}, {"flits": 0}, {"cycles": 0}, {"seed": -1}, {"hot_spot": (9, 0)}])
def test_synthetic_traffic_out_of_range(changes):
    with pytest.raises(InputError):
        synthetic_packets(parse_topology("ring:4"), **({"load": 0.5, "flits": 1, "cycles": 10, "seed": 0} | changes))
