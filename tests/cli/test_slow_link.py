"""A 6×6 torus with two dead links and one link of half the speed: every command, and times in units of a full link."""

from fractions import Fraction

import pytest

from certree.models.machine.machine import load_machine
from certree.models.network.spec import parse_topology
from certree.models.schedule.timing import schedule_cycles, slotted
from tests.cli.running import certree
from tests.synth.execution import make

NETWORK = "torus:6x6,without-link=0-1,without-link=14-20,link-capacity=3-4:1/2"


@pytest.fixture(scope="module")
def schedule(tmp_path_factory):
    path = tmp_path_factory.mktemp("slow") / "best.json"
    made = certree("synthesize", NETWORK, "--size", "10MB", "--method", "packing", "-o", path)
    assert made.code == 0, made
    return path


def test_bound():
    """140 directed links are left, 2 of them count half: 2·35 messages a chunk over 139 full links."""
    found = certree("bound", NETWORK, "--json").document
    assert found["bandwidth_bound"] == str(Fraction(2 * 35, 139))
    assert found["scale"] == 2
    assert "bandwidth time ≥ 0.5036 (70/139) M/B" in certree("bound", NETWORK).out


def test_schedule(schedule):
    report = certree("verify", schedule, "--json").document
    assert (report["valid"], report["bandwidth_time"], report["bandwidth_bound"]) == (True, "70/139", "70/139")
    assert report["optimal_in"] == ["bandwidth"]
    least = Fraction(70, 139) * 10**7 / load_machine("multitree").flit_bytes
    assert 1 < report["time_cycles"] / least < Fraction(11, 10)


def test_tables_and_runs(schedule, tmp_path):
    assert certree("export", schedule, "-o", tmp_path / "tables").code == 0
    told = certree("verify", tmp_path / "tables", "--json").document
    assert (told["valid"], told["bandwidth_time"]) == (True, "70/139")
    for engine in ("fast", "lanes"):
        run = certree("simulate", tmp_path / "tables", "--engine", engine, "--size", "100KiB", "--json").document
        assert run["data_ok"]
        assert run["cycles"] == run["closed_form_cycles"]
        assert run["contention_cycles"] == run["late"] == 0


def test_picture(tmp_path):
    """The slow link in its colour, with its capacity in hint and legend; the dead ones dashed."""
    assert certree("topology", "show", NETWORK, "-o", tmp_path / "net.svg").code == 0
    picture = (tmp_path / "net.svg").read_text()
    assert "3 - 4: capacity 1/2" in picture
    assert picture.count(">capacity 1/2<") == 1
    assert "stroke-dasharray" in picture
    shown = certree("topology", "show", NETWORK, "--json").document
    assert shown["capacity"] == 139
    assert shown["capacities"] == {"1/2": 2, "1": 138}
    assert "  links below full speed: 2 of capacity 1/2\n" in certree("topology", "show", NETWORK).out


def test_compared_with_ring():
    """The ring keeps off the slow link, and a message fills a full link: 35/18 M/B, as without a slow link."""
    found = certree("compare", NETWORK, "--size", "1MB", "--methods", "packing,ring,multitree", "--json").document
    times = {cell["method"]: cell for cell in found["cells"]}
    assert times["ring"]["bandwidth_time"] == "35/18"
    assert times["packing"]["time_cycles"] < times["multitree"]["time_cycles"] < times["ring"]["time_cycles"]
    for cell in times.values():
        assert cell["time_cycles"] == cell["simulated_cycles"]
        assert Fraction(cell["bound_cycles"]) == Fraction(70, 139) * 10**6 / 16
        assert Fraction(cell["time_over_bound"]) > 1


def test_one_scale_is_another_machine():
    """All links at half speed take as long as all full links of flits half as wide, headers as long in bytes."""
    machine = load_machine("multitree")
    half = make("ring", "mesh:2x3,capacity=1/2")
    plan, timing = slotted(half, 1 << 20, machine)
    assert timing.ser == 2 * (machine.head_flits + timing.chunk_bytes // machine.flit_bytes)
    full = slotted(make("ring", "mesh:2x3"), 1 << 20, machine)
    ratio = schedule_cycles(plan, timing, machine) / schedule_cycles(*full, machine)
    assert 1.9 < ratio < 2.1


def test_scale_of_the_network():
    assert parse_topology(NETWORK).scale == 2
