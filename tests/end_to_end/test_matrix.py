"""Methods and networks: every schedule valid or refused with a reason, as `docs/reference/coverage.md` says and papers claim."""

import re
from pathlib import Path

import pytest

from certree.api.reports.schedule_report import closed_form
from certree.models.machine.machine import load_machine
from certree.models.machine.speeds import with_speeds_of
from certree.models.network.families import load_families
from certree.models.network.spec import parse_topology
from certree.models.schedule.collective import SYMMETRIC_KINDS, WITH_ONE_ROOT, CollectiveKind, parse_collective
from certree.synth.method import Request, load_methods
from certree.verify.checker import verify_schedule
from tests.time_bounds import least_cycles
from tools.tables import matrix
from tools.tables.matrix import LEFT_OUT, MESSAGE, NETWORKS, NOT_MADE, Cell, empty_lines, gap_lines, matrix_cell, methods

HOW = "`python -m tools.tables.matrix > docs/reference/coverage.md` writes the table anew"
TABLE = Path(__file__).parents[2] / "docs" / "reference" / "coverage.md"

SMALLEST = ["ring:2", "full:2", "switch:2", "mesh:1x4", "mesh:2x2", "mesh:3x3", "torus:3x5", "torus:4x4,without-node=6", "full:7"]
SMALLEST += ["bigraph:3x4", "dgx2:2", "fattree:2x3", "leafspine:4x2x2@2", "tree:3x2@2", "switch-fc:4x1", "switch-fc:3x3"]
SMALLEST += ["hier-torus:2x3x3", "ace-torus:2x3x2", "ace-alltoall:2x4"]
PACKAGES = "switch-fc:2x2x4x2"  # some ranks meet only by way of other endpoints, which do not forward where there are switches
WITHOUT_CYCLE = ["mesh:3x3", "mesh:1x4", "torus:4x4,without-node=6"]  # unequal colours, or a path
BIGRAPHS = ["bigraph:2x4", "bigraph:4x8", "dgx2:1"]
GRID = re.compile(r"(mesh|torus|hypercube|hier-torus|ace-torus):(?!1x)[^,]*|dgx1")


def is_power_of_two(spec):
    return len(parse_topology(spec).endpoints).bit_count() == 1


def no_route(spec, _):
    return spec == PACKAGES and "no route from node"


#: what published algorithms claim: the collectives they make, and why they do not on a network
CLAIMS = {
    "ring": (SYMMETRIC_KINDS, lambda spec, _: no_route(spec, _) or (spec in WITHOUT_CYCLE and "no Hamiltonian cycle")),
    "ring-2d": (SYMMETRIC_KINDS, lambda spec, _: not GRID.fullmatch(spec) and "needs an undamaged direct grid"),
    "double-binary-tree": (["all-reduce", "broadcast", "reduce"], no_route),
    "halving-doubling": (
        SYMMETRIC_KINDS,
        lambda spec, kind: kind != "all-reduce" and not is_power_of_two(spec) and "for a power of two of endpoints",
    ),
    "recursive-doubling": (
        ["all-reduce", "all-gather"],
        lambda spec, kind: kind != "all-reduce" and not is_power_of_two(spec) and "among a power of two of endpoints",
    ),
    "hdrm": (SYMMETRIC_KINDS, lambda spec, _: spec not in BIGRAPHS and "needs a (BiGraph|power of two of endpoints)"),
    "binomial": (WITH_ONE_ROOT, no_route),
    "multitree": (SYMMETRIC_KINDS, lambda spec, _: None),
    "tree-all-to-all": (["all-to-all"], lambda spec, _: None),
}


@pytest.fixture(autouse=True)
def _no_schedule_undercuts_the_time_bound(monkeypatch):
    """The closed form of every valid schedule of the matrix is at least the time bound."""

    def compared(schedule):
        verdict = verify_schedule(schedule)
        if verdict.valid and schedule.transfers:
            machine = with_speeds_of(schedule.topology, load_machine("multitree"))
            cycles = closed_form(schedule, MESSAGE, machine)["time_cycles"]
            assert cycles is None or cycles >= least_cycles(schedule, MESSAGE, machine)
        return verdict

    monkeypatch.setattr(matrix, "verify_schedule", compared)


def written():
    """method -> cells, of the first table in the file."""
    lines = TABLE.read_text().splitlines()
    start = next(index for index, line in enumerate(lines) if line.startswith("| method |"))
    assert [cell.strip() for cell in lines[start].strip("|").split("|")][1:] == list(NETWORKS), HOW
    rows = {}
    for line in lines[start + 2 :]:
        if not line.startswith("|"):
            break
        name, *cells = (cell.strip() for cell in line.strip("|").split("|"))
        rows[name] = cells
    return rows


def check(method: str, specs, cell: Cell) -> None:
    """Nothing that was made is invalid, and what a paper claims of the method is so."""
    assert cell.faults == []
    for kind in CollectiveKind:
        reasons = [cell.reasons.get((spec, kind), "") for spec in specs]
        assert cell.verified.get(kind, 0) == reasons.count("")
        if NOT_MADE in "".join(reasons):
            assert all(reason.startswith(f"{method} does not make {kind}; it makes ") for reason in reasons)
        if method in CLAIMS:
            makes, refusal = CLAIMS[method]
            assert (NOT_MADE not in reasons[0]) == (kind in makes)
            expected = [refusal(spec, kind) or "^$" if kind in makes else "" for spec in specs]
            assert all(map(re.search, expected, reasons))


def test_every_method_is_in_it():
    assert sorted(written()) == methods(), HOW
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
    """Each cell is verified or has a reason; and cells and reasons are those that are written."""
    cells = {network: matrix_cell(method, specs) for network, specs in NETWORKS.items()}
    for network, cell in cells.items():
        check(method, NETWORKS[network], cell)
    assert [cell.text for cell in cells.values()] == written().get(method), HOW
    reasons = [line for line in TABLE.read_text().splitlines() if line.startswith(f"| {method} |")][1:]
    assert empty_lines(method, cells) + gap_lines(method, cells) == reasons, HOW


@pytest.mark.parametrize("method", methods())
def test_the_smallest_and_the_odd(method):
    check(method, SMALLEST, matrix_cell(method, SMALLEST))
