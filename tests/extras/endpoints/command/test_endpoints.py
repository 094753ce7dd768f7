"""`certree endpoints`."""

import json
from dataclasses import replace
from fractions import Fraction

import pytest

import certree.api as ct
from certree.extras.endpoints.model.endpoint import load_endpoint
from tests.cli.artefacts import schedule_file
from tests.cli.running import assert_bad_input, certree, json_of

SMALL = ("endpoints", "ace-torus:2x2x2", "--size", "256KiB", "--program", "messages")


def test_all_systems_of_a_network():
    outcome = certree(*SMALL, "--json")
    assert outcome.code == 0
    document = outcome.document
    assert (document["collective"], document["method"], document["ways"]) == ("all-reduce", "hierarchical", 2)
    assert [run["system"] for run in document["systems"]] == ["baseline", "baseline++", "ace", "ideal"]
    for run in document["systems"]:
        assert run["data_ok"]
        assert run["conserved"]
        assert run["chunks"] * run["chunk_bytes"] == 256 * 1024
    ace = document["systems"][2]
    assert ace["interrupts"] == 8 * ace["chunks"]
    assert Fraction(ace["joules"]) == Fraction("4.254537") * Fraction(ace["seconds"]) * 8
    assert outcome.out == certree(*SMALL, "--json").out
    words = certree(*SMALL).out
    assert f"ace: {ace['cycles']:,} cycles; 4 chunks of 64 KiB" in words
    assert words.count("data: right at every rank") == 4


def test_an_all_to_all_and_a_schedule_file(tmp_path):
    document = json_of(*SMALL, "--collective", "all-to-all", "--system", "ace")
    assert (document["method"], document["ways"], document["systems"][0]["phases"]) == ("hierarchical-all-to-all", 1, 3)
    file = schedule_file(tmp_path, "ace-torus:2x2x2", "packing", size="64KiB")
    for program in ("messages", "tables"):
        document = json_of("endpoints", file, "--size", "256KiB", "--system", "ace", "--program", program)
        assert (document["systems"][0]["data_ok"], document["systems"][0]["program"]) == (True, program)


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        (("--size", "64KiB", "--ways", "1"), "ways is for messages alone"),
        (("--size", "64KiB", "--size", "64KiB", "--without", "spare"), "without is for messages alone"),
    ],
)
def test_messages_where_tables_do_not_run(more, reason):
    """The reason is told; tables that are asked for are refused."""
    asked = ("endpoints", "ace-torus:2x2x1", "--system", "ideal", *more)
    document = json_of(*asked)
    assert reason in document["no_tables"]
    assert [run["program"] for run in document["systems"]] == ["messages"]
    assert f"not tables: {reason}" in certree(*asked).out
    assert_bad_input(certree(*asked, "--program", "tables"), f"no run of tables: {reason}")
    assert_bad_input(certree(*asked, "--program", "tables", "--joint"), "joint runs tables next to messages")


def test_tables_on_lanes_where_routers_take_long():
    words = certree("endpoints", "ace-torus:2x2x1", "--system", "ace", "--size", "128MiB").out.splitlines()
    assert words[1].startswith("  tables on lanes, without routers: 34,013,184 flits on links take long through routers")
    assert "messages of tables (fast engine)" in words[2]


@pytest.mark.parametrize("program", ["tables", "messages"])
def test_shares_of_memory_bound_both_programs(program):
    """Bounded shares act as slower buses do; one collective has one order, so that the latest first changes nothing."""
    asked = ("endpoints", "ace-torus:2x2x1", "--size", "64KiB", "--system", "ace", "--program", program)
    free, bounded = json_of(*asked)["systems"][0], json_of(*asked, "--bounded")["systems"][0]
    assert free["cycles"] < bounded["cycles"]
    ace = load_endpoint("ace")
    slow = replace(ace, buses=replace(ace.buses, memory_bytes_per_second=ace.buses.memory_bytes_per_second / 20))
    (run,) = ct.endpoints("ace-torus:2x2x1", payloads=["64KiB"], systems=["ace"], endpoint=slow, program=program).results
    assert (str(run.occupancy["memory_bus"]), run.cycles) == (bounded["occupancy"]["memory_bus"], bounded["cycles"])
    assert json_of(*asked, "--lifo")["systems"][0] == free


def test_two_collectives_the_latest_first():
    command = ["endpoints", "ace-torus:2x2x2", "--size", "2MiB", "--size", "256KiB@1000", "--system", "ace", "--json"]
    fifo, lifo = certree(*command).document, certree(*command, "--lifo").document
    assert [run["systems"][0]["program"] for run in (fifo, lifo)] == ["tables", "tables"]
    assert "bound_cycles" not in fifo["systems"][0]["counts"]
    assert f"cycles (each at {fifo['systems'][0]['ends'][0]:,}, " in certree(*command[:-1]).out
    assert fifo["payloads"] == [{"bytes": 2 << 20, "start": 0}, {"bytes": 256 << 10, "start": 1000}]
    assert lifo["systems"][0]["ends"][1] < fifo["systems"][0]["ends"][1]


