"""The main job as a user does it, on a small network, from a name to tables that ran; and input that is refused everywhere."""

import dataclasses
import json
import os

import networkx as nx
import pytest

from certree.hw.tables.directory import export_tables, read_tables
from certree.hw.tables.lowering import lower
from certree.models.machine.machine import load_machine
from certree.models.schedule.schedule_file import load_schedule, save_schedule
from tests.cli.running import assert_bad_input, certree

NETWORKS = ["mesh:3x3", "torus:3x3,without-link=0-1", "ring:5", "hypercube:3", "full:4", "mesh:2x2x2,capacity=2"]


@pytest.mark.parametrize("network", NETWORKS)
def test_the_four_judges_agree(tmp_path, network):
    """Synthesize, verify, certify, export, verify the tables, import, simulate: one schedule all the way, one time."""
    file, certified, tables, again = (tmp_path / name for name in ("s.json", "certified.json", "tables", "again.json"))
    made = certree("synthesize", network, "--size", "64KiB", "-o", file, "--json").document
    assert made["valid"] is True
    assert certree("verify", file, "--topology", network, "--size", "64KiB", "--json").document == made
    bare = load_schedule(file).with_certificate(None)
    save_schedule(bare, tmp_path / "bare.json")
    assert certree("certify", tmp_path / "bare.json", "-o", certified).code == 0
    assert certified.read_bytes() == file.read_bytes()
    assert certree("export", certified, "--size", "64KiB", "-o", tables).code == 0
    of_tables = certree("verify", tables, "--json").document
    assert of_tables["valid"] is True
    assert of_tables["time_cycles"] == made["time_cycles"]
    assert certree("import", tables, "-o", again).code == 0
    assert load_schedule(again).digest == bare.digest
    for path, size in ((tables, ()), (again, ("--size", "64KiB"))):
        ran = certree("simulate", path, *size, "--json")
        assert ran.code == 0
        assert ran.document["cycles"] == ran.document["closed_form_cycles"] == made["time_cycles"]
        assert (ran.document["contention_cycles"], ran.document["late"], ran.document["data_ok"]) == (0, 0, True)


@pytest.mark.parametrize("collective", ["reduce-scatter", "all-gather"])
def test_collectives_of_one_phase(tmp_path, collective):
    file = tmp_path / "s.json"
    made = certree("synthesize", "mesh:3x3", "--collective", collective, "--size", "64KiB", "-o", file, "--json").document
    assert (made["valid"], made["collective"]) == (True, collective)
    ran = certree("simulate", file, "--size", "64KiB", "--json").document
    assert ran["cycles"] == ran["closed_form_cycles"] == made["time_cycles"]


def test_a_graph_that_a_user_has(tmp_path):
    """A random 4-regular graph of 64 nodes in GraphML: the partition bound, and a schedule that meets it."""
    graph = nx.random_regular_graph(4, 64, seed=5)
    nx.write_graphml(graph, tmp_path / "net.graphml")
    bound = certree("bound", tmp_path / "net.graphml", "--json").document
    assert bound["bandwidth_bound"] == "63/128"  # 2·63 messages over 2·128 links, if no other partition is tighter
    assert any(found["kind"] == "partition" and found["value"] == "63/128" for found in bound["bounds"])
    file = tmp_path / "s.json"
    asked = ["synthesize", tmp_path / "net.graphml", "--method", "packing", "--option", "rate=optimal", "-o", file, "--json"]
    made = certree(*asked).document
    assert made["bandwidth_time"] == "63/128"
    assert "bandwidth" in made["optimal_in"]
    assert certree("verify", file).code == 0


def test_tables_that_were_changed_are_refuted_not_run_as_right(tmp_path):
    """A row moved by one slot, with all checksums made right again: the judge refutes what the reader cannot see."""
    file = tmp_path / "s.json"
    assert certree("synthesize", "ring:4", "--method", "multitree", "--size", "16KiB", "-o", file).code == 0
    schedule = load_schedule(file)
    step = schedule.step.copy()
    step[-1] -= 2
    wrong = dataclasses.replace(schedule, step=step, certificate=None)
    export_tables(lower(wrong, 1 << 14, load_machine("multitree")), tmp_path / "tables")
    assert read_tables(tmp_path / "tables").schedule.digest == wrong.digest
    outcome = certree("verify", tmp_path / "tables", "--json")
    assert outcome.code == 1
    assert outcome.document["violations"]
    assert certree("import", tmp_path / "tables", "-o", tmp_path / "out.json").code == 1
    assert not (tmp_path / "out.json").exists()


