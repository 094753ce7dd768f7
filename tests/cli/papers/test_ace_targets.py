"""Targets of reproduce for ACE's Figs. 9 to 13."""

import json
from fractions import Fraction
from importlib import resources

import pytest

from certree.api.papers.target import load_target
from tests.cli.running import assert_bad_input, certree


def cells_of(name, *arguments):
    outcome = certree("reproduce", str(name), "--smoke", "--jobs", "1", "--json", *arguments)
    assert outcome.code == 0
    return {(cell["row"], cell["column"]): cell for cell in outcome.document["cells"]}


def test_times_and_how_they_compare():
    cells = cells_of("ace-fig9")
    time = {name: Fraction(cells[f"ace-torus:4x4x1 {name}", "1 MiB"]["ours"]) for name in ("baseline", "ace", "ideal")}
    assert time["baseline"] > time["ace"] > time["ideal"]
    assert Fraction(cells["baseline / ace", "mean"]["ours"]) == time["baseline"] / time["ace"]
    assert cells["baseline / ace", "mean"]["paper"] == "151/100"
    # A microsecond is a thousand cycles of the network.
    assert time["ace"] * 1000 == cells["ace-torus:4x4x1 ace", "1 MiB"]["cycles"]
    # The engine reads and writes memory but once; with a seventh of the bandwidth it is slower all the same.
    assert Fraction(cells["ace-torus:4x4x1 ace, 128 GB/s", "1 MiB"]["ours"]) > time["ace"]
    packing = Fraction(cells["ace-torus:4x4x1 ace, packing", "1 MiB"]["ours"])
    assert packing < time["ace"]


def test_delays(tmp_path):
    assert certree("reproduce", "ace-fig11", "--smoke", "--jobs", "1", "-o", tmp_path).code == 0
    cells = {(cell["row"], cell["column"]): cell for cell in json.loads((tmp_path / "cells.json").read_text())}
    less, more = (Fraction(cells[f"{name}: chunk queuing", "ace-torus:4x4x1"]["ours"]) for name in ("ace", "baseline"))
    saved = cells["chunk queuing: ace less than baseline by", "ace-torus:4x4x1"]
    assert Fraction(saved["ours"]) == 1 - less / more
    assert (tmp_path / "plot.svg").stat().st_size > 0


@pytest.mark.parametrize("name", ["ace-fig10", "ace-fig12", "ace-fig13"])
def test_smoke(name):
    cells = cells_of(name)
    assert all(cell["ours"] is not None for cell in cells.values())
    assert any(cell["paper"] is not None for cell in cells.values())
    every = load_target(name).experiment
    assert len(every.tasks()) == 4 * 7 * 4


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ('system = "ace"', 'system = "dpu"', "unknown system 'dpu'; known: baseline, baseline++, ace, ideal"),
        ("ways = 2", "ways = 0", "ways is 0; allowed: whole numbers from 1"),
        ('of = "ideal"', 'of = "best"', "unknown of 'best'; known: baseline"),
        ('name = "ace"', 'name = "baseline"', "each with a name of its own"),
        ('memory = "450e9"', 'memory = "0"', 'memory is \'0\'; expected a string such as "6.4e-9" or "1/20", above 0'),
        ('memory = "450e9"', 'memory = "much"', "memory is 'much'; expected a string such as"),
        ('params = "ace"', 'params = "acme"', "unknown endpoint 'acme'"),
        ("tolerance", 'show = "delays"\ntolerance', 'show = "delays" is for one size'),
    ],
)
def test_wrong_files_are_refused(tmp_path, old, new, reason):
    text = (resources.files("certree.api.papers.targets") / "ace-fig9.toml").read_text()
    assert old in text
    path = tmp_path / "mine.toml"
    path.write_text(text.replace(old, new))
    assert_bad_input(certree("reproduce", path), reason)


def test_what_cannot_run_is_a_cell_with_the_reason(tmp_path):
    text = (resources.files("certree.api.papers.targets") / "ace-fig9.toml").read_text()
    path = tmp_path / "mine.toml"
    path.write_text(text.replace('name = "ace"\nsystem = "ace"\n', 'name = "ace"\nsystem = "ace"\nchunk = "1MiB"\n'))
    cell = cells_of(path)["ace-torus:4x4x1 ace", "1 MiB"]
    assert cell["ours"] is None
    assert "make chunks of at most about" in cell["reason"]
