"""Sweeps of lists of collectives that run at once: a joint schedule for each network, next to other cells; bad lists."""

from pathlib import Path

import pytest

import certree.api as ct
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
