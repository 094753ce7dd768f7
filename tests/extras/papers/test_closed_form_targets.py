"""Targets of reproduce that are computed from closed forms: NetReduce's Fig. 19 and ACE's Fig. 5."""

from fractions import Fraction

import pytest

from certree.extras.costs.model.formulas.netreduce import least_ratio_over_ring
from tests.extras.papers.cells import cells_of, published


@pytest.fixture(scope="module")
def machines():
    return cells_of("netreduce-fig19", "--smoke")


def test_machines(machines):
    cells = machines
    # Equation (1): 62 start-ups of a microsecond, 62/32 of the message at 12.5 GB/s
    assert Fraction(cells["size: 10 MB", "flat ring"]["ours"]) == Fraction(62, 1000) + Fraction(62, 32) * Fraction(8, 10)
    # Equation (3): 15 start-ups, 14/8 of the message at 150 GB/s, all of it at 12.5 GB/s
    assert Fraction(cells["size: 10 MB", "NetReduce 150 GB/s"]["ours"]) == Fraction(15, 1000) + Fraction(7, 60) + Fraction(8, 10)
    assert cells["never slower than the flat ring, by size and GPUs", "NetReduce 15.75 GB/s"]["ours"] == "no"
    assert cells["never slower than the flat ring, by size and GPUs", "NetReduce 64 GB/s"]["agrees"]
    suffices = cells["inside over between that suffices, Equation 6", "NetReduce 15.75 GB/s"]
    assert (Fraction(suffices["ours"]), suffices["agrees"]) == (least_ratio_over_ring(32, 8)[1], False)
    assert "2.29" in suffices["why"]


def test_machines_simulated(machines):
    """What makes the simulation longer than the closed forms, to the cycle."""
    cells = machines
    flit = Fraction(64, 12_500_000)  # milliseconds
    packets = -(-(10**7) // 4096)
    # the way there and back: two links of half a microsecond each, whole cycles, and three flits' worth of switch: 65 there, an
    # addition, 65 back; results follow each other a packet apart
    half = -(-Fraction(1, 2000) // flit)
    single = (2 * half + 2 * 65 + 1 + (packets - 1) * 65) * flit
    assert Fraction(cells["size: 10 MB, simulated", "single NetReduce"]["ours"]) == single
    for column in ("NetReduce 15.75 GB/s", "NetReduce 150 GB/s", "single NetReduce"):
        assert Fraction(cells["GPUs: most over least, simulated", column]["ours"]) == 1
        assert 1 < Fraction(cells["size: simulated over closed form, most", column]["ours"]) < Fraction(103, 100)
    racks = Fraction(cells["size: 10 MB, simulated", "racks, NetReduce 150 GB/s"]["ours"])
    # one more level: two more links, two more packets, another addition
    assert racks - Fraction(cells["size: 10 MB, simulated", "NetReduce 150 GB/s"]["ours"]) == (2 * half + 2 * 65 + 1) * flit
    ring = Fraction(cells["size: 10 MB, simulated", "flat ring"]["ours"])
    # 62 steps of a chunk behind a head, a link of a microsecond, and in half of them an addition, which slots all wait for
    step = 1 + -(-(10**7) // (32 * 64)) + -(-Fraction(1, 1000) // flit)
    assert 62 * step * flit <= ring <= 62 * (step + 1) * flit


def test_a_narrower_link_inside_changes_the_winner(tmp_path):
    narrow = ('"15.75e9", "32e9", "64e9", "150e9"', '"20e9"'), ("most_in_ring = 2048", "most_in_ring = 32")
    cells = cells_of(published(tmp_path, "netreduce-fig19", *narrow), "--smoke")
    for simulated in ("", ", simulated"):
        assert cells["never slower than the flat ring, by size and GPUs" + simulated, "NetReduce 20 GB/s"]["ours"] == "no"
    assert cells["GPUs: 64, simulated", "flat ring"]["ours"] is None
    assert "only up to 32 GPUs are simulated" in cells["GPUs: 64, simulated", "flat ring"]["reason"]
    assert cells["GPUs: 32, simulated", "flat ring"]["ours"] is not None


def test_cores():
    cells = cells_of("ace-fig5")
    # twelve steps of 2 microseconds; 18/16 of the 16 MB at 64 GB/s a core and 4 cores; 3/4 of it at 95 % of 25 GB/s
    assert Fraction(cells["(a) baseline: latency", "4"]["ours"]) == 24
    assert Fraction(cells["(a) baseline: links", "4"]["ours"]) == Fraction(12 * 10**6, 25000) / Fraction(19, 20)
    assert Fraction(cells["(c) and 12.8 GB/s of reads a core: loads", "4"]["ours"]) == 5 * Fraction(
        cells["(b) links three times as fast: loads", "4"]["ours"]
    )
    assert all(cell["agrees"] for cell in cells.values() if cell["paper"] is not None)


def test_another_endpoint_does_not_agree(tmp_path):
    faster = ('core_read_bytes_per_second = "12.8e9"', 'core_read_bytes_per_second = "32e9"')
    cells = cells_of(published(tmp_path, "ace-fig5", faster))
    assert not all(cell["agrees"] for cell in cells.values() if cell["paper"] is not None)
