"""Modifiers that state latencies: which links get them, what they cost, and what is refused."""

import numpy as np
import pytest

import certree.api as ct
from certree.models.network.spec import parse_topology


def test_all_links_and_some():
    topology = parse_topology("ring:4,latency=7,link-latency=0-1:9,link-latency=2>3:0")
    found = dict(zip(zip(topology.src.tolist(), topology.dst.tolist(), strict=True), topology.latency.tolist(), strict=True))
    assert found == {(a, b): {(0, 1): 9, (1, 0): 9, (2, 3): 0}.get((a, b), 7) for a, b in found}


@pytest.mark.parametrize("spec", ["h100:2", "h100:2@switch", "h100:4@leaf2/2", "mi300x:2", "nvl72:2"])
def test_between_boxes(spec):
    """Links inside boxes keep the latency of the machine; all others, those of leaf switches too, have the stated one."""
    topology = parse_topology(f"{spec},fabric-latency=1280")
    family = spec.partition(":")[0]
    inside = int(spec[len(family) + 1]) * len(parse_topology(family).kind)
    is_fabric = (topology.src >= inside) | (topology.dst >= inside)
    assert is_fabric.any()
    assert np.array_equal(topology.latency, np.where(is_fabric, 1280, -1))


def test_what_a_step_between_boxes_takes():
    """Two GPUs of two boxes: two steps over two links each, which take 1280 cycles instead of the 230 of the machine."""
    asked = {"sizes": ["4KiB"], "methods": ["ring"], "run": "slotted"}
    slow, fast = (ct.compare(f"h100:2@switch{more},only=0+8", **asked).cells[0] for more in (",fabric-latency=1280", ""))
    for cycles in ("time_cycles", "simulated_cycles"):
        assert slow[cycles] - fast[cycles] == 2 * 2 * (1280 - 230)


@pytest.mark.parametrize(
    ("spec", "reason"),
    [
        ("ring:4,latency=-1", r"ring:4: latency='-1': expected whole cycles from 0 to 1048576"),
        ("ring:4,latency=1048577", r"expected whole cycles"),
        ("ring:4,link-latency=0-1", r"expected A-B or A>B and cycles, such as 3-4:150"),
        ("ring:4,link-latency=0-2:5", r"there is no such link"),
        ("ring:4,link-latency=0-1:x", r"link-latency='0-1:x': expected whole cycles"),
        ("ring:4,fabric-latency=5", r"expected several boxes, such as h100:4; see link-latency"),
        ("h100,fabric-latency=5", r"expected several boxes"),
        ("h100:1,fabric-latency=5", r"expected several boxes"),
        ("h100:2,fabric-latency=2.7us", r"expected whole cycles"),
    ],
)
def test_refused(spec, reason):
    with pytest.raises(ct.InputError, match=reason):
        parse_topology(spec)
