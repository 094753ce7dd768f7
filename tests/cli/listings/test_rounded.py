"""Every answer about a schedule that uses link rates in part says so, and bounds are of the rates described."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from certree.models.network.network_files import save_topology
from certree.models.network.rates import Rates
from certree.models.network.spec import parse_topology
from tests.cli.running import certree

BOX = Path(__file__).parents[2] / "extras" / "clusters" / "imports" / "dgx1.xml"
ROUNDED, EXACT = f"{BOX},speed=NV:25GB/s,speed=SYS:19.2GB/s", f"{BOX},speed=NV:25GB/s,links=nvlink"
LINE = (
    "  rounded: 3 rates: 16 links from 50 GB/s to 47.26 GB/s, 16 links from 25 GB/s to 15.75 GB/s,"
    " 2 links from 19.2 GB/s to 15.75 GB/s (unit 15.75 GB/s); bounds are of the rates described"
)
ASKED = [
    ("synthesize", "--method", "multitree", "--size", "64KiB"),
    ("compare", "--size", "64KiB", "--methods", "multitree", "--simulate", "none"),
    ("topology show",),
]


def answer(command: str, network: str | Path, *options: str) -> str:
    outcome = certree(*command.split(), network, *options)
    assert outcome.code == 0, outcome.err
    return outcome.out


@pytest.mark.parametrize("asked", ASKED, ids=" ".join)
def test_answers_about_a_network(asked: tuple[str, ...]) -> None:
    command, *options = asked
    assert LINE in answer(command, ROUNDED, *options).splitlines()
    assert "rounded" not in answer(command, EXACT, *options)
    found = json.loads(answer(command, ROUNDED, *options, "--json"))["rounded"]
    assert [rate["links"] for rate in found["rates"]] == [16, 16, 2]
    assert "rounded" not in json.loads(answer(command, EXACT, *options, "--json"))


def test_answers_about_files(tmp_path: Path) -> None:
    """The converted network, and a schedule for it, still say so: nothing is left of the name of the imported file's options."""
    network, schedule, certified = tmp_path / "box.json", tmp_path / "s.json", tmp_path / "c.json"
    answer("topology convert", BOX, "--speed", "NV=25GB/s", "--speed", "SYS=19.2GB/s", "-o", str(network))
    converted, imported = (json.loads(answer("bound", name, "--size", "1MiB", "--json")) for name in (network, ROUNDED))
    assert converted == imported
    assert "rounded" not in answer("bound", network)
    assert LINE in answer("synthesize", network, "--method", "multitree", "--size", "64KiB", "-o", str(schedule)).splitlines()
    assert LINE in answer("verify", schedule).splitlines()
    assert LINE in answer("certify", schedule, "-o", str(certified)).splitlines()


TWO = parse_topology("ring:2,capacity=2")
SMALL = replace(TWO, bandwidth=2 * 10**9, rates=Rates(np.array([5, 5]), 2))


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """SMALL in a file."""
    save_topology(SMALL, tmp_path / "small.json")
    return tmp_path / "small.json"


def test_frontier(small: Path) -> None:
    asked = ("frontier", small, "--collective", "all-gather", "--max-chunks", "1")
    (line,) = (line for line in answer(*asked).splitlines() if line.startswith("  rounded: 1 rate: 2 links from "))
    assert line.endswith("; what follows is about whole units")
    assert json.loads(answer(*asked, "--json"))["rounded"] == SMALL.rounded.document()


@pytest.mark.parametrize("more", [(), ("--dry-run",)])
def test_sweep(small: Path, more: tuple[str, ...]) -> None:
    """A sweep has several networks: each is named with what was rounded."""
    specification = small.with_name("spec.toml")
    specification.write_text(f'networks = ["{small}", "ring:3"]\nsizes = ["1KiB"]\nmethods = ["ring"]\nruns = ["none"]\n')
    asked = ("sweep", specification, "-o", str(small.with_name("out")), "--workers", "1", *more)
    told = next(line for line in answer(*asked).splitlines() if "rounded" in line)
    assert told.startswith(f"  {small}: rounded: 1 rate: 2 links")
    assert json.loads(answer(*asked, "--json"))["rounded"] == {str(small): SMALL.rounded.document()}


def test_tuning(small: Path, tmp_path: Path) -> None:
    out = answer("tune", small, "--from", "1KiB", "--to", "1KiB", "-o", str(tmp_path / "t"))
    assert "  rounded: 1 rate: 2 links from " in out
    assert json.loads((tmp_path / "t" / "table.json").read_text())["rounded"] == SMALL.rounded.document()


def test_fewest_steps_are_about_whole_units(tmp_path: Path) -> None:
    """With links of 3/2 full links, which halves divide, fewer steps may do."""
    network = replace(parse_topology("ring:2"), rates=Rates(np.array([3, 3]), 2))
    save_topology(network, tmp_path / "n.json")
    asked = (
        "synthesize",
        tmp_path / "n.json",
        "--collective",
        "all-gather",
        "--method",
        "exact",
        "--chunks",
        "6",
        "--size",
        "1MiB",
    )
    assert "  steps: 3 for 6 chunks, proved to be the fewest in whole units (bound)" in answer(*asked).splitlines()
