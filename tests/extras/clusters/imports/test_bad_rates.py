"""Rates that are refused, by options and in files: one line, exit code 2."""

import json
from pathlib import Path

import pytest

from certree.models.network.network_files import save_topology
from certree.models.network.spec import parse_topology
from certree.models.network.topology_file import topology_document
from tests.cli.running import assert_bad_input, certree

HERE = Path(__file__).parent
H100, DGX1 = f"{HERE}/h100.txt,nvlinks=switched,links=nvlink", f"{HERE}/dgx1.xml"
BOX = f"{DGX1},speed=NV:25GB/s,speed=SYS:19.2GB/s"
NO_BANDWIDTH = ("0GB/s", "-5GB/s", "25", "25GB", "", "GB/s", "1e9B/s", "nanGB/s", "1/3GB/s", "25KiB/s")
FAR = "GB/s; allowed: the fastest up to 1048576 times the slowest"


@pytest.mark.parametrize("speed", NO_BANDWIDTH)
def test_speeds(speed):
    reason = f"speed=NV: bandwidth {speed!r}: expected a positive number with B/s or b/s, such as 25GB/s"
    for command in ("topology show", "bound", "synthesize"):
        assert_bad_input(certree(*command.split(), f"{H100},speed=NV:{speed}"), reason)


@pytest.mark.parametrize("unit", NO_BANDWIDTH)
def test_units_of_files(unit):
    reason = f"unit: bandwidth {unit!r}: expected a positive number with B/s or b/s"
    assert_bad_input(certree("bound", f"{H100},speed=NV:25GB/s,unit={unit}"), reason)


@pytest.mark.parametrize(
    ("unit", "reason"),
    [
        *((unit, f"bandwidth {unit!r}: expected a positive number") for unit in NO_BANDWIDTH if unit != "25"),
        ("0", "units of 0 GB/s; allowed: 0.0004292 to 25"),
        ("-1", "units of -25 GB/s; allowed: "),
        ("25", "units of 625 GB/s; allowed: "),
        ("26GB/s", "units of 26 GB/s; allowed: "),
        ("1KB/s", "units of 1e-06 GB/s; allowed: "),
    ],
)
def test_units_of_methods(unit, reason):
    outcome = certree("synthesize", "h100:1", "--method", "ring", "--option", f"unit={unit}")
    assert_bad_input(outcome, reason, notes=1)


def test_units_of_networks_without_bandwidth():
    for unit in ("1GB/s", "x", ""):
        outcome = certree("synthesize", "ring:4", "--method", "ring", "--option", f"unit={unit}")
        assert_bad_input(outcome, f"option unit={unit!r}; allowed: a part of a full link such as 1/4")
    for unit in ("0", "-1/4", "2", "1/9999999"):
        outcome = certree("synthesize", "ring:4", "--method", "ring", "--option", f"unit={unit}")
        assert_bad_input(outcome, "full links; allowed: 9.537e-07 to 1")


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ("speed=NV:999999999TB/s,speed=SYS:1B/s", f"links from 1e-09 to 2e+12 {FAR}"),
        ("speed=NV:50GB/s,speed=SYS:23B/s", f"links from 2.3e-08 to 100 {FAR}"),  # 2^31 and a little
        ("speed=NV:50GB/s,speed=SYS:10KB/s", f"links from 1e-05 to 100 {FAR}"),
        ("speed=NV:50GB/s,speed=SYS:65KB/s,unit=1KB/s", f"links from 6.5e-05 to 100 {FAR}"),
        ("speed=NV:25GB/s,speed=SYS:0.5B/s", "speed=SYS: bandwidth '0.5B/s'; allowed: from 1B/s"),
        ("speed=NV:25.123456789GB/s,speed=SYS:19.9GB/s", "common denominator 208000000000; allowed: at most 2147483647 units"),
    ],
)
def test_rates_far_apart(options, reason):
    for command in ("topology show", "bound", "synthesize"):
        assert_bad_input(certree(*command.split(), f"{DGX1},{options}"), reason)


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ('count="18"', 'count="0"', "line 5: count is '0'; allowed: whole numbers from 1 to 1024"),
        ('count="18"', 'count="-1"', "line 5: count is '-1'; allowed: "),
        ('count="18"', 'count="25GB/s"', "line 5: count is '25GB/s'; allowed: "),
        ("32.0 GT/s PCIe", "0.0 GT/s PCIe", "does not say how fast the PCIe link of 0000:1b:00.0 (line 3) is; give speed=PCIE:"),
        ("32.0 GT/s PCIe", "-32.0 GT/s PCIe", "line 3: link_speed is '-32.0 GT/s PCIe'; expected such as 16.0 GT/s PCIe"),
        ("32.0 GT/s PCIe", "32.0", "does not say how fast the PCIe link of 0000:1b:00.0 (line 3) is; give speed=PCIE:"),
    ],
)
def test_dumps(tmp_path, old, new, reason):
    path = tmp_path / "box.xml"
    path.write_text((HERE / "h100.xml").read_text().replace(old, new, 1))
    assert_bad_input(certree("bound", f"{path},speed=NV:25GB/s,speed=SYS:20GB/s"), reason)


@pytest.mark.parametrize("entry", ["NV0", "NV-1", "18", "NV1.5"])
def test_matrices(tmp_path, entry):
    path = tmp_path / "box.txt"
    path.write_text((HERE / "h100.txt").read_text().replace("NV18", entry, 1))
    reason = f"line 2: GPU0 to GPU1 is {entry!r}; allowed: NV#, PIX"
    assert_bad_input(certree("bound", f"{path},speed=NV:25GB/s,nvlinks=switched,links=nvlink"), reason)


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        *(("bandwidth", value, f"bandwidth is {value!r}; allowed: whole numbers from 1") for value in (0, -5, "25GB/s", 2.5)),
        *(("unit", value, f"unit is {value!r}; expected a string") for value in ("0", "-1", "1GB/s", 1)),
        *(("capacity", value, f"capacity: entry 0 is {value!r}; allowed: ") for value in (0, -1, "0", "-1/2", "25GB/s", 1 << 31)),
        ("capacity", "1/4000000000", "links.capacity: common denominator 52000000000; allowed: at most 2147483647 units per link"),
        ("capacity", 1 << 20, f"links from 15.7538 to 1.67772e+07 {FAR}"),
    ],
)
def test_json(tmp_path, name, value, reason):
    document, path = topology_document(parse_topology(BOX)), tmp_path / "box.json"
    if name == "capacity":
        document["links"][name][0] = value
    else:
        (document if name == "bandwidth" else document["links"])[name] = value
    path.write_text(json.dumps(document))
    assert_bad_input(certree("bound", path), reason)


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        *((">64/65<", f">{value}<", "; allowed: a whole number from 1 to 1048576") for value in ("0", "-1", "1GB/s")),
        (">64/65<", ">1/99999999<", "common denominator 7999999920; allowed: at most 2147483647 units per link"),
        (">16000000000<", ">0<", "bandwidth is 0; allowed: whole numbers from 1"),
        (">16000000000<", ">-1<", "bandwidth is -1; allowed: whole numbers from 1"),
        (">16000000000<", ">16GB/s<", "not GraphML: "),
    ],
)
def test_graphml(tmp_path, old, new, reason):
    path = tmp_path / "box.graphml"
    save_topology(parse_topology(BOX), path)
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    assert_bad_input(certree("bound", path), reason)
