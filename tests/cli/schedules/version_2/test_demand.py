"""`--collective alltoallv --demand FILE`: from a file of bytes to a verified schedule, and what is refused."""

import pytest

from certree.models.schedule.schedule_file import load_schedule
from tests.cli.running import certree, json_of

ASKED = ("--collective", "alltoallv", "--demand")
BYTES = "0,1048576,65536,0\n,0,524288,0\n4096,0,0,1000000\n0,0,10,0\n"


@pytest.fixture
def demand(tmp_path):
    file = tmp_path / "bytes.csv"
    file.write_text(BYTES)
    return file


def test_bounds(demand):
    seen = json_of("bound", "ring:4", *ASKED, demand)
    assert (seen["collective"], seen["blocks"], seen["granules"]) == ("alltoallv", 6, 165157)
    assert (seen["bandwidth_bound"], seen["latency_bound"]) == ("44044/165157", 2)
    assert seen["message_bytes"] == 16 * 165157
    said = certree("bound", "ring:4", *ASKED, demand).out
    assert said.startswith("alltoallv of 6 blocks on ring:4\n  bandwidth time ≥ 0.2667 (44044/165157) M/B")
    assert "time ≥ 44,203 cycles" in said


def test_synthesize_and_verify(demand, tmp_path):
    file = tmp_path / "made.json"
    made = json_of("synthesize", "ring:4", *ASKED, demand, "-o", file)
    assert (made["valid"], made["method"], made["message_bytes"]) == (True, "flows", 2642512)
    assert made["time_bound_cycles"] < made["time_cycles"] == 44270
    assert load_schedule(file).collective.demand.granules == 165157
    assert certree("verify", file).out.startswith("valid: alltoallv of 6 blocks on ring:4, made by flows")
    assert json_of("verify", file, *ASKED, demand, "--topology", "ring:4")["valid"]
    demand.write_text(BYTES.replace("10,0", "11000,0"))
    outcome = certree("verify", file, *ASKED, demand, "--topology", "ring:4")
    assert outcome.code == 2
    assert "its demand is another one; a block that only one of the two has: (3, 2, 1) (from, to, granules)" in outcome.err
    assert certree("certify", file, "-o", tmp_path / "again.npz").code == 0
    assert json_of("verify", tmp_path / "again.npz")["blocks"] == 6


def test_a_sparse_demand_has_a_time_bound(tmp_path):
    """Each endpoint has data for one other only: sets of sources that have none for a sink bound nothing."""
    file = tmp_path / "opposite.csv"
    file.write_text("\n".join(",".join("65536" if j == (i + 4) % 8 else "0" for j in range(8)) for i in range(8)))
    made = json_of("synthesize", "dgx1", *ASKED, file)
    assert made["valid"]
    assert made["time_bound_cycles"] > 65536 // (6 * 16)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (("--collective", "alltoallv"), "alltoallv needs --demand: a CSV of bytes"),
        (("--demand", "bytes.csv"), "--demand is for alltoallv"),
        ((*ASKED, "bytes.csv", "--size", "1KiB"), "--size does not go with --demand, which says how many bytes there are"),
        ((*ASKED, "bytes.csv", "--members", "0,1"), "a demand is for an all-to-all of all endpoints: members follow from it"),
        (
            (*ASKED, "bytes.csv", "--method", "switch-fc"),
            "method switch-fc: not supported for alltoallv, whose blocks differ in size",
        ),
        ((*ASKED, "bytes.csv", "--method", "multitree"), "multitree does not make all-to-all"),
        ((*ASKED, "bytes.csv", "--chunks", "5"), "no method applies: direct: direct needs a link or switches"),
        ((*ASKED, "bytes.csv", "--chunks", "5", "--method", "flows"), "flows cuts a demand into up to 131072 chunks, or not into"),
    ],
)
def test_refusals(demand, options, reason):
    typed = [demand if option == "bytes.csv" else option for option in options]
    outcome = certree("synthesize", "ring:4", *typed)
    assert (outcome.code, f"error: {reason}" in outcome.err) == (2, True), outcome.err


def test_wrong_cells_are_named(demand):
    demand.write_text(BYTES.replace("4096", "many"))
    outcome = certree("bound", "ring:4", *ASKED, demand)
    assert outcome.code == 2
    assert f"error: {demand}: row 3, column 1: 'many'; allowed: whole bytes from 0 to" in outcome.err
    outcome = certree("bound", "ring:5", *ASKED, demand)
    assert f"error: {demand}: 4 rows; allowed: 5, one for each endpoint of ring:5" in outcome.err


def test_verify_needs_the_network(demand, tmp_path):
    outcome = certree("verify", tmp_path / "made.json", *ASKED, demand)
    assert (outcome.code, "--demand needs --topology" in outcome.err) == (2, True)


@pytest.mark.parametrize(
    ("command", "what"),
    [
        (("endpoints",), "endpoints with engines"),
    ],
)
def test_commands_that_do_not_know_demands(demand, tmp_path, command, what):
    assert certree("synthesize", "ring:4", *ASKED, demand, "-o", tmp_path / "made.json").code == 0
    name, *options = command
    outcome = certree(name, tmp_path / "made.json", *(tmp_path / option if option == "tables" else option for option in options))
    assert outcome.code == 2
    assert f"error: {what}: not supported for schedules that use demand (version 2)" in outcome.err


def test_tables_and_runs(demand, tmp_path):
    """Exported, verified and simulated from the schedule and from its tables, at its size and at twice that."""
    demand.write_text("0,100,20,0\n,0,50,0\n40,0,0,90\n0,0,10,0\n")
    made, tables = tmp_path / "made.json", tmp_path / "tables"
    seen = json_of("synthesize", "ring:4", *ASKED, demand, "-o", made)
    exported = json_of("export", made, "-o", tables)
    assert (exported["chunk_bytes"], exported["padded_bytes"]) == (16, seen["message_bytes"])
    checked = json_of("verify", tables)
    assert (checked["valid"], checked["time_cycles"], checked["blocks"]) == (True, seen["time_cycles"], 6)
    for source in (made, tables):
        ran = json_of("simulate", source)
        assert (ran["cycles"], ran["data_ok"]) == (seen["time_cycles"], True)
    assert json_of("simulate", made, "--size", 2 * seen["message_bytes"])["cycles"] > seen["time_cycles"]
    assert certree("export", made, "-o", tmp_path / "sv", "--format", "systemverilog").code == 0
    assert (tmp_path / "sv" / "certree_ni.sv").exists()


@pytest.mark.parametrize("command", ["frontier", "cost"])
def test_other_commands_do_not_know_the_name(command):
    outcome = certree(command, "ring:4", "--collective", "alltoallv")
    assert (outcome.code, "unknown collective 'alltoallv'" in outcome.err) == (2, True)
