"""Seconds and GB/s next to cycles, and the machine of a network that states how fast its links are."""

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from certree.api.reports.text import clock_times, rate_words, seconds_words
from certree.api.settings import machine_for
from certree.models.machine.machine import load_machine
from certree.models.machine.speeds import contradiction, default_machine, with_speeds_of
from certree.models.network.spec import parse_topology
from tests.cli.artefacts import schedule_file, without_first_transfer
from tests.cli.running import assert_bad_input, certree, json_of

MULTITREE = load_machine("multitree")
IMPORTS = Path(__file__).parents[1] / "extras/clusters/imports"
A100 = f"{IMPORTS}/a100.txt,speed=NV:25GB/s,nvlinks=switched,links=nvlink"


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        ("1/1000", "1 ms"),
        ("391975/1000000000", "392 µs"),
        ("2", "2 s"),
        ("3/1000000000", "3 ns"),
        (0, "0 ns"),
        ("9999/10000", "999.9 ms"),
    ],
)
def test_seconds(seconds, words):
    assert seconds_words(seconds) == words


def test_exact():
    assert clock_times(3, 6, MULTITREE) == {"seconds": "3/1000000000", "bytes_per_second": "2000000000"}
    assert clock_times(None, 6, MULTITREE) == {"seconds": None, "bytes_per_second": None}
    assert clock_times(0, 6, MULTITREE) == {"seconds": "0", "bytes_per_second": None}
    assert rate_words("2000000000") == "2 GB/s"


def test_every_command_has_seconds(tmp_path):
    """synthesize, verify, simulate, compare, and bound with a size: the cycles over the clock, the message over that."""
    file = schedule_file(tmp_path, size="1MiB")
    documents = [
        certree("verify", file, "--json").document,
        certree("simulate", file, "--json").document,
        *certree("compare", "ring:4", "--size", "1MiB", "--methods", "ring", "--json").document["cells"],
        certree("bound", "ring:4", "--size", "1MiB", "--json").document,
    ]
    for document in documents:
        cycles = next(document[name] for name in ("time_cycles", "cycles", "time_bound_cycles") if name in document)
        assert Fraction(document["seconds"]) == Fraction(cycles, 10**9)
        assert Fraction(document["bytes_per_second"]) == Fraction((1 << 20) * 10**9, cycles)
    made, run, cell, least = documents
    assert made["time_cycles"] == run["cycles"] == cell["time_cycles"] == cell["simulated_cycles"]
    assert made["time_bound_cycles"] <= made["time_cycles"]
    assert made["time_bound_seconds"] == cell["time_bound_seconds"] == least["time_bound_seconds"] == least["seconds"]
    assert least["time_bound_cycles"] == made["time_bound_cycles"] == 158 + 1 + Fraction(3, 4) * (1 << 20) / 16
    assert "109,503 cycles (109.5 µs, algbw 9.576 GB/s, busbw 14.36 GB/s) for 1 MiB" in certree("verify", file).out
    assert "time: 109.5 µs, algbw 9.576 GB/s, busbw 14.36 GB/s on machine multitree" in certree("simulate", file).out
    assert (
        "time ≥ 49,311 cycles (49.31 µs, algbw 21.26 GB/s, busbw 31.9 GB/s) for 1 MiB, machine multitree"
        in certree("bound", "ring:4", "--size", "1MiB").out
    )


@pytest.mark.parametrize(("spec", "links"), [("ring:6", 3), ("full:4", 1), ("switch:3", 2), ("mesh:2x3,capacity=1/2", 3)])
def test_least_time_of_a_byte(spec, links):
    """Where bandwidth counts for nothing, the farthest nodes do, and an addition; no run of a small message is faster."""
    flit = parse_topology(spec).scale
    flits = 3 if spec == "switch:3" else 2  # a header, and what a link takes: of two others there
    ran = certree("synthesize", spec, "--size", "16B", "--json").document
    assert ran["time_bound_cycles"] == 2 + 3 * (links + 1) + 150 * links + flits * flit + 17 <= ran["time_cycles"]
    assert Fraction(ran["time_over_bound"]) == Fraction(ran["time_cycles"], ran["time_bound_cycles"])


def test_time_bounds_in_seconds(tmp_path):
    """Seconds are by the clock of a network that states the speed of its links; null of an invalid schedule, absent without a
    size."""
    odd = f"{IMPORTS}/a100.txt,speed=NV:7.654321GB/s,nvlinks=switched,links=nvlink"
    clock = with_speeds_of(parse_topology(odd), MULTITREE).clock_hz
    made = json_of("synthesize", odd, "--method", "ring", "--collective", "all-gather", "--size", "1MiB")
    (cell,) = json_of("compare", odd, "--methods", "ring", "--collective", "all-gather", "--size", "1MiB")["cells"]
    least = json_of("bound", odd, "--collective", "all-gather", "--size", "1MiB")
    for document in (made, cell, least):
        assert Fraction(document["time_bound_seconds"]) == Fraction(document["time_bound_cycles"], clock)
    assert "time_bound_seconds" not in json_of("bound", odd)
    broken = json_of("verify", without_first_transfer(schedule_file(tmp_path)), code=1)
    assert (broken["valid"], broken["time_bound_cycles"], broken["time_bound_seconds"]) == (False, None, None)


