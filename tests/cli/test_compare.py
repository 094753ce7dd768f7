"""`certree compare`: one cell for each method and size, or the reason why there is none."""

from fractions import Fraction

from tests.cli.running import assert_bad_input, certree


def test_cells():
    outcome = certree("compare", "ring:4", "--size", "16KiB,1MiB", "--methods", "ring,multitree", "--json")
    assert outcome.code == 0
    cells = outcome.document["cells"]
    assert [(cell["message_bytes"], cell["method"]) for cell in cells] == [
        (16384, "ring"), (16384, "multitree"), (1 << 20, "ring"), (1 << 20, "multitree"),
    ]  # fmt: skip
    for cell in cells:
        made = certree("synthesize", "ring:4", "--method", cell["method"], "--size", f"{cell['message_bytes']}", "--json").document
        for key in ("time_cycles", "steps", "total_steps", "bandwidth_time", "bandwidth_bound", "gap", "optimal_in"):
            assert cell[key] == made[key]
        bound = Fraction(cell["bandwidth_bound"]) * cell["message_bytes"] / 16  # bytes a cycle of a unit link
        assert Fraction(cell["time_over_bound"]) == cell["time_cycles"] / bound
        assert "simulated_cycles" not in cell


def test_simulated():
    (cell,) = certree("compare", "ring:4", "--size", "16KiB", "--methods", "ring", "--simulate", "slotted", "--json").document[
        "cells"
    ]
    assert cell["simulated_cycles"] == cell["time_cycles"]
    assert (cell["contention_cycles"], cell["data_ok"]) == (0, True)


def test_what_cannot_be_paced_says_so():
    asked = ["compare", "mesh:3x3", "--size", "64KiB", "--methods", "retime", "--json"]
    (cell,) = certree(*asked, "--simulate", "paced").document["cells"]
    assert cell["simulated_cycles"] is None
    assert "cannot be paced" in cell["not_simulated"]


def test_methods_that_do_not_apply_give_their_reason():
    outcome = certree("compare", "mesh:4x4", "--size", "16KiB", "--methods", "multitree,exact")
    assert outcome.code == 0
    assert "multitree" in outcome.out
    assert "exact: exact covers up to 9 endpoints; mesh:4x4 has 16" in outcome.err
    assert "exact" not in outcome.out
    document = certree("compare", "mesh:4x4", "--size", "16KiB", "--methods", "exact", "--json").document
    assert document["cells"] == [
        {"method": "exact", "message_bytes": 16384, "not_applicable": "exact covers up to 9 endpoints; mesh:4x4 has 16"}
    ]


def test_table_has_a_line_for_each_cell():
    lines = certree("compare", "ring:4", "--size", "16KiB,1MiB", "--methods", "ring,multitree").out.splitlines()
    assert lines[0] == "all-reduce on ring:4, machine multitree"
    assert lines[1].split() == ["size", "method", "cycles", "time", "/", "bound", "bandwidth", "M/B", "gap", "steps"]
    assert [line.split()[:3] for line in lines[2:]] == [
        ["16", "KiB", "ring"], ["16", "KiB", "multitree"], ["1", "MiB", "ring"], ["1", "MiB", "multitree"],
    ]  # fmt: skip


def test_bad_input():
    assert_bad_input(certree("compare", "ring:4", "--methods", "ring,magic"), "unknown method 'magic'; known: auto")
    assert_bad_input(certree("compare", "ring:4", "--size", "1MiB,"), "size ''")
    assert_bad_input(certree("compare", "ring:4", "--size", "-1"), "size '-1'")
    assert_bad_input(certree("compare", "ring:4", "--effort", "0"), "0 is not in the range x>=1")
