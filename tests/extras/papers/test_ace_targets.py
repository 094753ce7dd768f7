"""Targets of reproduce for ACE's Figs. 9 to 13."""

import json
from dataclasses import replace
from fractions import Fraction

import pytest

from certree.extras.papers.experiments.endpoints.endpoint_runs import PARTS, run_line
from certree.extras.papers.target import load_target
from tests.cli.running import certree
from tests.extras.papers.cells import cells_of, published


def test_times_and_how_they_compare():
    cells = cells_of("ace-fig9", "--smoke")
    time = {name: Fraction(cells[f"ace-torus:4x4x1 {name}", "1 MiB"]["ours"]) for name in ("baseline", "ace", "ideal")}
    assert time["baseline"] > time["ace"] > time["ideal"]
    assert Fraction(cells["baseline / ace", "mean"]["ours"]) == time["baseline"] / time["ace"]
    assert cells["baseline / ace", "mean"]["paper"] == "151/100"
    # a microsecond is a thousand cycles of the network
    assert time["ace"] * 1000 == cells["ace-torus:4x4x1 ace", "1 MiB"]["cycles"]
    # the engine reads and writes memory but once; with a seventh of the bandwidth it is slower all the same
    assert Fraction(cells["ace-torus:4x4x1 ace, 128 GB/s", "1 MiB"]["ours"]) > time["ace"]
    assert Fraction(cells["ace-torus:4x4x1 ace, packing", "1 MiB"]["ours"]) < time["ace"]


def test_delays(tmp_path):
    assert certree("reproduce", "ace-fig11", "--smoke", "--jobs", "1", "-o", tmp_path).code == 0
    cells = {(cell["row"], cell["column"]): cell for cell in json.loads((tmp_path / "cells.json").read_text())}
    less, more = (Fraction(cells[f"{name}: chunk queuing", "ace-torus:4x4x1"]["ours"]) for name in ("ace", "baseline"))
    saved = cells["chunk queuing: ace less than baseline by", "ace-torus:4x4x1"]
    assert Fraction(saved["ours"]) == 1 - less / more
    assert (tmp_path / "plot.svg").stat().st_size > 0


@pytest.mark.parametrize("name", ["ace-fig10", "ace-fig12", "ace-fig13"])
def test_smoke(name):
    cells = cells_of(name, "--smoke").values()
    assert all(cell["ours"] is not None for cell in cells)
    assert any(cell["paper"] is not None for cell in cells)
    assert len(load_target(name).experiment.tasks()) == 4 * 7 * 4


@pytest.mark.parametrize("target", ["ace-fig10", "ace-fig13"])
@pytest.mark.parametrize("sizes", [slice(1), pytest.param(slice(1, None), marks=pytest.mark.slow)], ids=["1 MiB", "larger"])
def test_ideal_is_slower_than_ace_in_no_cell(target: str, sizes: slice) -> None:
    """On all networks, with the memory of the paper and with that of the other interpretation."""
    experiment = load_target(target).experiment
    every = sorted({*experiment.sizes, *experiment.sizes_beside})
    assert len(every) == 4
    some = replace(experiment, sizes=tuple(every[sizes]), sizes_beside=())
    wanted = ("ace", "ideal", "ace, 128 GB/s", "ideal, 256 KiB")
    some = replace(some, lines=tuple(line for line in some.lines if line.name in wanted), ratios=())
    cells = some.cells([run_line(task.arguments) for task in some.tasks()])
    cycles = {(cell.more["network"], cell.more["line"], cell.column): cell.more["cycles"] for cell in cells}
    assert len(cycles) == 4 * 4 * len(some.sizes)
    slower = [
        (network, ideal, size)
        for network, ideal, size in cycles
        if ideal.startswith("ideal")
        and any(cycles[network, ideal, size] > cycles[network, ace, size] for ace in ("ace", "ace, 128 GB/s"))
    ]
    assert not slower


def test_what_cannot_run_is_a_cell_with_the_reason(tmp_path):
    path = published(tmp_path, "ace-fig9", ('name = "ace"\nsystem = "ace"\n', 'name = "ace"\nsystem = "ace"\nchunk = "1MiB"\n'))
    cell = cells_of(path, "--smoke")["ace-torus:4x4x1 ace", "1 MiB"]
    assert cell["ours"] is None
    assert "make chunks of at most about" in cell["reason"]


def test_tables_next_to_messages():
    """The joint machine: times of both, the orders of systems, and a run where a chunk's place is used twice."""
    cells = cells_of("ace-fig9-joint", "--smoke")
    time = {name: Fraction(cells[f"ace-torus:4x4x1 {name}, tables", "1 MiB"]["ours"]) for name in ("baseline", "ace", "ideal")}
    assert time["baseline"] > time["ace"] >= time["ideal"]
    assert Fraction(cells["baseline, tables / ace, tables", "mean"]["ours"]) == time["baseline"] / time["ace"]
    assert time["ace"] * 1000 == cells["ace-torus:4x4x1 ace, tables", "1 MiB"]["cycles"]
    assert cells["ace-torus:4x4x1 ideal, tables", "1 MiB"]["bound_cycles"] < time["ideal"] * 1000
    (task,) = (
        task for task in load_target("ace-fig9-joint").experiment.tasks() if task.label == "ace, tables on ace-torus:4x2x2, 1 MiB"
    )
    again = run_line(task.arguments)
    assert again["bound_cycles"] < again["cycles"] < 1000 * time["baseline"]


def test_delays_of_tables():
    """Chunks of tables queue at engines alone; what buses, sums and messages take is there for both."""
    cells = cells_of("ace-fig11-joint", "--smoke")
    at = "ace-torus:4x4x1"
    named = {row for row, column in cells if column == at}
    assert {row.partition(": ")[2] for row in named if row.startswith("ace, tables: ")} == {*PARTS.values()}
    assert {row.partition(": ")[2] for row in named if row.startswith("baseline, tables: ")} == {*PARTS.values()} - {
        "chunk queuing"
    }
    assert "chunk queuing: ace, tables less than baseline, tables by" not in named
    assert 0 < Fraction(cells["bus congestion: ace, tables less than baseline, tables by", at]["ours"]) < 1


@pytest.mark.parametrize("name", ["ace-fig9", "ace-fig10", "ace-fig12", "ace-fig13"])
def test_tables_of_all_platforms(name):
    """The networks and payloads are those of the target of messages, and its first cells those of the one with both programs."""
    alone, messages = load_target(f"{name}-tables").experiment, load_target(name).experiment
    assert (alone.networks, alone.sizes, alone.collective) == (messages.networks, messages.sizes, messages.collective)
    assert all(line.tables for line in alone.lines)
    (joint,) = (line for line in load_target(f"{name}-joint").experiment.lines if line.name == "ace, tables")
    assert [replace(line, name=joint.name) for line in alone.lines if line.name == "ace"] == [joint]
