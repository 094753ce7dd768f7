"""Schedules with scratch buffers, written by hand: verified, exported and run as a user would, and refused by other commands."""

import pytest

from certree.models.schedule.schedule_file import load_schedule
from tests.cli.running import certree, json_of

HEAD = "chunk,op,src,dst,step,src_buffer,dst_buffer"


def csv_file(folder, rows):
    """A CSV of rows (op, src, dst, step, source buffer, destination buffer) of chunk 0."""
    file = folder / "mine.csv"
    file.write_text("\n".join([HEAD, *(",".join(map(str, (0, *row))) for row in rows)]) + "\n")
    return file


def one_shot(nodes, later_from=1):
    """Everyone sends its contribution to everyone, one after the other; from the second step on out of buffer `later_from`."""
    rows = [("copy", node, node, 0, 0, 1) for node in range(nodes)]
    for shift in range(1, nodes):
        source = later_from if shift > 1 else 0
        rows += [("reduce", node, (node + shift) % nodes, shift - 1, source, 0) for node in range(nodes)]
    return rows


def ring_of_five(onward=(1, 2)):
    """Two steps: everyone sends its contribution both ways, and then on what it got, which it adds to its own at the same time."""
    ends = [(node, (node + hop) % 5, buffer) for node in range(5) for hop, buffer in ((1, 1), (-1, 2))]
    first = [("copy", node, other, 0, 0, buffer) for node, other, buffer in ends]
    onwards = [("reduce", node, other, 1, onward[buffer - 1], 0) for node, other, buffer in ends]
    return first + onwards + [("reduce", node, node, 1, buffer, 0) for node in range(5) for buffer in (1, 2)]


def test_one_shot_on_a_switch(tmp_path):
    """Seven steps of one round: each endpoint has one link, and receives seven contributions."""
    file = csv_file(tmp_path, one_shot(8))
    seen = json_of("verify", file, "--topology", "switch:8", "--collective", "all-reduce", "--route", "shortest")
    assert (seen["valid"], seen["steps"], seen["transfers"], seen["bandwidth_time"]) == (True, 7, 64, "7")
    assert seen["time_cycles"] > 0


@pytest.mark.parametrize("nodes", [3, 4, 8])
def test_one_shot_from_the_data_buffers(tmp_path, nodes):
    """Where sums grow in the data buffers these hold no originals: the checker says so, or what was counted twice since when."""
    file = csv_file(tmp_path, one_shot(nodes, later_from=0))
    options = ("--topology", f"switch:{nodes}", "--collective", "all-reduce", "--route", "shortest")
    seen = json_of("verify", file, *options, code=1)
    assert set(seen["violation_counts"]) == {"original-lost" if nodes == 3 else "duplicate"}


def test_ring_of_five_in_two_steps(tmp_path):
    file = csv_file(tmp_path, ring_of_five())
    asked = ("--topology", "ring:5", "--collective", "all-reduce")
    seen = json_of("verify", file, *asked)
    assert (seen["valid"], seen["latency_steps"], seen["latency_bound"], seen["optimal_in"]) == (True, 2, 2, ["latency"])
    for name in ("made.json", "made.json.gz", "made.npz"):
        assert certree("certify", file, *asked, "-o", tmp_path / name).code == 0
        assert load_schedule(tmp_path / name).buffers == 3
        again = json_of("verify", tmp_path / name)
        assert again["valid"]
        assert {witness["kind"] for witness in again["witnesses"]} == {"partition", "distance"}


@pytest.mark.parametrize(
    ("onward", "rules"),
    [
        ((2, 1), {"duplicate", "missing"}),  # each gets its own contribution back
        ((1, 1), {"duplicate", "missing"}),
        ((0, 0), {"duplicate", "missing"}),  # the original again
    ],
)
def test_ring_of_five_with_wrong_buffers(tmp_path, onward, rules):
    file = csv_file(tmp_path, ring_of_five(onward))
    seen = json_of("verify", file, "--topology", "ring:5", "--collective", "all-reduce", code=1)
    assert set(seen["violation_counts"]) == rules


def test_scratch_read_too_early(tmp_path):
    rows = [(op, src, dst, 0 if op == "reduce" else step, *buffers) for op, src, dst, step, *buffers in ring_of_five()]
    seen = certree("verify", csv_file(tmp_path, rows), "--topology", "ring:5", "--collective", "all-reduce")
    assert seen.code == 1
    assert "buffer 1 of node 0 does not hold it yet; it lands there in step 1, by row" in seen.out


@pytest.mark.parametrize(
    ("command", "what"),
    [
        ("endpoints --program messages", "endpoints with engines"),
        ("aggregate", "reducing switches"),
    ],
)
def test_commands_that_do_not_know_buffers(tmp_path, command, what):
    asked = ("--topology", "ring:5", "--collective", "all-reduce")
    assert certree("certify", csv_file(tmp_path, ring_of_five()), *asked, "-o", tmp_path / "made.json").code == 0
    program, *options = command.split()
    outcome = certree(program, tmp_path / "made.json", *options)
    assert outcome.code == 2
    assert f"error: {what}: not supported for schedules that use buffers (version 2)" in outcome.err


def test_tables_of_a_ring_of_five(tmp_path):
    """Two slots and the last sums: exported, verified from the files, and run, in as many cycles as verify says."""
    asked = ("--topology", "ring:5", "--collective", "all-reduce")
    assert certree("certify", csv_file(tmp_path, ring_of_five()), *asked, "-o", tmp_path / "made.json").code == 0
    written = json_of("export", tmp_path / "made.json", "--size", "256B", "-o", tmp_path / "tables")
    assert (written["profile"], written["rows"], written["row_bits"], written["arrival_bits"]) == ("buffers", 30, 24, 12)
    seen = json_of("verify", tmp_path / "tables")
    run = json_of("simulate", tmp_path / "tables")
    assert (seen["valid"], run["data_ok"], run["late"], run["contention_cycles"]) == (True, True, 0, 0)
    assert seen["time_cycles"] == run["cycles"] == run["closed_form_cycles"] == 448


def test_retime_refuses_it(tmp_path):
    asked = ("--topology", "ring:5", "--collective", "all-reduce")
    assert certree("certify", csv_file(tmp_path, ring_of_five()), *asked, "-o", tmp_path / "made.json").code == 0
    outcome = certree("synthesize", "ring:5", "--method", "retime", "--option", f"of={tmp_path / 'made.json'}")
    assert outcome.code == 2
    assert "trees: not supported for schedules that use buffers (version 2)" in outcome.err


def test_improve_takes_it(tmp_path):
    """There is no faster order of these transfers."""
    asked = ("--topology", "ring:5", "--collective", "all-reduce")
    assert certree("certify", csv_file(tmp_path, ring_of_five()), *asked, "-o", tmp_path / "made.json").code == 0
    outcome = certree("improve", tmp_path / "made.json", "-o", tmp_path / "better.json")
    assert (outcome.code, "kept as it is" in outcome.err) == (0, False)
    assert load_schedule(tmp_path / "better.json").digest == load_schedule(tmp_path / "made.json").digest
