"""Traces of reducing switches are behaviours of the specification, whatever the network does; tampered ones are refused."""

import json
from fractions import Fraction

import numpy as np
import pytest

from certree.extras.aggregation.check.aggregation_trace_check import check_aggregation_trace
from certree.extras.aggregation.check.reducing_network import aggregated_flows, check_traced_network
from certree.extras.aggregation.model.aggregation_traces import load_aggregation_trace
from certree.extras.aggregation.run.setup import AggregationRules
from certree.extras.tla.check.tlc import Result
from certree.models.common.errors import InputError, UnsupportedError
from certree.models.network.routing import DIRECT
from certree.models.network.spec import parse_topology
from certree.models.network.topology import Topology
from certree.models.schedule.collective import parse_collective
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.schedule_columns import NO_ROOT, Op
from certree.synth.method import Request, load_methods
from tests.extras.aggregation.run.test_aggregation import KIB, MULTITREE, SMALL, run, schedule_of

LOSSY = AggregationRules(window=2, loss=Fraction(1, 6), duplicates=Fraction(1, 6), latest=300, seed=5)


def check(path, network, size=160, chunks=1, **more):
    """What the checker says of a trace of a run on SMALL."""
    flows = aggregated_flows(schedule_of(network, chunks), size, SMALL)
    return check_aggregation_trace(load_aggregation_trace(path), flows, path, **more)


def traced(folder, network, rules=LOSSY, size=160, **more):
    path = folder / "trace.ndjson"
    return path, run(network, rules, size=size, trace=path, force=True, **more)


