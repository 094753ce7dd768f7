"""The main job as a user does it, on a small network, from a name to tables that ran; and input that is refused everywhere."""

import dataclasses

import networkx as nx
import pytest

from certree.hw.tables.directory import export_tables, read_tables
from certree.hw.tables.lowering import lower
from certree.models.machine.machine import load_machine
from certree.models.schedule.schedule_file import load_schedule, save_schedule
from tests.cli.artefacts import schedule_file
from tests.cli.running import certree, json_of

NETWORKS = ["mesh:3x3", "torus:3x3,without-link=0-1", "ring:5", "hypercube:4", "full:4", "mesh:2x2x3,capacity=2"]


@pytest.mark.parametrize("network", NETWORKS)
def test_the_four_checks_agree(tmp_path, network):
    """Synthesize, verify, certify, export, verify the tables, import, simulate: one schedule all the way, one time."""
    file, certified, tables, again = (tmp_path / name for name in ("s.json", "certified.json", "tables", "again.json"))
    made = json_of("synthesize", network, "--size", "64KiB", "-o", file)
    assert made["valid"] is True
    assert json_of("verify", file, "--topology", network, "--size", "64KiB") == made
    bare = load_schedule(file).with_certificate(None)
    save_schedule(bare, tmp_path / "bare.json")
    assert certree("certify", tmp_path / "bare.json", "-o", certified).code == 0
    assert certified.read_bytes() == file.read_bytes()
    assert certree("export", certified, "--size", "64KiB", "-o", tables).code == 0
    of_tables = json_of("verify", tables)
    assert of_tables["valid"] is True
    assert of_tables["time_cycles"] == made["time_cycles"]
    assert certree("import", tables, "-o", again).code == 0
    assert load_schedule(again).digest == bare.digest
    for path, size in ((tables, ()), (again, ("--size", "64KiB"))):
        ran = json_of("simulate", path, *size)
        assert ran["cycles"] == ran["closed_form_cycles"] == made["time_cycles"]
        assert (ran["contention_cycles"], ran["late"], ran["data_ok"]) == (0, 0, True)


@pytest.mark.parametrize("collective", ["reduce-scatter", "all-gather"])
def test_collectives_of_one_phase(tmp_path, collective):
    file = tmp_path / "s.json"
    made = json_of("synthesize", "mesh:3x3", "--collective", collective, "--size", "64KiB", "-o", file)
    assert (made["valid"], made["collective"]) == (True, collective)
    ran = json_of("simulate", file, "--size", "64KiB")
    assert ran["cycles"] == ran["closed_form_cycles"] == made["time_cycles"]


def test_a_graph_that_a_user_has(tmp_path):
    """A random 4-regular graph of 64 nodes in GraphML: the partition bound, and a schedule that meets it."""
    graph = nx.random_regular_graph(4, 64, seed=5)
    nx.write_graphml(graph, tmp_path / "net.graphml")
    bound = json_of("bound", tmp_path / "net.graphml")
    assert bound["bandwidth_bound"] == "63/128"  # 2·63 messages over 2·128 links, if no other partition is tighter
    assert any(found["kind"] == "partition" and found["value"] == "63/128" for found in bound["bounds"])
    file = tmp_path / "s.json"
    asked = ["synthesize", tmp_path / "net.graphml", "--method", "packing", "--option", "rate=optimal", "-o", file, "--json"]
    made = certree(*asked).document
    assert made["bandwidth_time"] == "63/128"
    assert "bandwidth" in made["optimal_in"]
    assert certree("verify", file).code == 0


def test_tables_that_were_changed_are_refuted_not_run_as_right(tmp_path):
    """A row moved by one slot, with all checksums made right again: the verifier rejects what the reader cannot detect."""
    file = schedule_file(tmp_path, "ring:4", "multitree", size="16KiB")
    schedule = load_schedule(file)
    step = schedule.step.copy()
    step[-1] -= 2
    wrong = dataclasses.replace(schedule, step=step, certificate=None)
    export_tables(lower(wrong, 1 << 14, load_machine("multitree")), tmp_path / "tables")
    assert read_tables(tmp_path / "tables").schedule.digest == wrong.digest
    outcome = json_of("verify", tmp_path / "tables", code=1)
    assert outcome["violations"]
    assert certree("import", tmp_path / "tables", "-o", tmp_path / "out.json").code == 1
    assert not (tmp_path / "out.json").exists()