def test_an_engine_as_printed_stops_and_says_who_waits():
    everything = [word for rule in ("in-order", "spare", "apart") for word in ("--without", rule)]
    ring = ("endpoints", "ace-torus:2x4x4", "--size", "1MiB", "--system", "ace")
    assert certree(*ring).code == 0
    outcome = json_of(*ring, *everything, code=1)
    run = outcome["systems"][0]
    assert not run["data_ok"]
    assert any("cannot be taken before there is room at the port" in line for line in run["stall"])
    words = certree(*ring, *everything)
    assert words.code == 1
    assert ": deadlock" in words.out


def test_a_trace_has_every_step_of_every_chunk(tmp_path):
    trace = tmp_path / "steps.jsonl"
    ring = ("endpoints", "ring:3", "--method", "ring", "--option", "bidirectional=false", "--chunk", "12KiB", "--size", "48KiB")
    assert certree(*ring, "--system", "ace", "--trace", trace).code == 0
    head, *lines = [json.loads(line) for line in trace.read_text().splitlines()]
    assert (head["format"], head["network"], head["machines"]) == ("certree-endpoint-trace", "ring:3", [16])
    assert [line["cycle"] for line in lines] == sorted(line["cycle"] for line in lines)
    for node in range(3):
        for chunk in range(4):
            moves = [line["move"] for line in lines if (line["node"], line["chunk"]) == (node, chunk)]
            # a ring all-reduce of three: the first message, three passed on, the last taken (AceEngine.tla)
            assert moves == ["load", "send", "pass on", "pass on", "pass on", "take", "go on", "write back"]
    hops = {(line["from"], line["node"], line["to"]) for line in lines if line["move"] == "pass on"}
    assert hops == {(0, 1, 2), (1, 2, 0), (2, 0, 1)}
    checked = certree("model-check", "trace", trace, "--json")
    told = "96 steps, all as in the specification, with the messages of a chunk as stated in the trace"
    assert (checked.code, checked.document["models"][0]["message"]) == (0, told)
    for more in (["--schedule", trace], ["ring:3", "--params", "multitree"], ["ring:3", "--flow", "packet"]):
        assert_bad_input(certree("model-check", "trace", trace, *more), "as its one NAME, and --size")
    assert_bad_input(certree("model-check", "trace", trace, "ring:3"), "node 0 sends 4 messages of way 0; by the schedule 8")
    assert_bad_input(certree("model-check", "trace", trace, "ring:4"), "network is 'ring:3'; the schedule is for 'ring:4'")


def test_tables_next_to_messages():
    """The run of tables, or one line on why there is none; nothing unless it is asked for."""
    asked = ("endpoints", "ace-torus:4x2x1", "--size", "64KiB", "--system", "ace", "--system", "ideal", "--json")
    plain, both, default = json_of(*asked, "--program", "messages"), json_of(*asked, "--joint"), json_of(*asked)
    assert [run["cycles"] for run in default["systems"]] == [run["joint"]["cycles"] for run in both["systems"]]
    assert [(run["program"], run["data_ok"], run["deepest_port"]) for run in default["systems"]] == [("tables", True, None)] * 2
    assert (default["ways"], default["systems"][0]["interrupts"]) == (None, None)
    for name in ("occupancy", "delays"):  # the same keys, null where tables have no such thing
        assert default["systems"][0][name].keys() == plain["systems"][0][name].keys()
    assert all(default["systems"][0]["delays"].values())
    assert default["no_tables"] is plain["no_tables"] is both["no_tables"] is None
    words = certree(*asked[:-1]).out
    assert f"  ace: {default['systems'][0]['cycles']:,} cycles; 1 chunks of 64 KiB, " in words
    assert words.count("data: right at every rank") == 2
    assert all("joint" not in system for system in plain["systems"])
    engine, ideal = (system["joint"] for system in both["systems"])
    assert engine["data_ok"]
    assert engine["bound_cycles"] < ideal["cycles"] <= engine["cycles"]
    assert [{**system, "joint": None} for system in both["systems"]] == [{**system, "joint": None} for system in plain["systems"]]
    later = ("endpoints", "ace-torus:4x2x1", "--system", "ace", "--size", "64KiB@9", "--joint", "--json")
    joint = json_of(*later)["systems"][0]["joint"]
    assert (joint["cycles"], joint["data_ok"]) == (default["systems"][0]["cycles"] + 9, True)
