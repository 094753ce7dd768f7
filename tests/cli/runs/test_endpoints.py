"""`certree endpoints`."""

import json
import re
from fractions import Fraction
from importlib import resources

import pytest

from tests.cli.running import assert_bad_input, certree

SMALL = ("endpoints", "ace-torus:2x2x2", "--size", "256KiB")


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
    document = certree(*SMALL, "--collective", "all-to-all", "--system", "ace", "--json").document
    assert (document["method"], document["ways"], document["systems"][0]["phases"]) == ("hierarchical-all-to-all", 1, 3)
    file = tmp_path / "s.json"
    assert certree("synthesize", "ace-torus:2x2x2", "--method", "packing", "--size", "64KiB", "-o", file).code == 0
    document = certree("endpoints", file, "--size", "256KiB", "--system", "ace", "--json").document
    assert document["systems"][0]["data_ok"]
    assert_bad_input(certree("endpoints", file, "--method", "ring"), "a schedule is what it is")


def test_two_collectives_the_latest_first():
    command = ["endpoints", "ace-torus:2x2x2", "--size", "2MiB", "--size", "256KiB@1000", "--system", "ace", "--json"]
    fifo, lifo = certree(*command).document, certree(*command, "--lifo").document
    assert fifo["payloads"] == [{"bytes": 2 << 20, "start": 0}, {"bytes": 256 << 10, "start": 1000}]
    assert lifo["systems"][0]["ends"][1] < fifo["systems"][0]["ends"][1]


def test_an_engine_as_printed_stops_and_says_who_waits():
    everything = [word for rule in ("in-order", "spare", "apart") for word in ("--without", rule)]
    ring = ("endpoints", "ace-torus:2x4x4", "--size", "1MiB", "--system", "ace")
    assert certree(*ring).code == 0
    outcome = certree(*ring, *everything, "--json")
    assert outcome.code == 1
    run = outcome.document["systems"][0]
    assert not run["data_ok"]
    assert any("cannot be taken before there is room at the port" in line for line in run["stall"])
    words = certree(*ring, *everything)
    assert words.code == 1
    assert "stopped, nothing can go on" in words.out


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
    ways = {(line["from"], line["node"], line["to"]) for line in lines if line["move"] == "pass on"}
    assert ways == {(0, 1, 2), (1, 2, 0), (2, 0, 1)}
    assert_bad_input(certree(*ring, "--system", "ace", "--trace", trace), "exists")
    checked = certree("model-check", "--trace", trace, "--json")
    told = "96 steps, all as the specification has them, with the messages of a chunk by the trace's own word"
    assert (checked.code, checked.document["models"][0]["message"]) == (0, told)
    for more in (["--schedule", trace], ["ring:3", "--params", "multitree"], ["ring:3", "--flow", "packet"]):
        assert_bad_input(certree("model-check", "--trace", trace, *more), "as its one NAME, and --size")
    assert_bad_input(certree("model-check", "--trace", trace, "ring:3"), "node 0 sends 4 messages of way 0; by the schedule 8")
    assert_bad_input(certree("model-check", "--trace", trace, "ring:4"), "network is 'ring:3'; the schedule is for 'ring:4'")
    assert_bad_input(certree(*ring, "--trace", tmp_path / "other"), "a trace is of one system")


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["ace-torus:4x4x4", "--chunk", "1MiB"], "make chunks of at most about"),
        (["ring:4", "--params", {"state_machines": 0}], "engine: state_machines is 0; allowed: whole numbers from 1"),
        (["ace-torus:2x2x2", "--params", {"state_machines": 3}], "ace has 3: give it more, or take a method with fewer phases"),
        (["ring:4", "--params", {"state_machines": 10**9}], "1000000000 state machines are too many here: 4000000000 in all"),
        (["ring:4", "--params", {"state_machines": 10**6}], "with a port for each and each lane of a link, are too many here"),
        (["ring:4", "--params", {"alus": 10**8}], "100000000 ALUs are too many here: 400000000 in all; allowed: 4194304"),
        (["ring:4", "--params", {"banks": 10**8}], "100000000 banks are too many here"),
        (
            ["ring:4", "--params", {"sram_bytes": 4096}],
            "which has 2048 of the 4096 bytes of SRAM: make chunks of at most about 2048",
        ),
        (
            ["ring:4", "--params", {"efficiency": '"1.5"'}],
            'intra_package: efficiency is \'1.5\'; expected a string such as "6.4e-9" or "1/20", above 0 and at most 1',
        ),
        (
            ["ring:4", "--params", {"memory_share": '"2"'}],
            'systems 1: memory_share is \'2\'; expected a string such as "6.4e-9" or "1/20", from 0 to 1',
        ),
        (["ring:4", "--size", "1MiB@soon"], "expected a cycle behind @"),
        (["ring:4", "--system", "dpu"], "unknown system 'dpu'; known: baseline"),
        (["ring:4", "--params", "acme"], "unknown endpoint 'acme'"),
        (["ring:4", "--collective", "all-gather"], "all-gather needs a method"),
        (["ring:4", "--ways", "7", "--method", "ring"], "segments cannot be parted into 7 ways"),
        (["switch:4,reducing=switches", "--method", "netreduce"], "engines at the endpoints do all of that themselves"),
        (["ring:64", "--size", "64GiB", "--chunk", "1KiB"], "use larger chunks"),
        (["ring:2", "--size", "1MiB@999999999999999", "--system", "baseline"], "has more ticks of rates than 64 bits count"),
        (
            ["ring:2", "--size", "32GiB", "--chunk", "32GiB", "--system", "ideal"],
            "row_bytes would be 17179869184; the simulator has",
        ),
    ],
)
def test_bad_input(tmp_path, arguments, reason):
    """A dictionary stands for a file of parameters with these values."""
    arguments = [changed_parameters(tmp_path, one) if isinstance(one, dict) else one for one in arguments]
    assert_bad_input(certree("endpoints", *arguments), reason)


def changed_parameters(folder, changes):
    path, text = folder / "endpoint.toml", (resources.files("certree.models.machine") / "endpoints" / "ace.toml").read_text()
    for name, value in changes.items():
        text, count = re.subn(rf"^{name} = \S+", f"{name} = {value}", text, flags=re.MULTILINE)
        assert count
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("field", "value", "reason"),
    [
        ('clock_hertz = "1e9"', 'clock_hertz = "1000000001"', "link_bytes would be 23500000000; the simulator has"),
        ("latency_cycles = 200", "latency_cycles = 4294967496", "link_latency would be 4294967496; the simulator has"),
        ("latency_cycles = 50", "latency_cycles = 36893488147419103232", "bus_latency would be 36893488147419103232"),
    ],
)
def test_numbers_that_the_core_has_not_are_refused(tmp_path, field, value, reason):
    """Never taken for others: a clock that is off by one in 10^9 would change times tenfold."""
    text = (resources.files("certree.models.machine") / "endpoints" / "ace.toml").read_text()
    assert text.count(field) == 1
    file = tmp_path / "odd.toml"
    file.write_text(text.replace(field, value))
    assert_bad_input(certree("endpoints", "ring:2", "--size", "64KiB", "--params", file), reason)
