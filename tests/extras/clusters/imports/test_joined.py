"""Boxes joined by a fabric with a file of its own: which interface has which cable, and what is asked and refused."""

from fractions import Fraction
from pathlib import Path

import pytest

from certree.models.common.errors import TopologyError
from certree.models.network.spec import parse_topology
from certree.models.network.topology import Topology

FILES = Path(__file__).parent / "files"
BOX = f"{FILES / 'one-gpu.xml'}"
LISTING = f"fabric={FILES / 'fabric.ibnet'}"


def rates(network: Topology) -> dict[tuple[str, str], Fraction]:
    """GB/s by the names of the ends."""
    assert network.labels is not None
    assert network.bandwidth is not None
    exact = network.exact
    rows = zip(exact.src.tolist(), exact.dst.tolist(), exact.capacity.tolist(), strict=True)
    return {(network.labels[a], network.labels[b]): exact.speed(units) * network.bandwidth / 10**9 for a, b, units in rows}


def test_listing() -> None:
    """The storage interface is no rail; a cable is as fast as the slower of its ends."""
    network = parse_topology(f"{BOX},{LISTING},hosts=node-*,nics=mlx5_0")
    found = rates(network)
    assert network.labels is not None
    assert network.labels[:3] == ("node-1/gpu0", "node-2/gpu0", "node-3/gpu0")
    assert {pair: rate for pair, rate in found.items() if "leaf" in pair[0]} == {
        ("leaf-1", "node-1/nic-0000:03:00.0"): Fraction(25, 2),
        ("leaf-1", "node-2/nic-0000:03:00.0"): Fraction(25, 2),
        ("leaf-2", "node-3/nic-0000:03:00.0"): Fraction(25, 2),
        ("leaf-1", "leaf-2"): 50,
        ("leaf-2", "leaf-1"): 50,
    }
    assert "left out: 1 interfaces of these hosts that are not among those of the boxes" in network.notes


def test_cable_slower_than_its_interface(tmp_path: Path) -> None:
    (tmp_path / "cables.csv").write_text("a,b,rate (GB/s)\nn2 mlx5_0,leaf,5\nn10/mlx5_0,leaf,100\n")
    network = parse_topology(f"{BOX},fabric={tmp_path / 'cables.csv'},switches=leaf,nics=mlx5_0")
    found = rates(network)
    assert network.labels is not None
    assert network.labels[:2] == ("n2/gpu0", "n10/gpu0")
    assert (found["leaf", "n2/nic-0000:03:00.0"], found["leaf", "n10/nic-0000:03:00.0"]) == (5, Fraction(25, 2))


def test_counted_adapters(tmp_path: Path) -> None:
    """HCA-1 is mlx5_0."""
    listing = (FILES / "fabric.ibnet").read_text().replace("node-1 mlx5_0", "node-1 HCA-1").replace("node-3 mlx5_1", "node-3 HCA-2")
    (tmp_path / "fabric").write_text(listing)
    first = rates(parse_topology(f"{BOX},fabric={tmp_path / 'fabric'},hosts=node-1+node-3"))
    assert ("leaf-1", "node-1/nic-0000:03:00.0") in first
    assert ("leaf-2", "node-3/nic-0000:04:00.0") in first
    assert ("leaf-1", "node-1/nic-0000:04:00.0") not in first


def test_hosts_without_interfaces() -> None:
    """Where a fabric names hosts only, each interface has a cable to their leaf."""
    network = parse_topology(f"{BOX},fabric={FILES / 'topology.conf'},hosts=node06+node01,speed=LINK:50GB/s,speed=SYS:1GB/s")
    found = rates(network)
    assert network.labels is not None
    assert network.labels[:2] == ("node06/gpu0", "node01/gpu0")
    ends = {pair[1]: (pair[0], rate) for pair, rate in found.items() if pair[0].startswith("leaf") and "nic" in pair[1]}
    assert ends == {
        "node06/nic-0000:03:00.0": ("leaf2", Fraction(25, 2)),
        "node06/nic-0000:04:00.0": ("leaf2", 25),
        "node01/nic-0000:03:00.0": ("leaf1", Fraction(25, 2)),
        "node01/nic-0000:04:00.0": ("leaf1", 25),
    }


def test_different_boxes(tmp_path: Path) -> None:
    """Dumps are at the hosts that have the names of their files, or at those that are given, in order."""
    for name in ("node-2", "other"):
        (tmp_path / f"{name}.xml").write_bytes((FILES / "one-gpu.xml").read_bytes())
    (tmp_path / "node-1.xml").write_bytes((FILES.parent / "dgx1.xml").read_bytes())
    more = f"{LISTING},assume=dgx1,speed=SYS:20GB/s"
    made = parse_topology(f"{tmp_path / 'node-1.xml'},dumps={tmp_path / 'node-2.xml'},{more}")
    assert len(made.endpoints) == 9
    assert made.labels is not None
    assert made.labels[7:9] == ("node-1/gpu7", "node-2/gpu0")
    made = parse_topology(f"{tmp_path / 'node-1.xml'},dumps={tmp_path / 'other.xml'},hosts=node-2+node-1,{more}")
    assert made.labels is not None
    assert made.labels[7:9] == ("node-2/gpu7", "node-1/gpu0")
    with pytest.raises(
        TopologyError, match=r"3 host\(s\) of the fabric: .*; there are 2 boxes; give hosts=NAME\+NAME, in the order"
    ):
        parse_topology(f"{tmp_path / 'node-1.xml'},dumps={tmp_path / 'other.xml'},{more}")


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        (LISTING, r"does not say which of 3 hosts of the fabric are such boxes"),
        (f"{LISTING},hosts=node-1", r"1 host\(s\) of the fabric: node-1; a fabric joins two or more; give hosts="),
        (f"{LISTING},hosts=node-*,boxes=2", r"3 host\(s\) of the fabric: node-1, node-2, node-3; there are 2 boxes"),
        (f"{LISTING},hosts=node-1+x*", r"hosts=x\*: there is no such name; known: node-1, node-2, node-3"),
        (
            f"{LISTING},hosts=node-1+node-2,nics=mlx5_1",
            "host node-1 has the interfaces mlx5_0 in the fabric, and the box has mlx5_1",
        ),
        ("fabric=nothing.txt,boxes=2", "fabric='nothing.txt'; allowed: switch, rails, and files that there are"),
        (
            f"fabric={BOX}",
            r"one-gpu.xml: expected one of cable-csv, ibnetdiscover, ibnetdiscover-ports, slurm, slurm-yaml, for fabrics that are",
        ),
        (f"{LISTING},dumps={FILES / 'edges.csv'}", r"edges.csv: expected one of .*nccl.*, for boxes that are joined"),
        ("hosts=a+b", "hosts= is for boxes that fabric=FILE joins"),
        (f"fabric={FILES / 'topology.conf'},hosts=node01+node02", "how fast a cable of the fabric is; give speed=LINK:BANDWIDTH"),
    ],
)
def test_asked_and_refused(more: str, expected: str) -> None:
    with pytest.raises(TopologyError, match=expected):
        parse_topology(f"{BOX},{more}")
