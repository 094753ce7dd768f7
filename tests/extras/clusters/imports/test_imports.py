"""NCCL's topology XML and `nvidia-smi topo -m`: networks, boxes composed, what is asked for, and what is refused."""

import random
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from certree.extras.clusters.imports import MAX_BYTES, load_imports
from certree.models.common.errors import InputError, TopologyError
from certree.models.common.quantities import parse_bandwidth
from certree.models.network.network_files import load_network_formats, network_suffixes
from certree.models.network.routing import routes_between
from certree.models.network.spec import parse_topology

HERE = Path(__file__).parent
NV, SYS = "speed=NV:25GB/s", "speed=SYS:19.2GB/s"


def load(name, *options):
    return parse_topology(",".join([str(HERE / name), *options]))


def cables(topology):
    """{(label, label): capacity} over both directions, which must agree."""
    name = topology.labels
    links = zip(topology.src.tolist(), topology.dst.tolist(), topology.capacity.tolist(), strict=True)
    found = {(name[a], name[b]): c for a, b, c in links}
    assert all(found[b, a] == c for (a, b), c in found.items())
    return {pair: c for pair, c in found.items() if pair[0] < pair[1]}


def test_formats_are_known_by_their_contents():
    formats = load_network_formats()
    assert set(load_imports()) < set(formats)
    assert not {end for name in load_imports() for end in formats[name].suffixes} & set(network_suffixes(written=True))


@pytest.mark.parametrize("name", ["dgx1.xml", "dgx1.txt"])
def test_nvlinks_of_a_dgx1(name):
    """Both descriptions give the hybrid cube mesh of `dgx1`; unit: one NVLink of 25 GB/s."""
    box, named = load(name, NV, "links=nvlink"), parse_topology("dgx1")
    links = [sorted(zip(t.src.tolist(), t.dst.tolist(), t.capacity.tolist(), strict=True)) for t in (box, named)]
    assert links[0] == links[1]
    assert box.is_direct


def test_pcie_and_sockets_of_a_dgx1():
    """16 lanes of 8 GT/s, 128b/130b: 15.75 GB/s. The narrowest link is the unit; an NVLink pair is 50 / 15.75 = 3 units."""
    box = cables(load("dgx1.xml", NV, SYS))
    assert box["gpu0", "pci-0000:02:00.0"] == 1
    assert box["cpu0", "pci-0000:03:00.0"] == 1
    assert box["cpu0", "cpu1"] == 1
    assert (box["gpu0", "gpu3"], box["gpu0", "gpu1"]) == (3, 1)
    assert not any("nic" in name for pair in box for name in pair)  # a single box: dead ends
    fine = cables(load("dgx1.xml", NV, SYS, "unit=1GB/s"))
    assert (fine["gpu0", "pci-0000:02:00.0"], fine["cpu0", "cpu1"], fine["gpu0", "gpu3"]) == (15, 19, 50)


def test_nvswitches_and_the_common_measure():
    """5 and 4 NVLinks: the unit is one of them, so nothing is rounded."""
    box = load("hopper_vm.xml", NV, "links=nvlink")
    assert sorted(cables(box).values()) == [4] * 4 + [5] * 4
    assert box.labels == ("gpu0", "gpu1", "gpu2", "gpu3", "nvswitch-0000:05:00.0", "nvswitch-0000:06:00.0")


@pytest.mark.parametrize(("fabric", "planes", "ports"), [("switch", 1, 8), ("rails", 4, 2)])
def test_boxes_with_a_fabric(fabric, planes, ports):
    """Two boxes of four interfaces of 100 Gb/s: 12.5 GB/s to the one switch, or to the switch of their rail."""
    both = load("dgx1.xml", NV, SYS, "boxes=2", f"fabric={fabric}", "unit=12.5GB/s")
    assert both.endpoints.tolist() == list(range(16))
    assert both.labels[:2] == ("box0/gpu0", "box0/gpu1")
    assert both.labels[8] == "box1/gpu0"
    assert both.labels[-planes:] == tuple(f"fabric{plane}" for plane in range(planes))
    for plane in range(len(both.kind) - planes, len(both.kind)):
        assert len(both.neighbours(plane)) == ports
        assert set(both.capacity[both.src == plane].tolist()) == {1}
    _, routes = routes_between(both, np.array([0]), np.array([8]))
    passed = [both.labels[both.dst[link]] for link in routes[0]]
    assert passed[1].startswith("box0/nic-")
    assert passed[2] == "fabric0"