def test_network_with_speeds():
    """8 GPUs with 12 NVLinks of 25 GB/s each into switches: 7/4 of 64 MiB over 300 GB/s are 0.391 ms."""
    told = certree("synthesize", A100, "--method", "packing", "--json")
    document = told.document
    assert document["machine"] == "multitree at 25 GB/s"
    least = Fraction(7, 4) * (1 << 26) / (300 * 10**9)
    assert least < Fraction(document["seconds"])
    assert "timed with 25 GB/s for a link of capacity 1, as the network states; latencies are of multitree" in told.err
    assert "(391.8 µs" in certree("bound", A100, "--size", "64MiB").out


def test_machines_of_boxes():
    """A family, and an import of which its machine was assumed, are timed on the preset of that name."""
    family = json_of("synthesize", "a100:1", "--method", "ring", "--size", "1MiB")
    assumed = json_of("synthesize", f"{IMPORTS}/a100.txt,assume=a100,links=nvlink", "--method", "ring", "--size", "1MiB")
    assert (family["machine"], assumed["machine"]) == ("a100", "a100")
    assert (family["seconds"], family["gap"]) == (assumed["seconds"], assumed["gap"])
    told = list[str]()
    assert machine_for(parse_topology("mi300x"), None, told.append).name == "mi300x"
    assert told == ["timed with 2 GB/s for a link of capacity 1, as the network states; latencies are of mi300x"]


#: GB/s of a link of capacity 1, links to a neighbour, nanoseconds of a message there without its bytes, GB/s that are added
PRESETS = {
    "a100": (25, 2, 600, 679), "h100": (25, 2, 600, 1116), "b200": (50, 2, 600, 2666), "nvl72": (50, 2, 600, 2666),
    "mi250": (2, 1, 600, 546), "mi300x": (2, 1, 600, 1766), "tpu-v4": (50, 1, 1000, 400), "tpu-v5p": (100, 1, 1000, 921),
    "tpu7x": (100, 1, 1000, 2460), "trainium2": (160, 1, 1000, 966), "infiniband-ndr": (50, 2, 5000, 1116),
    "roce-400g": (50, 2, 5000, 1116),
}  # fmt: skip


@pytest.mark.parametrize("name", PRESETS)
def test_presets_of_machines(name):
    machine, (link, hops, path, added) = load_machine(name), PRESETS[name]
    waited = 2 * machine.ni_cycles + (hops + 1) * machine.router_cycles + hops * machine.link_latency_cycles
    assert (machine.clock_hz, machine.flit_bytes, waited, machine.reduce_bytes_per_cycle) == (10**9, link, path, added)
    assert machine.packet_payload_bytes % machine.flit_bytes == 0
    assert machine.vc_buffer_flits > 2 * (machine.link_latency_cycles + machine.router_cycles)


@pytest.mark.parametrize(("name", "machine"), [("h100.json", "multitree"), ("h100-lab.json", "multitree"), ("h100", "h100")])
def test_a_file_is_no_box_by_its_name(name, machine):
    found = replace(parse_topology("h100"), name=f"{name},without-link=0-8" if machine == "multitree" else name)
    assert default_machine(found, "multitree").name.split()[0] == machine


def test_contradiction():
    reason = "contradict each other: the topology states links of 25 GB/s, the machine 16 GB/s"
    for line in (
        ("synthesize", A100),
        ("compare", A100),
        ("bound", A100, "--size", "1MiB"),
        ("inject", A100, "--traffic", "uniform"),
    ):
        assert_bad_input(certree(*line, "--params", "multitree"), reason)


def test_machine_of_speeds():
    """Flits as wide as a link at the clock; a reduction unit that keeps up; a clock just below where no flit fits exactly."""
    topology = parse_topology(A100)
    fast = with_speeds_of(topology, MULTITREE)
    assert (fast.flit_bytes, fast.clock_hz, fast.reduce_bytes_per_cycle, fast.packet_payload_bytes) == (25, 10**9, 300, 400)
    assert with_speeds_of(topology, fast) is fast
    assert with_speeds_of(parse_topology("ring:4"), MULTITREE) is MULTITREE
    odd = parse_topology(f"{IMPORTS}/a100.txt,speed=NV:7.654321GB/s,nvlinks=switched,links=nvlink")
    slow = with_speeds_of(odd, MULTITREE)
    assert (slow.flit_bytes, slow.clock_hz) == (8, 7654321000 // 8)
    assert contradiction(odd, slow) is None
    finer = parse_topology(f"{A100},unit=1GB/s")
    assert with_speeds_of(finer, MULTITREE) == fast


def test_cost_says_what_its_default_is():
    default = certree("cost", "ring:4", "--methods", "ring").err
    assert default.startswith("priced for a cluster of 10 Gb/s Ethernet servers (gentree")
    assert "10 Gb/s" not in certree("cost", "ring:4", "--methods", "ring", "--params", "gentree").err
    assert (
        "states 25 GB/s for a link of capacity 1; costs are those of gentree whatever it states"
        in certree("cost", A100, "--methods", "cps").err
    )