COMMANDS_ON_NETWORKS = [
    ["synthesize", "{}", "-o", "out"],
    ["bound", "{}"],
    ["compare", "{}"],
    ["topology", "show", "{}"],
    ["topology", "convert", "{}", "-o", "out.json"],
]
BAD_NETWORKS = {
    "unknown": ("klein:4x4", "unknown topology 'klein:4x4'; allowed: "),
    "disconnected": ("mesh:1x3,without-node=1", "disconnected: no path from 0 to 2"),
    "one-node": ("mesh:1x1", "1 node(s); a network has 2 to"),
    "no-such-link": ("ring:4,without-link=0-2", "there is no such link"),
    "missing": ("none.graphml", "cannot read none.graphml: No such file"),
    "folder": ("folder.json", "Is a directory"),
    "unreadable": ("noise.json", "is not JSON"),
    "not-graphml": ("noise.graphml", "not GraphML"),
    "foreign": ("foreign.json", "format is 'msccl'; expected 'certree-topology' version 1"),
    "wrong-version": ("future.json", "version 9 cannot be read; expected 1"),
    "disconnected-file": ("apart.json", "disconnected: no path from 0 to 1"),
}


@pytest.fixture
def bad_files(tmp_path, monkeypatch):
    """A folder with a file for each fault, which becomes the current one."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder.json").mkdir()
    for name, text in {
        "noise.json": "\x00\x01noise",
        "noise.graphml": "\x00\x01noise",
        "foreign.json": '{"format": "msccl", "version": 1}',
        "future.json": '{"format": "certree-topology", "version": 9}',
        "apart.json": json.dumps(nx.node_link_data(nx.empty_graph(2), edges="edges")),
        "future-schedule.json": '{"format": "certree-schedule", "version": 9}',
    }.items():
        (tmp_path / name).write_text(text)
    return tmp_path


@pytest.mark.parametrize("arguments", COMMANDS_ON_NETWORKS, ids=lambda arguments: arguments[0] + arguments[1])
@pytest.mark.parametrize("fault", BAD_NETWORKS)
def test_bad_networks(bad_files, arguments, fault):
    before = sorted(os.listdir(bad_files))
    network, reason = BAD_NETWORKS[fault]
    assert_bad_input(certree(*(part.format(network) for part in arguments)), reason)
    assert sorted(os.listdir(bad_files)) == before


COMMANDS_ON_SCHEDULES = [
    ["verify", "{}"],
    ["certify", "{}", "-o", "out.json"],
    ["export", "{}", "-o", "out"],
    ["simulate", "{}", "--trace", "out.ndjson"],
]
BAD_SCHEDULES = {
    "missing": ("none.json", "cannot read none.json: No such file"),
    "unreadable": ("noise.json", "is not JSON"),
    "foreign": ("foreign.json", "format is 'msccl'; expected 'certree-schedule' version 1"),
    "wrong-version": ("future-schedule.json", "version 9 cannot be read; expected 1"),
    "topology": ("apart.json", 'no "format" field'),
}


@pytest.mark.parametrize(
    "arguments",
    [
        ["verify", "{}"],
        ["certify", "{}", "-o", "out.json"],
        ["export", "{}", "-o", "out"],
        ["simulate", "{}", "--trace", "out.ndjson"],
    ],
    ids=lambda arguments: arguments[0],
)
@pytest.mark.parametrize("fault", BAD_SCHEDULES)
def test_bad_schedules(bad_files, arguments, fault):
    before = sorted(os.listdir(bad_files))
    file, reason = BAD_SCHEDULES[fault]
    assert_bad_input(certree(*(part.format(file) for part in arguments)), reason)
    assert sorted(os.listdir(bad_files)) == before


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["--chunks", "0"], "0 is not in the range x>=1"),
        (["--chunks", "-1"], "-1 is not in the range x>=1"),
        (["--steps", "0"], "0 is not in the range x>=1"),
        (["--effort", "0"], "0 is not in the range x>=1"),
        (["--size", "-64MiB"], "size '-64MiB': expected a positive whole number"),
        (["--size", "0B"], "size '0B': expected a positive whole number"),
        (["--time-limit", "-1s"], "time '-1s': expected a positive whole number"),
        (["--params", "none.toml"], "cannot read none.toml: No such file"),
    ],
)
def test_bad_numbers(bad_files, arguments, reason):
    before = sorted(os.listdir(bad_files))
    assert_bad_input(certree("synthesize", "ring:4", *arguments, "-o", "out.json"), reason)
    assert sorted(os.listdir(bad_files)) == before
