"""The matrix method x network: complete, every cell judged or refused with a reason, and as `synth/MATRIX.md` says."""

from pathlib import Path

import pytest

from certree.cli.reproduce.matrix import LEFT_OUT, NETWORKS, empty_lines, gap_lines, matrix_cell, methods
from certree.models.machine.machine import load_machine
from certree.models.network.families import load_families
from certree.models.network.spec import parse_topology
from certree.models.schedule.collective import parse_collective
from certree.synth.method import Request, load_methods
from certree.verify.checker import verify_schedule

TABLE = Path(__file__).parents[2] / "synth" / "MATRIX.md"


def written():
    """method -> cells, of the first table in the file."""
    lines = TABLE.read_text().splitlines()
    start = next(index for index, line in enumerate(lines) if line.startswith("| method |"))
    assert [cell.strip() for cell in lines[start].strip("|").split("|")][1:] == list(NETWORKS)
    rows = {}
    for line in lines[start + 2 :]:
        if not line.startswith("|"):
            break
        name, *cells = (cell.strip() for cell in line.strip("|").split("|"))
        rows[name] = cells
    return rows


def test_every_method_is_in_it():
    assert sorted(written()) == methods()
    assert set(methods()) | set(LEFT_OUT) == set(load_methods())
    shown = {spec.partition(":")[0].partition(",")[0] for specs in NETWORKS.values() for spec in specs}
    assert shown <= set(load_families())


@pytest.mark.parametrize("family", list(load_families()))
def test_every_family_has_a_broadcast(family):
    """Also those that are not shown, or are too large for a table."""
    topology = parse_topology(load_families().examples(family)[0])
    root = int(topology.endpoints[1])
    request = Request(topology, parse_collective("broadcast", root), 1 << 16, load_machine("multitree"))
    assert verify_schedule(load_methods()["binomial"](request)).valid


@pytest.mark.parametrize("method", methods())
def test_row(method):
    """No maker's schedule is refuted; each cell is verified or has a reason; and cells and reasons are those that are written."""
    cells = {network: matrix_cell(method, network) for network in NETWORKS}
    assert [fault for cell in cells.values() for fault in cell.faults] == []
    for network, cell in cells.items():
        assert cell.verified or cell.reason, network
    assert [cell.text for cell in cells.values()] == written()[method]
    reasons = [line for line in TABLE.read_text().splitlines() if line.startswith(f"| {method} |")][1:]
    assert empty_lines(method, cells) + gap_lines(method, cells) == reasons
