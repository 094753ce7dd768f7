"""A box of 8 H100s by its family, by `nvidia-smi topo -m` and by a dump of NCCL: one network, the same bounds, the same times."""

import re
from dataclasses import dataclass
from pathlib import Path

import pytest

import certree.api as ct
from certree.api.settings import machine_for
from certree.models.machine.machine import load_machine
from certree.models.network.spec import parse_topology

HERE = Path(__file__).parent
PAGE = Path(__file__).parents[4] / "docs" / "benchmarks" / "boxes.md"
SPEED = "assume=h100,links=nvlink"
FAMILY, MATRIX, DUMP, FOUR = "h100:1", f"h100.txt,{SPEED}", f"h100.xml,{SPEED}", f"h100_planes.xml,{SPEED}"
SIZE = "64MiB"
METHODS = ("ring:channels=1", "ring", "halving-doubling", "direct", "packing")


def network(name):
    return name if name == FAMILY else str(HERE / name)


@dataclass(frozen=True)
class Measured:
    """Bounds, in M/B and cycles, and cycles of METHODS with the options that were added."""

    bandwidth: str
    time: int
    cycles: tuple[int, ...]
    options: tuple[str, ...]

    def row(self, name):
        """The line of the page."""
        return f"| `{name}` | {self.bandwidth} | {self.time:,} | " + " | ".join(f"{cycles:,}" for cycles in self.cycles) + " |"


def measured(name):
    found = ct.bound(network(name), size=SIZE)
    cells = ct.compare(network(name), sizes=[SIZE], methods=METHODS, run=None).cells
    added = tuple(cell.get("options", {}).get("channels", "") for cell in cells)
    return Measured(str(found.bandwidth), found.time_cycles, tuple(cell["time_cycles"] for cell in cells), added)


@pytest.fixture(scope="module")
def family():
    return measured(FAMILY)


@pytest.mark.parametrize("modifier", ["", ",reducing=switches"])
@pytest.mark.parametrize("name", [MATRIX, DUMP])
def test_one_network(name, modifier):
    """Nodes, links, capacities and marks (the digest), speeds, and thus the machine."""
    own, imported = parse_topology(FAMILY + modifier), parse_topology(network(name) + modifier)
    assert (imported.digest, imported.bandwidth, imported.clock) == (own.digest, own.bandwidth, own.clock)
    assert imported.rates is None
    assert machine_for(imported, None) == machine_for(own, None) == load_machine("h100")


def test_the_machine_by_name(family):
    """What states the speed alone is the same network, and the machine has to be named."""
    stated = f"{HERE / 'h100.xml'},speed=NV:25GB/s,links=nvlink"
    cells = ct.compare(stated, sizes=[SIZE], methods=["ring"], run=None, machine="h100").cells
    assert cells[0]["time_cycles"] == family.cycles[1]
    assert machine_for(parse_topology(stated), None).name == "multitree at 25 GB/s"


@pytest.mark.parametrize("name", [MATRIX, DUMP])
def test_one_time(family, name):
    assert measured(name) == family
    assert family.options == ("", "18", "18", "18", "")


@pytest.mark.parametrize("unit", ["1/2", "5GB/s"])
def test_bounds_whatever_the_unit(family, unit):
    """The unit is of schedules; bounds are of the links."""
    made = ct.synthesize(FAMILY, method="ring", options={"unit": unit, "channels": 18}, size=SIZE)
    assert made.topology.scale > 1
    found = ct.bound(made.topology, size=SIZE)
    assert (str(found.bandwidth), found.time_cycles) == (family.bandwidth, family.time)


def test_four_switches(family):
    """5, 4, 4 and 5 links to four NVSwitches are another graph: the bounds and rings are the same; where many messages meet, routes
    over four switches are not as even."""
    four = measured(FOUR)
    assert (four.bandwidth, four.time, four.options) == (family.bandwidth, family.time, family.options)
    assert four.cycles[:3] == family.cycles[:3]
    assert all(own <= other < own * 8 / 7 for own, other in zip(family.cycles, four.cycles, strict=True))


def test_the_page(family):
    rows = [family.row(name) for name in (FAMILY, MATRIX, DUMP)] + [measured(FOUR).row(FOUR)]
    text = PAGE.read_text()
    assert [row for row in rows if row not in text] == []
    assert re.findall(r"\| `ring:channels=1`.*", text) == [
        f"| `{METHODS[0]}` | " + " | ".join(f"`{name}`" for name in METHODS[1:]) + " |"
    ]
