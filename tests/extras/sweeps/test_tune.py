"""`certree tune`: ranges that cover all sizes, nothing faster at any of them, resumption, and what it refuses."""

import json
from dataclasses import replace
from itertools import pairwise

import pytest

import certree.api as ct
from certree.extras.sweeps.tuning import running
from certree.extras.sweeps.tuning.curve import cycles_at
from certree.extras.sweeps.tuning.point import point
from certree.models.schedule.schedule import Schedule
from certree.synth.method import METHODS, Tier, load_methods
from tests.cli.running import assert_bad_input, certree, json_of
from tests.extras.sweeps.specifications import contents

ASKED = ("tune", "switch:3", "--from", "1000", "--to", "2MB", "--factor", "50")
SIZES = [1000, 50_000, 2_000_000]


@pytest.fixture(scope="module", autouse=True)
def _without_exact():
    """The exact search takes most of the time on the smallest networks. A single worker is this process, which has it then."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setitem(METHODS._entries, "exact", replace(load_methods()["exact"], tier=Tier.NAMED))
        yield


@pytest.fixture(scope="module")
def tuned(tmp_path_factory):
    """A folder, and the document that was printed."""
    folder = tmp_path_factory.mktemp("tune") / "out"
    return folder, json_of(*ASKED, "-o", folder, "--workers", 1)


def test_ranges_cover_all_sizes(tuned):
    _, document = tuned
    rows = document["ranges"]
    assert (rows[0]["from"], rows[-1]["to"]) == (1000, 2_000_000)
    assert all(one["to"] + 1 == other["from"] for one, other in pairwise(rows))
    assert len(rows) > 1
    assert [row["message_bytes"] for row in document["points"]] == SIZES
    assert rows[0]["fine_slots"]


def test_no_other_schedule_of_the_table_is_faster(tuned):
    """At the sizes of the grid, and on both sides of each crossover."""
    folder, document = tuned
    machine = ct.machine("multitree")
    schedules = {row["file"]: ct.load(folder / row["file"]) for row in document["ranges"]}
    for row in document["points"]:
        size = row["message_bytes"]
        times = {name: cycles_at(schedule, size, machine) for name, schedule in schedules.items()}
        assert times[row["file"]] == min(times.values()) == row["time_cycles"] >= row["time_bound_cycles"]
        assert ct.verify(folder / row["file"]).valid
    for row, following in pairwise(document["ranges"]):
        here, there = schedules[row["file"]], schedules[following["file"]]
        assert cycles_at(there, following["from"], machine) < cycles_at(here, following["from"], machine)
        before = row["to"] * 31 // 32 if not following["from_is_exact"] else row["to"]
        assert cycles_at(here, before, machine) <= cycles_at(there, before, machine)


def test_crossovers_of_slots_of_one_length_are_exact(tmp_path):
    found = ct.tune("ring:3", tmp_path / "out", smallest="16KiB", largest="16MiB", factor=32, workers=1)
    assert all(isinstance(ct.load(found.folder / row["file"]), Schedule) for row in found.ranges)
    assert [row["from_is_exact"] for row in found.ranges] == [True] * len(found.ranges)
    assert found.file_for("1KiB") == found.folder / found.ranges[0]["file"]
    assert found.file_for("1GiB") == found.folder / found.ranges[-1]["file"]
    machine = ct.machine("multitree")
    for row, following in pairwise(found.ranges):
        assert (following["from"] - 1) % machine.flit_bytes == 0
        one, other = (cycles_at(ct.load(found.folder / entry["file"]), row["to"], machine) for entry in (row, following))
        assert one <= other


def test_the_folder(tuned):
    folder, document = tuned
    assert json.loads((folder / "table.json").read_text()) == document
    assert {path.name for path in folder.iterdir()} == {
        "cells", "curve.svg", "request.json", "table.json", "times.csv", *(row["file"] for row in document["ranges"]),
    }  # fmt: skip
    assert (folder / "curve.svg").read_text().count("<svg") == 1


def test_an_interrupted_tuning_continues(tuned, tmp_path, monkeypatch):
    """After Ctrl-C the sizes that were done are kept; the same call makes the rest, and the same bytes."""
    folder, out = tuned[0], tmp_path / "out"

    def interrupted(arguments):
        if arguments["size"] == SIZES[2]:
            raise KeyboardInterrupt
        return point(arguments)

    interrupted.__module__, interrupted.__qualname__ = point.__module__, point.__qualname__  # the key has its name
    with monkeypatch.context() as patched:
        patched.setattr(running, "point", interrupted)
        stopped = certree(*ASKED, "-o", out, "--workers", 1)
    assert stopped.code == 130
    assert f"the same command resumes from {out}" in stopped.err
    assert len(list((out / "cells").iterdir())) == 2
    again = certree(*ASKED, "-o", out, "--workers", 1)
    assert "2 of 3 cells are there already" in again.err
    assert contents(out) == contents(folder)
    assert again.out.splitlines()[1].split() == [
        "sizes",
        "method",
        "file",
        "time",
        "at",
        "cycles",
        "algbw",
        "GB/s",
        "busbw",
        "GB/s",
        "time",
        "/",
        "bound",
    ]


def test_bad_input(tuned, tmp_path):
    folder, _ = tuned
    for arguments, reason in (
        (("tune", "ring:4"), "Missing option '-o'"),
        (("tune", "ring:4", "-o", folder), "holds results of another specification"),
        (("tune", "ring:4", "-o", folder / "cells"), "exists and holds no results of a tuning"),
        (("tune", "ring:4", "-o", tmp_path / "new", "--factor", 1), "factor is 1; allowed: whole numbers from 2"),
        (("tune", "ring:4", "-o", tmp_path / "new", "--from", "2KiB", "--to", "1KiB"), "the largest is below the smallest"),
        (("tune", "ring:4", "-o", tmp_path / "new", "--collective", "alltoallv"), ""),
        (("tune", "ring:4", "-o", tmp_path / "new", "--from", 0), "positive number of bytes"),
    ):
        assert_bad_input(certree(*arguments), reason)
    assert not (tmp_path / "new").exists()
