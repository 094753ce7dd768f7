"""Sweeps of lists of collectives that run at once: a joint schedule for each network, next to other cells; bad lists."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import certree.api as ct
from certree.extras.joint.run.joint_run import run_joint
from certree.extras.sweeps.run import measure
from certree.extras.sweeps.run.measure import measure_workload
from certree.extras.sweeps.run.plan import SweepPlan
from certree.extras.sweeps.run.specification import read_specification
from certree.models.common.errors import InputError

TEXT = """
[[collective]]
name = "sum"
kind = "all-reduce"
size = "1KiB"

[[collective]]
name = "copies"
kind = "broadcast"
root = 2
size = 512
"""


def written(folder: Path, text: str = TEXT) -> str:
    path = folder / "w.toml"
    path.write_text(text)
    return str(path)


def test_joint_cells_next_to_others(tmp_path: Path) -> None:
    path = written(tmp_path)
    asked = {"networks": ["ring:3"], "workloads": [path], "collectives": ["all-reduce"], "sizes": [1024], "methods": ["ring"]}
    done = ct.sweep(asked, tmp_path / "out", workers=1)
    one, both = done.rows()
    assert (one["method"], both["method"], both["collective"]) == ("ring", "joint", f"workload:{path}")
    assert both["size"] == 1536
    name, _, after_each_other = both["options"].partition("=")
    assert name == "one_after_the_other_cycles"
    assert both["time_bound_cycles"] <= both["time_cycles"] == both["simulated_cycles"] <= int(after_each_other)
    again = ct.sweep(asked, tmp_path / "out", workers=1)
    assert again.ran == 0
    assert ct.plan_sweep({"networks": ["ring:3"], "workloads": [path]}).facts() == {"cells": 1, "present": 0}


def test_lists_that_cannot_be(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"workloads: .*w\.toml: collective 1: unknown collective 'sum'"):
        ct.plan_sweep({"networks": ["ring:3"], "workloads": [written(tmp_path, TEXT.replace("all-reduce", "sum"))]})
    with pytest.raises(InputError, match="root"):
        ct.plan_sweep({"networks": ["full:2"], "workloads": [written(tmp_path)]})
    with pytest.raises(InputError, match="cannot read"):
        ct.plan_sweep({"networks": ["ring:3"], "workloads": [str(tmp_path / "none.toml")]})
    with pytest.raises(InputError, match="every combination is left out by skip"):
        ct.plan_sweep({"networks": ["ring:3"], "workloads": [written(tmp_path)], "skip": [{"method": "joint"}]})


def test_launches_that_deadlock_are_refused_before_anything_runs(tmp_path: Path) -> None:
    orders = 'launches = {0 = ["sum", "copies"], 1 = ["copies", "sum"]}\n'
    with pytest.raises(InputError, match=r"workloads: .*w\.toml: launches may deadlock: sum waits for rank 1"):
        ct.sweep({"networks": ["ring:3"], "workloads": [written(tmp_path, orders + TEXT)]}, tmp_path / "out", workers=1)
    assert not (tmp_path / "out").exists()


def _cell(folder: Path, network: str, text: str = TEXT) -> dict[str, Any]:
    plan = SweepPlan(read_specification({"networks": [network], "workloads": [written(folder, text)]}))
    return measure_workload(plan.task(plan.cells[0]).arguments)


def test_a_run_that_there_is_not(tmp_path: Path) -> None:
    """Only the run is refused: the schedule and its times are there."""
    found = _cell(tmp_path, "switch:4,reducing=switches", TEXT.split("[[", maxsplit=1)[0] + "[[" + TEXT.split("[[")[1])
    assert found["status"] == "valid"
    assert found["time_bound_cycles"] <= found["time_cycles"]
    assert found["simulated_cycles"] is None
    assert found["not_simulated"]


@pytest.mark.parametrize(("change", "words"), [({"wrong": "sum: rank 0"}, "wrong data"), ({"late": 2}, "2 rows late, 0 cycles")])
def test_a_run_that_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: dict[str, Any], words: str) -> None:
    monkeypatch.setattr(measure, "run_joint", lambda made: replace(run_joint(made), **change))
    found = _cell(tmp_path, "ring:3")
    assert words in found["run_fault"]
    monkeypatch.undo()
    assert "run_fault" not in _cell(tmp_path, "ring:3")


def test_groups_with_relays(tmp_path: Path) -> None:
    """A cell is that of `compare` with the same relays."""
    texts = ["all-reduce:members=0,1,2", "all-reduce:members=0,1,2:relay=members"]
    asked = {"networks": ["dgx1"], "collectives": texts, "sizes": [65536], "methods": ["direct"], "runs": ["none"]}
    both, alone = ct.sweep(asked, tmp_path / "out", workers=1).rows()
    group = ct.collective("all-reduce", members=[0, 1, 2])
    (cell,) = ct.compare("dgx1", group, sizes=[65536], methods=["direct"], relay="members", run=None).cells
    assert [alone[name] for name in ("time_cycles", "time_bound_cycles")] == [cell["time_cycles"], cell["time_bound_cycles"]]
    assert (both["collective"], alone["collective"]) == tuple(texts)
    assert both["time_bound_cycles"] < alone["time_bound_cycles"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("all-reduce:relay=members", "relay is for a collective with members="),
        ("all-reduce:members=0,3,5,6:relay=members", "collectives: dgx1,only=0.3.5-6: disconnected"),
        ("all-reduce:members=0,3:relay=x", "collectives: relay 'x'; allowed: all, members, or ids"),
        ("alltoallv:demand=x.csv:relay=all", "relay is not for an alltoallv"),
    ],
)
def test_relays_that_cannot_be(text: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        ct.plan_sweep({"networks": ["dgx1"], "collectives": [text], "sizes": [512], "methods": ["direct"]})
