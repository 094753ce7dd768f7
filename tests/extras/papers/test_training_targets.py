"""Targets of training: ratios are those of `certree train`, and what is fitted takes its measured time."""

from fractions import Fraction

import pytest

from certree import api as ct
from certree.extras.papers.authors.faults import Fault
from certree.extras.papers.experiments.collectives.authors_runs import AS_THEIRS, run_as_authors
from certree.extras.papers.target import TARGETS
from certree.models.common.quantities import parse_size
from certree.models.machine.machine import load_machine
from tests.cli.running import certree
from tests.extras.papers.cells import cells_of
from tests.extras.papers.cells import small as small_target

COLUMN = "astra-dlrm"


@pytest.fixture(scope="module")
def cells(tmp_path_factory):
    return cells_of(small_target(tmp_path_factory.mktemp("targets"), name="training"))


def test_times_and_ratios_are_those_of_train(cells):
    methods = ["ring", "all-to-all=ring-all-to-all"]
    run = ct.train("astra-dlrm", "ring:4", method=methods)
    assert Fraction(cells["overlap ring: ms an iteration", COLUMN]["ours"]) == 1000 * run.iteration_seconds
    assert Fraction(cells["overlap ring: share of communication", COLUMN]["ours"]) == run.exposed_share
    plain = ct.train("astra-dlrm", "ring:4", method=methods, overlap=False)
    assert Fraction(cells["non-overlap ring: ms an iteration", COLUMN]["ours"]) == 1000 * plain.iteration_seconds
    times = {line: Fraction(cells[f"overlap {line}: ms an iteration", COLUMN]["ours"]) for line in ("ring", "mesh")}
    assert Fraction(cells["overlap mesh / ring", COLUMN]["ours"]) == times["mesh"] / times["ring"]


def test_aggregates_and_sensitivity(cells):
    ratio = {column: Fraction(cell["ours"]) for (row, column), cell in cells.items() if row == "overlap mesh / ring"}
    both = [ratio[COLUMN], ratio["astra-mlp-model"]]
    assert (ratio["most"], ratio["mean"]) == (max(both), sum(both) / 2)
    changed = {row: Fraction(cell["ours"]) for (row, column), cell in cells.items() if column == "mean" and ", " in row}
    assert set(changed) == {
        f"overlap mesh / ring, {name} {sign}" for name in ("compute", "bandwidth", "latency") for sign in ("less", "more")
    }
    # slower accelerators make networks matter less
    less, more = (abs(1 - changed[f"overlap mesh / ring, compute {sign}"]) for sign in ("less", "more"))
    assert less < abs(1 - ratio["mean"]) < more


@pytest.mark.parametrize(("name", "gpus", "form"), [
    ("netreduce-table11", 4, Fraction(6, 4)), ("netreduce-table10-own", 32, Fraction(62, 32)),
])  # fmt: skip
def test_the_fitted_row_takes_its_measured_time(name, gpus, form):
    cells = cells_of(name)
    fitted = Fraction(cells["AlexNet, flat ring: communication, ms", "fitted"]["ours"])
    bandwidth = Fraction(cells["bandwidth between machines, GB/s", "fitted"]["ours"])
    assert fitted == {4: Fraction("47.12"), 32: Fraction("90.56504")}[gpus]
    assert fitted == form * 236 / bandwidth + Fraction(2 * (gpus - 1), 1000)  # GB/s are MB/ms; a start-up takes a microsecond
    assert ("AlexNet, flat ring: communication, ms", "predicted") not in cells
    rate = Fraction(cells["VGG-16, NetReduce: images a second", "predicted"]["ours"])
    compute, communication = Fraction("73.10"), Fraction(cells["VGG-16, NetReduce: communication, ms", "predicted"]["ours"])
    assert rate == 32 * 1000 / (compute + communication)


def test_orders_are_counted_apart_from_values():
    """Table 11: 23 numbers, and three times which of two is faster."""
    words = certree("reproduce", "netreduce-table11").out
    assert "14 of 23 values and 3 of 3 orders agree with what the paper states (in brackets):" in words


@pytest.mark.parametrize("method", ["multitree", "multitree-msg", "ring", "ring-2d", "double-binary-tree"])
def test_points_of_the_authors_lines_are_cycles_of_interfaces(method):
    """The smallest point of each line; multitree-authors-sizes has all of them."""
    lines = {line["name"]: line for line in TARGETS.load("multitree-fig11")["lines"]}
    (run,) = [
        run
        for run in TARGETS.load("multitree-authors-sizes")["runs"]
        if run["method"] == method.removesuffix("-msg") and run["flow"] == ("message" if method.endswith("-msg") else "packet")
    ]
    points = lines[f"{method}, authors"]["measured"]
    assert {point["size"] for point in points} <= set(run["sizes"])
    arguments = {
        "kind": AS_THEIRS, "faults": list(Fault), "order": 0, "machine": load_machine("multitree-authors").document(),
        "chunks": None, "options": {}, **run, "message_bytes": parse_size(points[0]["size"]),
    }  # fmt: skip
    assert Fraction(points[0]["seconds"]) == Fraction(run_as_authors(arguments)["cycles"], 10**9)
