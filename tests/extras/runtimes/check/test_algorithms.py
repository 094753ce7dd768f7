"""Chakra traces of collectives: a wrong one for each rule, random edits that an independent interpreter checks, and bad files."""

import random
from dataclasses import replace
from pathlib import Path

import pytest

from certree.extras.runtimes.check.algorithm_checker import verify_algorithm
from certree.extras.runtimes.make.algorithms import lower_to_algorithm, simulator_files
from certree.extras.runtimes.model.algorithm import algorithm_of, read_algorithm, written_algorithm
from certree.extras.runtimes.model.chakra import NodeType, Trace, read_chakra, written_chakra
from certree.models.common.errors import InputError, UnsupportedError
from certree.models.machine.machine import load_machine
from certree.models.schedule.collective import CollectiveKind
from certree.models.schedule.symmetric.symmetric_schedule import written_out
from tests.extras.runtimes.interpreters.trace_interpreter import faults
from tests.synth.execution import make

EDITS = 50
RING = written_algorithm(lower_to_algorithm(make("ring", "ring:3"), 3000))


def read(files):
    return {name: read_chakra(data, name) for name, data in files.items()}


def with_node(number, *, rank=0, files=RING, **fields):
    """The files with one node changed: fields of it, or attributes."""
    traces = read(files)
    trace = traces[f"algorithm.{rank}.et"]
    node = trace.nodes[number]
    own = {name: value for name, value in fields.items() if name in ("waits", "type", "id")}
    more = {name: value for name, value in fields.items() if name not in own}
    trace.nodes[number] = replace(node, **own, attributes={**node.attributes, **more})
    return {name: written_chakra(one) for name, one in traces.items()}


def numbers(kind, rank=0):
    return [at for at, node in enumerate(read(RING)[f"algorithm.{rank}.et"].nodes) if node.type is kind]


SENDS, RECEIVES, ADDS = (numbers(kind) for kind in (NodeType.SEND, NodeType.RECEIVE, NodeType.COMPUTE))
FAULTS = {
    "unmatched": lambda: with_node(SENDS[0], comm_size=7),
    "deadlock-in-program": lambda: with_node(ADDS[0], waits=(RECEIVES[0], RECEIVES[-1])),
    "race": lambda: with_node(ADDS[0], waits=()),
    "input-changed": lambda: with_node(RECEIVES[0], data="i[0]"),
    "wrong-data": lambda: with_node(SENDS[0], data="i[1]"),
}


def broken(files, kind=None):
    return set(verify_algorithm(algorithm_of(files, "x"), kind).verdict.counts)


def faults_of(files):
    return faults(dict(enumerate(files.values())))


def test_the_right_one_is_right() -> None:
    assert not broken(RING)
    assert not faults_of(RING)
    assert written_algorithm(algorithm_of(RING, "x")) == RING


@pytest.mark.parametrize("rule", FAULTS)
def test_rule(rule) -> None:
    files = FAULTS[rule]()
    others = {"input-changed": {"race", "wrong-data"}, "race": {"wrong-data"}}
    assert {rule} <= broken(files) <= {rule} | others.get(rule, set())
    assert faults_of(files)


def without_data(files):
    traces = read(files)
    for trace in traces.values():
        trace.attributes.clear()
        for node in trace.nodes:
            node.attributes.pop("data")
    return {name: written_chakra(trace) for name, trace in traces.items()}


def test_traces_that_do_not_state_their_data() -> None:
    """What can be said of them: a rank to which nothing comes from another one cannot have its data ("no-chain")."""
    files = without_data(RING)
    assert not broken(files, CollectiveKind.ALL_REDUCE)
    with pytest.raises(InputError, match="do not state their collective"):
        broken(files)
    with pytest.raises(UnsupportedError, match="do not say which data"):
        verify_algorithm(algorithm_of(files, "x"), CollectiveKind.ALL_REDUCE).run()
    loose = read(files)
    for trace in loose.values():
        trace.nodes[:] = [replace(node, waits=()) for node in trace.nodes]
    assert broken({name: written_chakra(one) for name, one in loose.items()}, CollectiveKind.ALL_REDUCE) == {"no-chain"}


@pytest.mark.parametrize(
    ("network", "method", "collective"),
    [
        ("ring:3", "ring", "all-reduce"),
        ("switch:3", "flows", "all-to-all"),
        ("mesh:2x2", "multitree", "all-gather"),
        ("hypercube:2", "halving-doubling", "all-reduce"),
    ],
)
def test_what_another_interpreter_calls_wrong_is_refused(network, method, collective) -> None:
    files = written_algorithm(lower_to_algorithm(written_out(make(method, network, collective)), 4096))
    draw = random.Random(f"{network} 1")
    assert not faults_of(files)
    assert not broken(files)
    wrong = right = 0
    for _ in range(EDITS):
        changed = edited(files, draw)
        try:
            found = broken(changed)
        except InputError:
            found = {"unreadable"}
        if faults_of(changed):
            wrong += 1
            assert found
        else:
            right += 1
            assert not found
    assert wrong >= EDITS // 2
    assert right


