"""`certree compare --workload`: a joint schedule, one after the other, and independent schedules that meet in routers."""

from dataclasses import replace
from pathlib import Path

import pytest

import certree.api as ct
from certree.extras.joint.make.alone import alone
from certree.extras.joint.run.independent_run import run_independent
from certree.models.machine.machine import load_machine
from tests.cli.running import assert_bad_input, certree, json_of

TEXT = """
[[collective]]
name = "left"
kind = "all-to-all"
size = "2KiB"

[[collective]]
name = "right"
kind = "broadcast"
root = 1
size = "4KiB"
"""


def written(folder: Path) -> str:
    path = folder / "w.toml"
    path.write_text(TEXT)
    return str(path)


def test_three_ways(tmp_path: Path) -> None:
    path = written(tmp_path)
    found = json_of("compare", "ring:3", "--workload", path)
    joint, in_turn, independent = found["cells"]
    assert [cell["how"] for cell in found["cells"]] == ["joint schedule", "one after the other", "independent"]
    made = ct.joint("ring:3", path)
    assert joint["simulated_cycles"] == joint["closed_form_cycles"] == made.cycles
    assert joint["ends"] == made.ends
    assert in_turn["simulated_cycles"] == made.provenance["one_after_the_other_cycles"]
    assert independent["simulated_cycles"] == run_independent(alone("ring:3", path)[1]).cycles
    assert all(cell["data_ok"] and cell["simulated_cycles"] >= found["time_bound_cycles"] for cell in found["cells"])
    said = certree("compare", "ring:3", "--workload", path).out
    assert f"{independent['simulated_cycles']:,}" in said


def test_runs_that_routers_do_not_cover(tmp_path: Path) -> None:
    """Cut-through moves packets on when a buffer holds them; where none does the comparison says so, and has the closed forms."""
    plain = load_machine("multitree")
    machine = replace(plain, vc_buffer_flits=4, router=replace(plain.router, flow_control="cut-through"))
    joint, _, independent = ct.compare_collectives("ring:3", written(tmp_path), machine=machine).cells
    for cell in (joint, independent):
        assert "cut-through moves a packet on when a buffer holds all of it" in cell["not_simulated"]
        assert "simulated_cycles" not in cell
    assert joint["closed_form_cycles"] > 0


def test_what_fires_too_early_or_too_late(tmp_path: Path) -> None:
    """One port for all links: messages are late, and slots open before what a collective is after has ended."""
    path = written(tmp_path)
    Path(path).write_text(f'{TEXT}after = ["left"]\n')
    done = certree("compare", "ring:3", "--workload", path, "--params", "booksim2")
    assert done.code == 1
    assert "too early" in done.out
    assert "joint schedule; one after the other: right fired in cycle" in done.err
    facts = ct.compare_collectives("ring:3", path, machine="booksim2").facts()
    assert "before left ended in cycle" in str(facts["joint schedule"])
    assert "before left ended in cycle" in str(facts["one after the other"])
    assert isinstance(facts["independent"], int)


def test_rows_later_than_a_run_counts(tmp_path: Path) -> None:
    """One line for all, which names the collective and its start."""
    path = written(tmp_path)
    Path(path).write_text(f"{TEXT}start = {1 << 40}\n")
    done = certree("compare", "ring:3", "--workload", path)
    assert done.code == 0
    assert done.err.count("its last row fires in cycle") == 1
    assert f"independent: right: it may start in cycle {1 << 40}, its last row fires in cycle" in done.err


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (("ring:4",), "2 networks with --workload; allowed: 1"),
        (("--size", "1MiB"), "--size: not with --workload; allowed: --params, --effort, --seed, --json"),
        (("--simulate", "none"), "--simulate: not with --workload"),
        (("--collective", "all-gather"), "--collective: not with --workload"),
    ],
)
def test_what_does_not_go_with_it(tmp_path: Path, more: tuple[str, ...], says: str) -> None:
    assert_bad_input(certree("compare", "ring:3", *more, "--workload", written(tmp_path)), says)
