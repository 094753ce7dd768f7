"""Command lines that are refused: exit code 2, one line with the reason on stderr, nothing on stdout, and no file written."""

import gzip
import json
import os
import shlex
from pathlib import Path

import networkx as nx
import pytest

from tests.cli.artefacts import schedule_file
from tests.cli.running import certree

#: what a word stands for: several commands, the rest of the line in place of {}
FORMS = {
    "@network": ["synthesize {} -o out", "bound {}", "compare {}", "topology show {}", "topology convert {} -o out.json"],
    "@schedule": ["verify {}", "certify {} -o out.json", "export {} -o out", "simulate {} --trace out.ndjson"],
    "@root": ["bound ring:4 {}", "synthesize ring:4 {}", "compare ring:4 {}"],
    "@star": ["aggregate switch:4,reducing=switches {}"],
    "@leaves": ["aggregate fattree:2x2,reducing=switches {}"],
    "@made": ["synthesize ring:4 {} -o out.json"],
    "@packets": ["inject mesh:8x8 {}"],
    "@flow": ["simulate cps.json --engine flow {}"],
}
#: command line -> part of the message. The files are those of `folder`.
REFUSED = (Path(__file__).parent / "bad_input.txt").read_text()


def cases():
    for line in filter(None, REFUSED.splitlines()):
        command, reason = line.split(" -> ")
        form, _, rest = command.partition(" ")
        for words in FORMS.get(form, [form + " {}"]):
            yield words.format(rest).strip(), reason


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Schedules, tables and all kinds of other files."""
    made = tmp_path_factory.mktemp("bad")
    for name in ("empty", "folder.json"):
        (made / name).mkdir()
    (made / "folder.json" / "thesis.tex").write_text("years")
    schedule_file(made)
    schedule_file(made, "switch:4", "cps", "cps.json", size="1MiB")
    schedule_file(made, "tree:2x2", "cps", "tree.json")
    for name in ("tables", "altered"):
        assert certree("export", made / "s.json", "--size", "64KiB", "-o", made / name).code == 0
    table = min((made / "altered").glob("node_*.hex"))
    table.write_text(table.read_text().replace("1", "2", 1))
    found = certree("frontier", "ring:4", "--collective", "all-gather", "--max-chunks", "1", "-o", made / "frontier.json")
    assert found.code == 0
    forest = nx.disjoint_union(nx.star_graph(2), nx.star_graph(2))
    nx.set_node_attributes(forest, {node: "switch" if node in (0, 3) else "endpoint" for node in forest}, "kind")
    forest = nx.relabel_nodes(forest, {0: 2, 1: 0, 2: 1, 3: 5, 4: 3, 5: 4})
    for name, document in {
        "foreign.json": {"format": "msccl", "version": 1},
        "future.json": {"format": "certree-topology", "version": 9},
        "topology.json": {"format": "certree-topology", "version": 1},
        "future-schedule.json": {"format": "certree-schedule", "version": 9},
        "new.json": {"format": "certree-schedule", "version": 3},
        "nodes.json": {"nodes": []},
        "apart.json": nx.node_link_data(nx.empty_graph(2), edges="edges"),
        "forest.json": nx.node_link_data(forest, edges="links"),
    }.items():
        (made / name).write_text(json.dumps(document))
    for name in ("noise.json", "noise.graphml", "text.json", "bytes.npz", "bytes.json.gz"):
        (made / name).write_text("\x00\x01noise")
    for name in ("taken.json", "taken.svg", "taken.toml", "times.csv"):
        (made / name).write_text("mine")
    (made / "mine.csv").write_text("chunk,op,src,dst,step\n0,reduce,1,0,0\n0,copy,0,1,1\n")
    (made / "gather.csv").write_text("chunk,op,src,dst,step\n0,copy,0,1,0\n1,copy,2,1,0\n")
    (made / "packets.csv").write_text("id,src,dst,flits,start\n7,0,1,17,0\n")
    (made / "cut.json.gz").write_bytes(gzip.compress(b'{"format":"certree-frontier","version":1')[:-9])
    (made / "bare.json.gz").write_bytes(gzip.compress(b'{"format":"certree-frontier","version":2}'))
    return made


def state(folder):
    return {entry.path: entry.stat().st_mtime_ns for entry in os.scandir(folder)}


@pytest.mark.parametrize(("line", "reason"), list(cases()), ids=lambda value: value)
def test_refused(folder, monkeypatch, line, reason):
    monkeypatch.chdir(folder)
    before = state(folder)
    outcome = certree(*shlex.split(line))
    assert (outcome.code, outcome.out) == (2, ""), outcome
    *notes, error = outcome.err.splitlines()
    assert error.startswith("error: ")
    assert reason in error
    assert all(note.startswith("the schedule ") for note in notes)  # made for another size or machine
    assert state(folder) == before


@pytest.mark.parametrize("command", ["cost", "measure"])
def test_no_arguments(command):
    assert certree(command).code == 2