def edited(files, draw):
    """A node left out or doubled, a dependency less or more, or a peer, tag, size or place changed."""
    traces = read(files)
    nodes = draw.choice(list(traces.values())).nodes
    at = draw.randrange(len(nodes))
    node, what = nodes[at], draw.randrange(5)
    if what == 0:
        nodes[at : at + 1] = [] if draw.random() < 0.5 else [node, replace(node, id=1000)]
    elif what == 1 and node.waits:
        nodes[at] = replace(node, waits=tuple(one for one in node.waits if one != draw.choice(node.waits)))
    elif what == 2:
        nodes[at] = replace(node, waits=(*node.waits, draw.choice(nodes).id))
    elif what == 3:
        text = str(node.attributes["data"])
        place = draw.choice(["i", "o", "s"]) + f"[{draw.randrange(4)}]"
        cut = draw.choice([at for at, letter in enumerate(text) if letter in "ios"])
        nodes[at] = replace(node, attributes={**node.attributes, "data": text[:cut] + place + text[text.index("]", cut) + 1 :]})
    else:
        names = [name for name in node.attributes if name.startswith("comm_")]
        if names:
            name = draw.choice(names)
            nodes[at] = replace(node, attributes={**node.attributes, name: int(str(node.attributes[name])) + draw.choice([-1, 1])})
    return {name: written_chakra(trace) for name, trace in traces.items()}


def empty(collective, chunks):
    """Files without nodes."""
    return {name: written_chakra(Trace([], attributes={"collective": collective, "chunks": chunks})) for name in RING}


@pytest.mark.parametrize(
    ("files", "words"),
    [
        (lambda: with_node(SENDS[0], comm_dst=3), "algorithm.0.et: node 0 ('send 0'): comm_dst is 3; allowed: 0 to 2"),
        (lambda: with_node(SENDS[0], comm_dst=0), "comm_dst is 0, the rank itself"),
        (lambda: with_node(SENDS[0], comm_size=0), "comm_size is 0; allowed: 1 to"),
        (lambda: with_node(SENDS[0], data="x[1]"), "data is 'x[1]'; expected a text such as o[0]"),
        (lambda: with_node(ADDS[0], data="o[1]"), "data is 'o[1]'; expected a text such as i[0]+s[1]>o[0]"),
        (lambda: with_node(SENDS[0], waits=(99,)), "waits for node 99, which is not in the file"),
        (lambda: with_node(SENDS[0], type=NodeType.COLLECTIVE), "type COLLECTIVE; expected SEND, RECEIVE or COMPUTE"),
        (lambda: {"algorithm.0.et": RING["algorithm.0.et"]}, "x: 1 rank; a collective has at least 2"),
        (lambda: RING | {"algorithm.1.et": written_chakra(Trace([]))}, "ranks state different collectives"),
        (lambda: empty("sum", 1), "unknown collective 'sum'"),
        (lambda: empty("all-gather", 4), "4 chunks; all-gather"),
        (lambda: empty("reduce", 0), "chunks is 0; allowed: 1"),
    ],
)
def test_what_is_no_algorithm(files, words) -> None:
    with pytest.raises(InputError) as caught:
        algorithm_of(files(), "x")
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_files_of_the_simulator() -> None:
    machine = load_machine("multitree")
    files = simulator_files(make("ring", "ring:3"), 3000, machine, "folder")
    assert b'"all-reduce-implementation-custom":["folder/algorithm"]' in files["system.json"]
    assert b'"npus_count":[3]' in files["network.yml"]
    (node,) = read_chakra(files["workload/all.2.et"], "x").nodes
    assert (node.type, node.attributes["comm_size"]) == (NodeType.COLLECTIVE, 3000)
    torus = simulator_files(make("multitree", "torus:2x4"), 3000, machine, "folder")["network.yml"]
    assert b'"npus_count":[4,2]' in torus
    assert b'"topology":["Ring","Ring"]' in torus
    assert "network.yml" not in simulator_files(make("multitree", "mesh:2x2"), 3000, machine, "folder")
    assert not simulator_files(make("binomial", "mesh:2x2", "broadcast", root=0), 3000, machine, "folder")


def test_files_of_a_folder(tmp_path: Path) -> None:
    for name, data in RING.items():
        (tmp_path / name).write_bytes(data)
    assert verify_algorithm(read_algorithm(tmp_path)).valid
