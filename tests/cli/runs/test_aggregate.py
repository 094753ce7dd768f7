"""`certree aggregate`."""

import gzip
import json
from importlib import resources

import pytest

from tests.cli.running import assert_bad_input, certree

STAR = "switch:4,reducing=switches"


def test_a_network():
    outcome = certree("aggregate", STAR, "--size", "64KiB", "--json")
    assert outcome.code == 0
    document = outcome.document
    # 256 packets a host; one adder takes 4 · 16 cycles for each, and the first round trip 2 · 175 + 1 + 64
    assert document["cycles"] == document["closed_form_cycles"] == 415 + 255 * 64
    assert (document["packets"], document["window"], document["aggregators"]) == ([256], 7, 14)
    assert (document["sent"], document["lost"], document["resent"], document["data_ok"]) == (2 * 4 * 256, 0, 0, True)
    words = certree("aggregate", STAR, "--size", "64KiB").out
    assert "16,735 cycles (fast engine)" in words
    assert "closed form: 16,735 cycles: equal" in words
    assert "of 14 aggregators in use" in words


def test_both_engines_lose_the_same():
    command = [
        "aggregate",
        STAR,
        "--size",
        "16KiB",
        "--loss",
        "1/20",
        "--duplicates",
        "0.02",
        "--latest",
        "50",
        "--seed",
        "3",
        "--json",
    ]
    fast, flit = (certree(*command, "--engine", engine) for engine in ("fast", "flit"))
    assert fast.code == flit.code == 0
    assert fast.out == certree(*command).out
    for name in ("cycles", "lost", "copied", "resent", "switches"):
        assert fast.document[name] == flit.document[name]
    assert fast.document["lost"] > 0
    assert fast.document["closed_form_cycles"] is None


def test_auto_says_when_it_goes_through_routers():
    command = ["aggregate", "fattree:2x2,reducing=switches", "--size", "1KiB", "--ways", "2"]
    outcome, why = certree(*command, "--json"), "packets that come different ways meet at a link"
    assert f"through routers, flit by flit: {why}" in outcome.err
    assert (outcome.document["engine"], outcome.document["router_effect"]) == ("flit", why)
    without = certree(*command, "--without-routers", "--json")
    assert (without.document["engine"], without.document["router_effect"]) == ("fast", why)
    assert f"without routers, which may take longer: {why}" in without.err
    assert_bad_input(
        certree(*command, "--engine", "fast"), f"the fast engine is not exact with these routers: {why}; the flit engine"
    )
    assert_bad_input(certree(*command, "--engine", "flit", "--without-routers"), "engine flit has routers")


def test_spines_have_a_flow_each_and_a_schedule_has_its_own(tmp_path):
    network = "fattree:2x2,reducing=switches"
    document = certree("aggregate", network, "--size", "4KiB", "--json").document
    assert (document["flows"], len(document["switches"])) == (2, 4)
    assert certree("aggregate", network, "--size", "4KiB", "--flows", "1", "--json").document["flows"] == 1
    file = tmp_path / "s.json"
    assert certree("synthesize", network, "--method", "netreduce", "--size", "4KiB", "-o", file).code == 0
    assert certree("aggregate", file, "--size", "4KiB", "--json").document["flows"] == 2
    assert_bad_input(certree("aggregate", file, "--flows", "2"), "flows are for networks")


def test_a_stall_is_a_failure_with_a_report():
    command = ["aggregate", STAR, "--size", "64KiB", "--window", "4", "--aggregators", "5", "--loss", "1/10"]
    assert_bad_input(certree(*command), "give 8 aggregators, or a window of at most 2")
    outcome = certree(*command, "--allow-stall", "--json")
    assert outcome.code == 1
    assert not outcome.document["data_ok"]
    assert "which never comes: its place at switch 4 (of 5) works on packet" in outcome.document["stall"][0]
    assert "stall: node" in certree(*command, "--allow-stall").out


def test_a_trace_is_lines_of_json(tmp_path):
    trace = tmp_path / "t.ndjson"
    assert certree("aggregate", STAR, "--size", "1KiB", "--window", "2", "--trace", trace).code == 0
    head, *lines = map(json.loads, trace.read_text().splitlines())
    assert head["flows"] == [
        {"packets": 4, "window": 2, "places": 4, "root": 4, "hosts": [0, 1, 2, 3], "switches": [4],
         "parent": {"0": 4, "1": 4, "2": 4, "3": 4}}
    ]  # fmt: skip
    assert [sum(line["event"] == event for line in lines) for event in ("send", "add", "take", "lose")] == [16, 16, 16, 0]
    assert [line["sends"] for line in lines if line["event"] == "add"].count("all") == 4
    assert_bad_input(certree("aggregate", STAR, "--trace", trace), "exists")
    check = ["model-check", "--trace", trace]
    ran = [STAR, "--size", "1KiB", "--window", "2", "--aggregators", "4"]
    checked = certree(*check, *ran, "--json")
    assert checked.code == 0
    assert checked.document["models"][0]["message"] == "48 steps, all as the specification has them"
    for arguments, reason in (
        ([], "takes the network or schedule that was aggregated as its one NAME"),
        ([*ran, STAR], "takes the network or schedule that was aggregated as its one NAME"),
        ([*ran, "--run", "slotted"], "--window and --aggregators, and nothing else"),
        ([*ran, "--flow", "packet"], "--window and --aggregators, and nothing else"),
        (["--schedule", "s.json"], "--window and --aggregators, and nothing else"),
        (["switch:5,reducing=switches", "--size", "1KiB"], "node 4 is no host; on the network that is given it is one"),
        (ran[:1], "flow 0: packets is 4; what is given makes 262144"),
        (["MCAllReduce"], "MCAllReduce"),
    ):
        assert_bad_input(certree(*check, *arguments), reason)


