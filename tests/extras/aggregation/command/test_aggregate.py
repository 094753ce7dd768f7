"""`certree aggregate`."""

import gzip
import json

from tests.cli.artefacts import schedule_file
from tests.cli.running import assert_bad_input, certree, json_of

STAR = "switch:4,reducing=switches"


def test_a_network():
    document = json_of("aggregate", STAR, "--size", "64KiB")
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
    refused = certree(*command)
    assert refused.code == 1
    assert "packets may deadlock" in refused.err
    command.append("--allow-deadlock")
    outcome, why = certree(*command, "--json"), "packets from different lanes meet at a link"
    assert f"through routers, flit by flit: {why}" in outcome.err
    assert (outcome.document["engine"], outcome.document["router_effect"]) == ("flit", why)
    without = certree(*command, "--without-routers", "--json")
    assert (without.document["engine"], without.document["router_effect"]) == ("fast", why)
    assert f"without routers, which may take longer: {why}" in without.err
    assert_bad_input(
        certree(*command, "--engine", "fast"), f"the fast engine is not exact with these routers: {why}; the flit engine"
    )


def test_spines_have_a_flow_each_and_a_schedule_has_its_own(tmp_path):
    network = "fattree:2x2,reducing=switches"
    document = json_of("aggregate", network, "--size", "4KiB")
    assert (document["flows"], len(document["switches"])) == (2, 4)
    assert json_of("aggregate", network, "--size", "4KiB", "--flows", "1")["flows"] == 1
    file = schedule_file(tmp_path, network, "netreduce", size="4KiB")
    assert json_of("aggregate", file, "--size", "4KiB")["flows"] == 2
    assert_bad_input(certree("aggregate", file, "--flows", "2"), "flows are for networks")


def test_a_stall_is_a_failure_with_a_report():
    command = ["aggregate", STAR, "--size", "64KiB", "--window", "4", "--aggregators", "5", "--loss", "1/10"]
    outcome = json_of(*command, "--allow-stall", code=1)
    assert not outcome["data_ok"]
    assert "which never comes: its place at switch 4 (of 5) works on packet" in outcome["stall"][0]
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
    check = ["model-check", "trace", trace]
    ran = [STAR, "--size", "1KiB", "--window", "2", "--aggregators", "4"]
    checked = json_of(*check, *ran)
    assert checked["models"][0]["message"] == "48 steps, all as in the specification"
    for arguments, reason in (
        ([], "takes the network or schedule that was aggregated as its one NAME"),
        ([*ran, STAR], "takes the network or schedule that was aggregated as its one NAME"),
        ([*ran, "--run", "slotted"], "--window and --aggregators, and nothing else"),
        ([*ran, "--flow", "packet"], "--window and --aggregators, and nothing else"),
        (["--schedule", "s.json"], "--window and --aggregators, and nothing else"),
        (["switch:5,reducing=switches", "--size", "1KiB"], "node 4 is no host; on the network that is given it is one"),
        (ran[:1], "flow 0: packets is 4; expected 262144"),
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
    assert certree("model-check", "trace", zipped, STAR, "--size", "512B").code == 0
    zipped.write_bytes(plain.read_bytes())
    assert_bad_input(certree("model-check", "trace", zipped, STAR), "Not a gzipped file")


def test_a_trace_of_fewer_flows_or_of_a_schedule(tmp_path):
    network, trace, file = "fattree:2x2,reducing=switches", tmp_path / "t.ndjson", tmp_path / "s.json"
    size = ["--size", "512B"]
    assert certree("aggregate", network, *size, "--flows", "1", "--trace", trace).code == 0
    assert certree("model-check", "trace", trace, network, *size).code == 0
    assert certree("synthesize", network, "--method", "netreduce", *size, "-o", file).code == 0
    assert_bad_input(certree("model-check", "trace", trace, file, *size), "1 flows; the given network and size make 2")
    assert certree("aggregate", file, *size, "--trace", trace, "--force").code == 0
    assert certree("model-check", "trace", trace, file, *size).code == 0