def test_levels_of_a_box_without_nvlinks():
    """GPUs 0-1 and 2-3 on a bridge each (PIX), joined (PXB), with 4 at a host bridge (PHB), 5 in the socket (NODE), 6-7 beyond."""
    speeds = ("PIX:12GB/s", "PXB:11GB/s", "PHB:10GB/s", "NODE:9GB/s", "SYS:8GB/s")
    box = cables(load("pcie.txt", *(f"speed={speed}" for speed in speeds), "unit=1GB/s"))
    assert box == {
        ("gpu0", "pix0"): 12, ("gpu1", "pix0"): 12, ("gpu2", "pix1"): 12, ("gpu3", "pix1"): 12,
        ("pix0", "pxb2"): 11, ("pix1", "pxb2"): 11,
        ("phb3", "pxb2"): 10, ("gpu4", "phb3"): 10, ("gpu6", "phb4"): 10, ("gpu7", "phb4"): 10,
        ("node5", "phb3"): 9, ("gpu5", "node5"): 9,
        ("phb4", "sys6"): 8, ("node5", "sys6"): 8,
    }  # fmt: skip


def test_every_two_gpus_alike_is_ambiguous():
    with pytest.raises(TopologyError, match="every two GPUs show 12 NVLinks, either to each other or to switches"):
        load("a100.txt", NV)
    switched, direct = load("a100.txt", NV, "nvlinks=switched"), load("a100.txt", NV, "nvlinks=direct")
    assert (len(switched.kind), set(switched.capacity.tolist())) == (9, {12})
    assert len(direct.src) == 56
    assert set(load("a100.txt", NV, "nvlinks=switched", "unit=5GB/s").capacity.tolist()) == {60}


def test_modifiers_work_on_imports():
    assert len(load("dgx1.xml", "links=nvlink", NV, "without-node=7").endpoints) == 7


@pytest.mark.parametrize(
    ("name", "options", "asked"),
    [
        ("dgx1.xml", ["links=nvlink"], "how fast one link of <nvlink> (line 6) is; give speed=NV:BANDWIDTH"),
        ("dgx1.xml", [], "how fast these are: one link of <nvlink> (line 6) (speed=NV:BANDWIDTH), the link between any two of its 2"
         " sockets (speed=SYS:BANDWIDTH); give all of them, such as speed=NV:25GB/s"),
        ("dgx1.xml", ["boxes=2"], "how fast these are: one link of <nvlink> (line 6) (speed=NV:BANDWIDTH), the link between any two"
         " of its 2 sockets (speed=SYS:BANDWIDTH); give all of them, such as speed=NV:25GB/s; nor how boxes are connected; give"),
        ("dgx1.xml", [NV], "how fast the link between any two of its 2 sockets is; give speed=SYS:"),
        ("dgx1.xml", [NV, SYS, "boxes=2"], "how boxes are connected; give fabric=switch or fabric=rails"),
        ("dgx1.xml", [NV, SYS, "fabric=rails"], "fabric=rails joins boxes; give boxes=N"),
        ("dgx1.xml", [NV, "links=nvlink", "boxes=2", "fabric=rails"], "boxes cannot be joined: links=nvlink leaves out PCIe"),
        ("hopper_vm.xml", [NV], "how fast the PCIe link of 0000:10:00.0 (line 3) is; give speed=PCIE:"),
        ("hopper_vm.xml", [NV, "speed=PCIE:32GB/s", "boxes=2", "fabric=switch"], "the port eth0 (line 28) is; give speed=NET:"),
        ("dgx1.txt", ["links=nvlink"], "how fast one NVLink is; give speed=NV:"),
        ("dgx1.txt", [NV], "how fast these are: a link into the switch where paths of kind PIX meet (speed=PIX:BANDWIDTH), a link"),
        ("dgx1.txt", [NV, "speed=PIX:1GB/s", SYS, "boxes=2", "fabric=rails"], "how fast these are: the port of NIC0 (speed=NET:"),
        ("dgx1.txt", [NV, "nvlinks=switched"], "nvlinks=switched, but not every two GPUs show the same number"),
        ("dgx1.xml", [NV, SYS, "unit=100GB/s"], "units of 100 GB/s; allowed: 4.768e-05 to 15.7538"),
        ("dgx1.xml", ["speed=NV"], "expected KIND:BANDWIDTH"),
        ("dgx1.xml", [NV, SYS, "speed=Sys:1GB/s"], "speed of 'Sys'; allowed: NV, XGMI, PCIE, PIX, PXB, PHB, NODE, SYS, NET"),
        ("dgx1.xml", [NV, NV], "expected KIND:BANDWIDTH, once for each kind"),
        ("dgx1.xml", ["speed=NV:fast"], "bandwidth 'fast': expected a positive number with B/s or b/s"),
        ("dgx1.xml", ["boxes=0"], "boxes='0'; allowed: whole numbers from 1 to 4096"),
        ("dgx1.xml", ["fabric=mesh"], "fabric='mesh'; allowed: switch, rails"),
        ("dgx1.xml", ["links=pcie"], "links='pcie'; allowed: nvlink"),
        ("dgx1.xml", ["unit=1GB/s", "unit=2GB/s"], "option unit is given twice"),
        ("none.xml", [], "cannot read"),
    ],
)  # fmt: skip
def test_what_is_not_said_is_asked_for(name, options, asked):
    with pytest.raises(InputError) as caught:
        load(name, *options)
    assert asked in str(caught.value)
    assert "\n" not in str(caught.value)