def test_a_trace_is_zipped_as_its_name_says(tmp_path):
    plain, zipped = tmp_path / "t.ndjson", tmp_path / "t.ndjson.gz"
    for trace in (plain, zipped):
        assert certree("aggregate", STAR, "--size", "512B", "--trace", trace).code == 0
    assert gzip.decompress(zipped.read_bytes()) == plain.read_bytes()
    before = zipped.read_bytes()
    assert certree("aggregate", STAR, "--size", "512B", "--trace", zipped, "--force").code == 0
    assert zipped.read_bytes() == before
    assert certree("model-check", "--trace", zipped, STAR, "--size", "512B").code == 0
    zipped.write_bytes(plain.read_bytes())
    assert_bad_input(certree("model-check", "--trace", zipped, STAR), "--trace needs the --schedule")


def test_a_trace_of_fewer_flows_or_of_a_schedule(tmp_path):
    network, trace, file = "fattree:2x2,reducing=switches", tmp_path / "t.ndjson", tmp_path / "s.json"
    size = ["--size", "512B"]
    assert certree("aggregate", network, *size, "--flows", "1", "--trace", trace).code == 0
    assert certree("model-check", "--trace", trace, network, *size).code == 0
    assert certree("synthesize", network, "--method", "netreduce", *size, "-o", file).code == 0
    assert_bad_input(certree("model-check", "--trace", trace, file, *size), "1 flows; the network and size that are given make 2")
    assert certree("aggregate", file, *size, "--trace", trace, "--force").code == 0
    assert certree("model-check", "--trace", trace, file, *size).code == 0


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["switch:4"], "no reducing switch above both node 0 and node 1; reducing=switches marks them all"),
        (["ring:4"], "ring:4 has no switches"),
        ([STAR, "--loss", "1"], "loss is 1; allowed: from 0 to below 1"),
        ([STAR, "--loss", "x"], "part 'x': expected a number from 0 to 1"),
        ([STAR, "--size", "64GiB"], "larger packets are packet_payload_bytes of the machine"),
        (["nowhere.json"], "nowhere.json"),
        ([STAR, "--window", "0"], "0 is not in the range x>=1"),
        ([STAR, "--window", "4294967296"], "window is 4294967296; allowed: 1 to"),
        ([STAR, "--aggregators", "1"], "give 14 aggregators"),
        ([STAR, "--loss", "nan"], "part 'nan': expected a number from 0 to 1"),
        ([STAR, "--duplicates", "1"], "duplicates is 1; allowed: from 0 to below 1"),
        ([STAR, "--latest", str(1 << 41)], "latest is 2199023255552; allowed: 0 to"),
        ([STAR, "--buffer", str(1 << 40)], "buffer_packets is 1099511627776; allowed: 1 to"),
        ([STAR, "--trace", "nowhere/t"], "the folder nowhere does not exist"),
        (["switch:65,reducing=switches", "--trace", "t"], "a switch of 65 children cannot be traced; the most is 64"),
        (["switch:4,reducing=9"], "expected the id of a switch, or switches"),
        (["switch-fc:2x2x4x3,reducing=switches"], "no switch reaches every endpoint through switches"),
        (["fattree:2x2,reducing=4"], "has no reducing switch above both node 0 and node 2"),
        (["switch:4,reducing=switches,without-link=0-4"], "disconnected: no path from 0 to 1"),
        (["fattree:2x2,reducing=switches", "--aggregators", "3", "--window", "1"], "for each of its 2 flows; a window of 1 needs"),
        (
            ["fattree:2x2,reducing=switches", "--aggregators", "1", "--window", "1", "--allow-stall"],
            "has none for some of its 2 flows; give 2 or more",
        ),
        ([STAR, "--flows", "2"], f"flows is 2; {STAR} has 1 central switch(es) that reduce"),
        (
            [STAR, "--size", "256B", "--loss", "0.999999999999", "--timeout", str(1 << 48)],
            "the run lasts more than 4611686018427387904 cycles; timeout is 281474976710656",
        ),
    ],
)
def test_bad_input(arguments, reason):
    assert_bad_input(certree("aggregate", *arguments), reason)


@pytest.mark.parametrize(
    ("field", "value", "reason"),
    [
        ("link_latency_cycles = 150", "link_latency_cycles = 4294967446", "lane_latency would be 4294967446; the simulator has"),
        ("router_cycles = 3", "router_cycles = 1099511627776", "router_cycles would be 1099511627776; the simulator has"),
    ],
)
def test_numbers_that_the_core_has_not_are_refused(tmp_path, field, value, reason):
    text = (resources.files("certree.models.machine") / "presets" / "multitree-authors.toml").read_text()
    assert text.count(field) == 1
    file = tmp_path / "odd.toml"
    file.write_text(text.replace(field, value))
    assert_bad_input(certree("aggregate", STAR, "--size", "1KiB", "--params", file), reason)
