"""`--members`: collectives of some endpoints only, from the command line, and the commands that refuse them."""

import pytest

from certree.models.schedule.schedule_file import load_schedule
from tests.cli.running import certree, json_of

ASKED = ("--collective", "all-reduce", "--members", "0,2")


@pytest.fixture
def passing(tmp_path):
    """An all-reduce between the ends of a line, whose middle adds for them."""
    file = tmp_path / "mine.csv"
    file.write_text("chunk,op,src,dst,step\n0,copy,0,1,0\n0,reduce,2,1,1\n0,copy,1,0,2\n0,copy,1,2,2\n")
    return file


def test_bounds():
    seen = json_of("bound", "mesh:1x3", *ASKED)
    assert (seen["members"], seen["bandwidth_bound"], seen["latency_bound"]) == ([0, 2], "1", 2)
    assert certree("bound", "mesh:1x3", *ASKED).out.startswith("all-reduce among nodes 0, 2 on mesh:1x3\n  bandwidth time ≥ 1 M/B")
    assert "members" not in json_of("bound", "mesh:1x3", "--members", "0-2")


def test_verify_and_certify(passing, tmp_path):
    seen = json_of("verify", passing, "--topology", "mesh:1x3", *ASKED)
    assert (seen["valid"], seen["members"], seen["latency_bound"], seen["steps"]) == (True, [0, 2], 2, 3)
    assert seen["time_cycles"] > 0
    everyone = json_of("verify", passing, "--topology", "mesh:1x3", "--collective", "all-reduce", code=1)
    assert not everyone["valid"]
    for name in ("made.json", "made.npz"):
        assert certree("certify", passing, "--topology", "mesh:1x3", *ASKED, "-o", tmp_path / name).code == 0
        assert load_schedule(tmp_path / name).collective.members == (0, 2)
        assert json_of("verify", tmp_path / name)["members"] == [0, 2]
    outcome = certree("verify", tmp_path / "made.json", "--collective", "all-reduce", "--members", "0,1")
    assert outcome.code == 2
    assert "the collective is all-reduce among nodes 0, 2, not all-reduce among nodes 0, 1" in outcome.err


def test_synthesize(tmp_path):
    file = tmp_path / "made.json"
    outcome = certree("synthesize", "mesh:3x3", "--members", "0,2,4-5", "--collective", "all-to-all", "-o", file)
    assert outcome.out.startswith("valid: all-to-all among nodes 0, 2, 4, 5 on mesh:3x3, made by flows")
    assert json_of("verify", file)["method"] == "flows"


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (("--members", "0"), "1 member(s); allowed: 2 or more"),
        (("--members", "0,9"), "member 9 is not an endpoint of ring:6; endpoints are in 0 to 5"),
        (("--members", "0;1"), "members '0;1': '0;1'; allowed: ids and ranges of ids, such as 0,2,4-7"),
        (("--members", "0,1", "--method", "ring-2d"), "method ring-2d: not supported for collectives of some endpoints only"),
        (("--members", "0,1", "--collective", "broadcast", "--root", "2"), "root 2 is not a member; members are nodes 0, 1"),
        (("--members", "0,2", "--relay", "members"), "ring:6,only=0+2: disconnected: no path from 0 to 2; every endpoint must"),
        (("--members", "0,2", "--relay", "1,6"), "relay 6 is not an endpoint of ring:6; endpoints are in 0 to 5"),
        (("--members", "0,2", "--relay", "some"), "relay 'some'; allowed: all, members, or ids and ranges of ids, such as 0,2,4-7"),
        (("--relay", "members"), "relay members: all endpoints take part; name the members of the collective"),
    ],
)
def test_refusals(options, reason):
    outcome = certree("synthesize", "ring:6", *options)
    assert outcome.code == 2
    assert f"error: {reason}" in outcome.err


def test_members_need_a_collective(passing):
    outcome = certree("verify", passing, "--topology", "mesh:1x3", "--members", "0,2")
    assert (outcome.code, "--members needs --collective: all-reduce" in outcome.err) == (2, True)


def test_tables_and_runs(passing, tmp_path):
    assert certree("certify", passing, "--topology", "mesh:1x3", *ASKED, "-o", tmp_path / "made.json").code == 0
    made = json_of("simulate", tmp_path / "made.json")
    assert (made["source"], made["data_ok"], made["late"]) == ("tables", True, 0)
    assert certree("export", tmp_path / "made.json", "-o", tmp_path / "tables").code == 0
    assert json_of("verify", tmp_path / "tables")["members"] == [0, 2]
    assert json_of("simulate", tmp_path / "tables")["cycles"] == made["cycles"] == made["closed_form_cycles"]


@pytest.mark.parametrize(
    ("command", "what"),
    [
        (("endpoints", "--program", "messages"), "endpoints with engines"),
        (("aggregate",), "reducing switches"),
    ],
)
def test_commands_that_do_not_know_members(passing, tmp_path, command, what):
    assert certree("certify", passing, "--topology", "mesh:1x3", *ASKED, "-o", tmp_path / "made.json").code == 0
    name, *options = command
    outcome = certree(name, tmp_path / "made.json", *(tmp_path / option if option == "tables" else option for option in options))
    assert outcome.code == 2
    assert f"error: {what}: not supported for schedules that use members (version 2)" in outcome.err


def test_cost(passing, tmp_path):
    """The node between the two passes on both ways."""
    assert certree("certify", passing, "--topology", "mesh:1x3", *ASKED, "-o", tmp_path / "made.json").code == 0
    assert json_of("cost", tmp_path / "made.json")["cells"][0]["traffic"] == {"sent": "2", "received": "2"}


def test_improve(passing, tmp_path):
    assert certree("certify", passing, "--topology", "mesh:1x3", *ASKED, "-o", tmp_path / "made.json").code == 0
    better = json_of("improve", tmp_path / "made.json", "-o", tmp_path / "better.json")
    assert (better["valid"], better["members"]) == (True, [0, 2])
    assert better["time_cycles"] <= json_of("verify", tmp_path / "made.json")["time_cycles"]


def test_relays(tmp_path):
    """Bounds and schedules of the network that is left, which keeps the ids."""
    through = {name: json_of("bound", "dgx1", "--members", "0,3,5,6", "--relay", name) for name in ("all", "1", "1,2,4,7")}
    assert [seen["bandwidth_bound"] for seen in through.values()] == ["3/14", "1/2", "3/14"]
    assert [seen["topology"] for seen in through.values()] == ["dgx1", "dgx1,only=0-1+3+5-6", "dgx1"]
    file = tmp_path / "made.json"
    asked = ("--members", "0,3,5,6", "--relay", "1", "--size", "1MiB", "--method", "relays")
    assert certree("synthesize", "dgx1", *asked, "-o", file).code == 0
    made = load_schedule(file)
    assert {*made.src.tolist(), *made.dst.tolist()} <= {0, 1, 3, 5, 6}
    assert made.collective.members == (0, 3, 5, 6)
    assert certree("verify", file).code == 0