BOMB = (
    '<?xml version="1.0"?><!DOCTYPE system [<!ENTITY a "aaaaaaaaaa">'
    + "".join(f'<!ENTITY {chr(98 + i)} "{f"&{chr(97 + i)};" * 10}">' for i in range(9))
    + ']><system version="1">&j;</system>'
)
GPU = '<pci busid="{0}"><gpu dev="{1}"><nvlink target="{2}" count="{3}" tclass="0x030200"/></gpu></pci>'


def box_xml(*gpus):
    return f"<system><cpu>{''.join(GPU.format(*gpu) for gpu in gpus)}</cpu></system>"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "not XML: no element found"),
        ("<system>", "not XML"),
        ("<graph/>", "the root is <graph>; an NCCL topology is a <system>"),
        (BOMB, "line 1: document types and entities are not read"),
        ('<!DOCTYPE system SYSTEM "file:///etc/passwd"><system/>', "document types and entities are not read"),
        ('<?xml version="1.0" encoding="klingon"?><system/>', "not XML"),
        (b"\xff\xfe<\x00s", "not XML"),
        (b'<system version="\xe9"/>', "not XML: not well-formed"),
        ("<system>" + "<pci>" * 100 + "</pci>" * 100 + "</system>", "nested deeper than 64"),
        ("<system>" + "<pci/>" * (1 << 17) + "</system>", "more than 131072 elements"),
        ("<system/>", "0 GPU(s); a box has at least 2"),
        ("<system><gpu dev='0'/></system>", "a <gpu> belongs into a <pci>"),
        ("<system><cpu><c2c bw='1'/></cpu></system>", "line 1: a <c2c> belongs into a <gpu>"),
        ("<system><cpu><ccd/></cpu></system>", "line 1: <ccd> is not understood; known: c2c, cpu, gpu, net, nic"),
        ("<system><cpu host_hash='0x1'/><cpu host_hash='0x2'/></system>", "describes 2 hosts; a box is one host"),
        (box_xml(("a", 0, "b", 1), ("b", 0, "a", 1)), "two GPUs have the same dev"),
        (box_xml(("a", 0, "b", 1), ("a", 1, "a", 1)), "two GPUs have the same busid"),
        (box_xml(("a", 0, "b", 1), ("b", 1, "c", 1)), "the target 'c' is not a GPU of this file"),
        (box_xml(("a", 0, "b", 2), ("b", 1, "a", 1)), "gpu 0 lists 2 NV links to gpu 1, which lists 1 back"),
        (box_xml(("a", 0, "a", 2), ("b", 1, "a", 1)), "gpu 1 lists 1 NV links to gpu 0, which lists 0 back"),
        (box_xml(("a", 0, "a", 2), ("b", 1, "b", 2)), "gpu 0 lists 2 NV links to gpu 0, itself; give nvlinks=none, or the pairs"),
        (box_xml(("a", 0, "b", 0), ("b", 1, "a", 0)), "count is '0'; allowed: whole numbers from 1 to 1024"),
        (box_xml(("a", "x", "b", 1), ("b", 1, "a", 1)), "dev is 'x'; allowed"),
        (box_xml(("", 0, "b", 1), ("b", 1, "a", 1)), "<pci> has no busid"),
    ],
)
def test_xml_that_is_refused(tmp_path, text, reason):
    file = tmp_path / "box.xml"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(TopologyError) as caught:
        parse_topology(f"{file},{NV},links=nvlink")
    assert reason in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "its contents are those of no kind of network file"),
        (b"GPU0\xff", "not the text of `nvidia-smi topo -m`"),
        ("GPU0 GPU1\nGPU0 X NV1\n", "0 entries for GPU1; expected 2"),
        ("GPU0 GPU1\nGPU0 X\nGPU1 NV1 X\n", "line 2: 1 entries for GPU0; expected 2"),
        ("GPU0 GPU1\nGPU0 X NV1\nGPU1 NV2 X\n", "GPU0 to GPU1 is NV1, but GPU1 to GPU0 is NV2"),
        ("GPU0 GPU1\nGPU0 X NV0\nGPU1 NV0 X\n", "GPU0 to GPU1 is 'NV0'; allowed: NV#, PIX, PXB, PHB, NODE, SYS"),
        ("GPU0 GPU1\nGPU0 NV1 NV1\nGPU1 NV1 X\n", "GPU0 to GPU0 is 'NV1'; allowed: X"),
        ("GPU0 GPU0\nGPU0 X X\n", "a device is named twice"),
        ("GPU0 NIC0\nGPU0 X PIX\nNIC0 PIX X\n", "1 GPU(s); a box has at least 2"),
        ("GPU0 GPU1 GPU2\nGPU0 X NV1 SYS\nGPU1 NV1 X SYS\nGPU2 SYS SYS X\n", "GPU2 shows 0 NVLinks, the others up to 1"),
    ],
)
def test_matrices_that_are_refused(tmp_path, text, reason):
    file = tmp_path / "topo.txt"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(TopologyError) as caught:
        parse_topology(f"{file},{NV},links=nvlink")
    assert reason in str(caught.value)