@pytest.mark.parametrize(
    ("network", "more"),
    [("switch:3", {"engine": "flit"}), ("tree:3+1", {"ways": 1}), ("leafspine:2x1x2", {"ways": 2, "chunks": 2})],
    ids=["star", "tree", "spines and other ways"],
)
def test_traces_are_behaviours(tmp_path, network, more):
    """Places are used again and again, while packets are lost, doubled and late."""
    path, result = traced(tmp_path, network, **more)
    assert result.data_ok
    assert min(result.counters[name] for name in ("lost", "copied", "resent", "repeated", "results_again")) > 0
    flows = load_aggregation_trace(path)
    assert all(flow.packets > flow.places // 2 for flow in flows)
    checks = check(path, network, chunks=more.get("chunks", 1), window=2, aggregators=result.aggregators)
    for flow, checked in zip(flows, checks, strict=True):
        assert checked.as_expected, checked.message
        assert checked.message == f"{len(flow.steps)} steps, all as in the specification"


def test_what_only_the_trace_says_is_told(tmp_path):
    path, _ = traced(tmp_path, "switch:2", size=64)
    (checked,) = check(path, "switch:2", size=64)
    assert checked.message.endswith(" all as in the specification, with a window of 2 and 4 places as stated in the trace")


NETWORK = "switch:3"


@pytest.fixture(scope="module")
def lines(tmp_path_factory):
    path, _ = traced(tmp_path_factory.mktemp("trace"), NETWORK)
    return [json.loads(line) for line in path.read_text().splitlines()]


def written(folder, lines):
    path = folder / "tampered.ndjson"
    path.write_text("\n".join(map(json.dumps, lines)) + "\n")
    return path


def first(lines, **fields):
    """Number of the first line with these values."""
    return next(i for i, line in enumerate(lines) if all(line.get(name) == value for name, value in fields.items()))


def lost_send(lines):
    """Only the send of a packet's one copy makes its arrival possible."""
    del lines[first(lines, event="send", node=1, number=0)]
    return Result.DEADLOCK, "of packet 0, node 1: the specification does not allow this step"


def early_result(lines):
    index = first(lines, event="add", sends="all")
    lines[index]["sends"] = "one"
    return Result.SAFETY, f"SentAsLogged: line {index + 1}, "


def cut_short(lines):
    last = max(number for number, line in enumerate(lines) if line.get("event") == "take")
    del lines[last:]
    return Result.SAFETY, f"FinishedInTheEnd: the trace ends after {len(lines) - 1} steps, and some host lacks a result"


NOT_LEFT = "the copies that were sent and neither arrived nor were lost are not those that it says are left"


def untold_loss(lines):
    """The loss of a result that is sent once more afterwards: without the line nothing else changes."""
    del lines[first(lines, event="lose", way="down")]
    steps = sum("event" in line and line["event"] != "left" for line in lines)
    return Result.SAFETY, f"BalancedInTheEnd: the trace ends after {steps} steps, and {NOT_LEFT}"


def nothing_left(lines):
    del lines[first(lines, event="left") :]
    return Result.SAFETY, "BalancedInTheEnd: "


@pytest.mark.parametrize("tamper", [lost_send, early_result, cut_short, untold_loss, nothing_left])
def test_tampered_traces_are_refused(tmp_path, lines, tamper):
    changed = [dict(line) for line in lines]
    result, message = tamper(changed)
    refuse(tmp_path, changed, result, message)


def test_a_contribution_told_of_another_switch_is_refused(tmp_path):
    """The place of the switch above is as empty as the one that the contribution came to was."""
    path, _ = traced(tmp_path, "tree:3+1", AggregationRules(), size=32)
    changed = [json.loads(line) for line in path.read_text().splitlines()]
    index, root = first(changed, event="add"), changed[0]["flows"][0]["root"]
    assert changed[index]["switch"] != root
    changed[index] |= {"switch": root, "arrived": []}
    refuse(tmp_path, changed, Result.SAFETY, f"SwitchAsLogged: line {index + 1}, ", "tree:3+1", 32)


def refuse(folder, lines, result, message, network=NETWORK, size=160):
    (checked,) = check(written(folder, lines), network, size)
    assert (checked.as_expected, checked.result) == (False, result)
    assert message in checked.message


def test_the_trace_of_a_stall_breaks_a_promise(tmp_path):
    """One place less than twice the window: a place goes to a later packet while a host still lacks the result."""
    seed, rules = 0, None
    while True:
        rules = AggregationRules(window=2, aggregators=3, loss=Fraction(1, 6), seed=seed)
        path, result = traced(tmp_path, "switch:2", rules, allow_stall=True)
        if result.stall:
            break
        seed += 1
    (checked,) = check(path, "switch:2")
    assert checked.message.startswith("SafeReuse: line ")


# A first line that tells of a network on which the lines below are right, though it was another one that ran.


def without_a_host(lines):
    """All that host 2 ever did is left out, and so is the host."""
    head = lines[0]["flows"][0]
    head["hosts"].remove(2)
    del head["parent"]["2"]
    kept = [line for line in lines if line.get("node") != 2]
    for line in kept:
        if "arrived" in line:
            line["arrived"] = [node for node in line["arrived"] if node != 2]
    lines[:] = kept
    return "flow 0: node 2 is no host; on the network that is given it is one"


def without_the_last_packet(lines):
    lines[0]["flows"][0]["packets"] -= 1
    lines[:] = [line for line in lines if line.get("number") != 4]
    return "flow 0: packets is 4; expected 5"


def a_wider_window(lines):
    """What the window forbids is sent at once."""
    lines[0]["flows"][0] |= {"window": 5, "places": 10}
    return "flow 0: window is 5; expected 2"


def more_places(lines):
    lines[0]["flows"][0]["places"] = 100
    return "flow 0: places is 100; expected 4"


def another_switch(lines):
    lines[0]["flows"][0] |= {"switches": [7], "root": 7, "parent": {"0": 7, "1": 7, "2": 7}}
    for line in lines[1:]:
        if "switch" in line:
            line["switch"] = 7
    return "flow 0: node 0 is below switch 7; on the network that is given it is below switch 3"


def another_level(lines):
    """Host 0 alone below a switch of its own."""
    lines[0]["flows"][0] |= {"switches": [3, 4], "parent": {"0": 4, "1": 3, "2": 3, "4": 3}}
    return "flow 0: node 0 is below switch 4; on the network that is given it is below switch 3"


def one_more_host(lines):
    lines[0]["flows"][0]["hosts"].append(9)
    lines[0]["flows"][0]["parent"]["9"] = 3
    return "flow 0: node 9 is a host; on the network that is given there is no such one"


def one_more_flow(lines):
    lines[0]["flows"] *= 2
    return "2 flows; the given network and size make 1"


@pytest.mark.parametrize(
    "tamper",
    [without_a_host, without_the_last_packet, a_wider_window, more_places, another_switch, another_level, one_more_host,
     one_more_flow],
)  # fmt: skip
def test_a_trace_that_chooses_its_network_is_refused(tmp_path, lines, tamper):
    changed = json.loads(json.dumps(lines))
    reason = tamper(changed)
    path = written(tmp_path, changed)
    load_aggregation_trace(path)
    with pytest.raises(InputError, match=f"tampered.ndjson, line 1: {reason}"):
        check(path, NETWORK, window=2, aggregators=4)


@pytest.mark.parametrize("size", [1, 160, 1000])
@pytest.mark.parametrize(
    ("network", "chunks"), [("switch:4", 1), ("tree:2x3", 1), ("binary", 1), ("fattree:2x4", 4), ("fattree:2x4", 3)]
)
def test_network_and_sizes_made_again_are_those_of_the_simulator(tmp_path, network, chunks, size):
    path, result = traced(tmp_path, network, AggregationRules(), size, chunks=chunks)
    flows = aggregated_flows(schedule_of(network, chunks), size, SMALL)
    check_traced_network(load_aggregation_trace(path), flows, path, window=result.window, aggregators=result.aggregators)


@pytest.mark.parametrize(
    ("network", "method", "kind", "reason"),
    [
        ("switch:4,reducing=switches", "ring", "all-reduce", "is reduced at a node that is not a reducing switch"),
        ("ring:4", "multitree", "all-reduce", "is reduced at a node that is not a reducing switch"),
        ("ring:4", "ring", "all-gather", "reducing switches perform all-reduces; the schedule is a all-gather"),
    ],
)
def test_schedules_that_switches_cannot_aggregate_have_no_flows(network, method, kind, reason):
    schedule = load_methods()[method](Request(parse_topology(network), parse_collective(kind), KIB, MULTITREE))
    with pytest.raises(UnsupportedError, match=reason):
        aggregated_flows(schedule, KIB, MULTITREE)


def tree_of(*edges, missing=None):
    """An all-reduce of endpoints 0 and 1 behind reducing switches 2 to 5, up these edges and down again; a link may be missing."""
    back = tuple((above, node) for node, above in edges)
    links = np.array(sorted({*edges, *back} - {missing}))
    sizes = np.ones(len(links), int)
    topology = Topology("forged", np.array([0, 0, 1, 1, 1, 1]), *links.T, sizes, sizes, reducing=np.arange(6) > 1)
    rows = [(Op.REDUCE, 0, *edge) for edge in edges] + [(Op.COPY, 1, *edge) for edge in back]
    columns = dict(zip(("op", "step", "src", "dst"), np.array(rows).T, strict=True))
    columns |= {"chunk": np.zeros(len(rows), int), "route": np.full(len(rows), DIRECT)}
    return Schedule(topology, parse_collective("all-reduce"), np.array([NO_ROOT]), np.ones(2, int), **columns)


@pytest.mark.parametrize(
    ("schedule", "reason"),
    [
        (tree_of((0, 2), (1, 2), (0, 2)), "a chunk that goes from one node to another twice"),
        (tree_of((0, 2), (1, 2), (3, 4), (4, 5), (5, 3)), "a chunk that switches send in a circle"),
        (tree_of((0, 2), (1, 2), (2, 3), missing=(3, 2)), r"step 1: row 5 \(copy of chunk 0, 3>2\): forged has no link 3>2"),
    ],
)
def test_forged_trees_have_no_flows(schedule, reason):
    with pytest.raises((InputError, UnsupportedError), match=reason):
        aggregated_flows(schedule, KIB, MULTITREE)


def test_wide_switches_are_not_traced(tmp_path):
    with pytest.raises(UnsupportedError, match="a switch of 65 children cannot be traced; the most is 64"):
        traced(tmp_path, "switch:65", AggregationRules(), KIB)


@pytest.mark.parametrize(
    ("number", "field", "value", "reason"),
    [
        (0, "format", "certree-tables", "certree-aggregation-trace"),
        (0, "flows", [], r"flows is \[\]; expected a list, not empty"),
        (1, "flow", 1, "flow is 1; allowed: whole numbers from 0 to 0"),
        (1, "event", "jump", "event is 'jump'; allowed: send, add, pass, take, lose, copy"),
        (1, "node", 9, "node is 9; allowed: 0, 1, 2"),
        (1, "node", 3, "node is 3; allowed: 0, 1, 2"),  # a switch sends of itself
        (1, "number", -1, "number is -1; allowed: whole numbers from 0 to 4"),
        (1, "number", 5, "number is 5; allowed: whole numbers from 0 to 4"),
        (1, "cycle", "0", "cycle is '0'; allowed: whole numbers"),
        (-1, "cycle", 0, "cycle is 0, before that of the line above, "),
    ],
)
def test_what_is_no_trace(tmp_path, lines, number, field, value, reason):
    changed = [dict(line) for line in lines]
    changed[number][field] = value
    path = tmp_path / "bad.ndjson"
    path.write_text("\n".join(map(json.dumps, changed)) + "\n")
    with pytest.raises(InputError, match=f"line {number % len(changed) + 1}.*{reason}"):
        load_aggregation_trace(path)


def test_a_line_of_too_many_brackets_is_no_json(tmp_path, lines):
    path = tmp_path / "bad.ndjson"
    path.write_text(json.dumps(lines[0]) + "\n" + "[" * 200_000 + "\n")
    with pytest.raises(InputError, match="line 2 is not JSON"):
        load_aggregation_trace(path)


def test_a_graph_that_is_not_a_tree(tmp_path, lines):
    changed = [dict(line) for line in lines]
    flow = changed[0]["flows"][0]
    for change, reason in (
        ({"parent": {"0": 3}}, "parent must give every host"),
        ({"root": 0}, "parent must give every host"),
        ({"window": 99}, "a window of 99 for 5 packets"),
        ({"hosts": "all"}, "hosts is 'all'; expected a list"),
        ({"packets": 0}, "packets is 0; allowed: whole numbers from 1 to 2147483647"),
        ({"places": 1 << 31}, "places is 2147483648; allowed: whole numbers from 1 to 2147483647"),
        ({"hosts": [0, 1, -2]}, "hosts 2 is -2; allowed: whole numbers from 0"),
        ({"parent": {"0": 3, "1": 3, "2": 3.0}}, "parent: 2 is 3.0; allowed: 3"),
    ):
        path = tmp_path / "bad.ndjson"
        path.write_text(json.dumps(changed[0] | {"flows": [flow | change]}) + "\n")
        with pytest.raises(InputError, match=reason):
            load_aggregation_trace(path)
