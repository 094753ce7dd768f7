"""Targets of reproduce that are computed from closed forms: NetReduce's Fig. 19 and ACE's Fig. 5."""

from fractions import Fraction
from importlib import resources

import pytest

from certree.models.cost.netreduce import least_ratio_over_ring
from tests.cli.running import assert_bad_input, certree


def cells_of(name, *arguments):
    outcome = certree("reproduce", str(name), "--json", *arguments)
    assert outcome.code == 0
    return {(cell["row"], cell["column"]): cell for cell in outcome.document["cells"]}


def changed(tmp_path, name, old, new):
    text = (resources.files("certree.cli.targets") / f"{name}.toml").read_text()
    assert old in text
    path = tmp_path / "mine.toml"
    path.write_text(text.replace(old, new))
    return path


def test_machines():
    cells = cells_of("netreduce-fig19")
    # Equation (1): 62 start-ups of a microsecond, 62/32 of the message at 12.5 GB/s
    assert Fraction(cells["size: 100 MB", "flat ring"]["ours"]) == Fraction(62, 1000) + Fraction(62, 32) * 8
    # Equation (3): 15 start-ups, 14/8 of the message at 150 GB/s, all of it at 12.5 GB/s
    assert Fraction(cells["GPUs: 2048", "NetReduce 150 GB/s"]["ours"]) == Fraction(15, 1000) + Fraction(7, 6) + 8
    assert cells["never slower than the flat ring, by size and GPUs", "NetReduce 15.75 GB/s"]["ours"] == "no"
    assert cells["never slower than the flat ring, by size and GPUs", "NetReduce 64 GB/s"]["agrees"]
    suffices = cells["inside over between that suffices, Equation 6", "NetReduce 15.75 GB/s"]
    assert (Fraction(suffices["ours"]), suffices["agrees"]) == (least_ratio_over_ring(32, 8)[1], False)
    assert "2.29" in suffices["why"]


def test_a_narrower_link_inside_changes_who_wins(tmp_path):
    cells = cells_of(changed(tmp_path, "netreduce-fig19", '"64e9"', '"20e9"'))
    assert cells["never slower than the flat ring, by size and GPUs", "NetReduce 20 GB/s"]["ours"] == "no"


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ('gpus = ["32"', 'gpus = ["33"', "gpus has 33; expected several whole machines of 8"),
        ('gpus = ["32"', 'gpus = ["0.5"', "gpus has '0.5'; expected a whole number"),
        ('between = "12.5e9"', 'between = "0"', "between has '0'; expected a number above 0, in quotes"),
        ('between = "12.5e9"', 'betwixt = "12.5e9"', "between is missing"),
    ],
)
def test_bad_machines(tmp_path, old, new, reason):
    assert_bad_input(certree("reproduce", str(changed(tmp_path, "netreduce-fig19", old, new))), reason)


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
    cells = cells_of(changed(tmp_path, "ace-fig5", 'core_read_bytes_per_second = "12.8e9"', 'core_read_bytes_per_second = "32e9"'))
    assert not all(cell["agrees"] for cell in cells.values() if cell["paper"] is not None)


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ('params = "ace"', 'params = "gentree"', "params are of another model; expected certree-ace"),
        ('cores = ["1"', 'cores = ["0"', "expected whole numbers from 1"),
        ('link_bytes_per_second = "75e9"', 'link_bytes_per_second = "0"', "link_bytes_per_second is 0; expected a number above 0"),
        ('link_bytes_per_second = "75e9"', 'link_bytes = "75e9"', "unknown field 'link_bytes'"),
        ('method = "ring-2d"', 'method = "none"', "unknown method 'none'"),
    ],
)
def test_bad_cores(tmp_path, old, new, reason):
    assert_bad_input(certree("reproduce", str(changed(tmp_path, "ace-fig5", old, new))), reason)


def test_a_network_that_the_method_does_not_cover_has_a_reason(tmp_path):
    outcome = certree("reproduce", str(changed(tmp_path, "ace-fig5", 'network = "torus:4x4"', 'network = "switch:8"')))
    assert outcome.code == 2
    assert "ring-2d" in outcome.err