def test_huge_files_are_refused_unread(tmp_path):
    file = tmp_path / "huge.xml"
    with file.open("wb") as stream:
        stream.truncate(MAX_BYTES + 1)
    with pytest.raises(TopologyError, match="16777217 bytes; allowed: up to 16777216"):
        parse_topology(str(file))


def test_bandwidths():
    assert parse_bandwidth("25GB/s", "x") == 25 * 10**9
    assert parse_bandwidth("200Gb/s", "x") == parse_bandwidth("200Gbps", "x") == 25 * 10**9
    assert parse_bandwidth("15.75GB/s", "x") == Fraction(1575, 100) * 10**9


def test_other_links_between_accelerators(tmp_path):
    """XGMI, as RCCL writes it, with a speed of its own; an NVLink of a POWER processor ends at its socket."""
    file = tmp_path / "box.xml"
    xgmi = '<pci busid="{0}"><gpu dev="{1}"><xgmi target="{2}" count="2" tclass="0x038000"/></gpu></pci>'
    file.write_text(f"<system><cpu>{xgmi.format('a', 0, 'b')}{xgmi.format('b', 1, 'a')}</cpu></system>")
    with pytest.raises(TopologyError, match="give speed=XGMI:BANDWIDTH"):
        parse_topology(f"{file},links=nvlink")
    assert cables(parse_topology(f"{file},links=nvlink,speed=XGMI:50GB/s,unit=50GB/s")) == {("gpu0", "gpu1"): 2}
    power = '<pci busid="{0}"><gpu dev="{1}"><nvlink target="x" count="3" tclass="0x068001"/></gpu></pci>'
    file.write_text(f"<system><cpu numaid='8'>{power.format('a', 0)}{power.format('b', 1)}</cpu></system>")
    assert cables(parse_topology(f"{file},links=nvlink,{NV},unit=25GB/s")) == {("cpu8", "gpu0"): 3, ("cpu8", "gpu1"): 3}


@pytest.mark.parametrize("name", ["dgx1.xml", "dgx1.txt"])
def test_damaged_files_are_read_or_refused(tmp_path, name):
    """Bytes cut, doubled, moved and changed at random: a network or one line of error, nothing else."""
    intact, generator = (HERE / name).read_bytes(), random.Random(7)
    file = tmp_path / f"damaged{Path(name).suffix}"
    refusals = []
    for _ in range(80):
        data = bytearray(intact)
        for _ in range(generator.randint(1, 5)):
            at, length = generator.randrange(len(data)), generator.randint(1, 60)
            piece = data[at : at + length]
            change = generator.randrange(4)
            if change == 0:
                data[at] = generator.randrange(256)
            elif change == 1:
                del data[at : at + length]
            else:
                elsewhere = at if change == 2 else generator.randrange(len(data))
                data[elsewhere:elsewhere] = piece
        file.write_bytes(data)
        try:
            parse_topology(f"{file},{NV},links=nvlink")
        except InputError as error:
            refusals.append(str(error))
    assert 0 < len(refusals) < 80
    assert not any("\n" in text for text in refusals)
