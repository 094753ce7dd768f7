"""Traces of reducing switches are behaviours of the specification, whatever the network does; tampered ones are refused."""

import json
from fractions import Fraction

import pytest

from certree.hw.aggregation_setup import AggregationRules
from certree.models.aggregation_trace import load_aggregation_trace
from certree.models.errors import InputError, UnsupportedError
from certree.verify.aggregation_trace_model import check_aggregation_trace
from certree.verify.tlc import Result
from tests.hw.test_aggregation import KIB, run

LOSSY = AggregationRules(window=2, loss=Fraction(1, 6), duplicates=Fraction(1, 6), latest=300, seed=5)


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
    for flow, checked in zip(flows, check_aggregation_trace(path), strict=True):
        assert checked.as_expected, checked.message
        assert checked.message == f"{len(flow.steps)} steps, all as the specification has them"


@pytest.fixture(scope="module")
def lines(tmp_path_factory):
    path, _ = traced(tmp_path_factory.mktemp("trace"), "switch:3")
    return [json.loads(line) for line in path.read_text().splitlines()]


def first(lines, **fields):
    """Number of the first line with these values."""
    return next(i for i, line in enumerate(lines) if all(line.get(name) == value for name, value in fields.items()))


def lost_send(lines):
    """Only the send of a packet's one copy makes its arrival possible."""
    del lines[first(lines, event="send", node=1, number=0)]
    return Result.DEADLOCK, "of packet 0, node 1: the specification cannot do that there"


def early_result(lines):
    index = first(lines, event="add", sends="all")
    lines[index]["sends"] = "one"
    return Result.SAFETY, f"SentAsLogged: line {index + 1}, "


def cut_short(lines):
    del lines[-1]
    return Result.SAFETY, f"FinishedInTheEnd: the trace ends after {len(lines) - 1} steps, and some host lacks a result"


@pytest.mark.parametrize("tamper", [lost_send, early_result, cut_short])
def test_tampered_traces_are_refused(tmp_path, lines, tamper):
    changed = [dict(line) for line in lines]
    result, message = tamper(changed)
    path = tmp_path / "tampered.ndjson"
    path.write_text("\n".join(map(json.dumps, changed)) + "\n")
    (checked,) = check_aggregation_trace(path)
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
    (checked,) = check_aggregation_trace(path)
    assert checked.message.startswith("SafeReuse: line ")


def test_wide_switches_are_not_traced(tmp_path):
    with pytest.raises(UnsupportedError, match="a switch of 65 children cannot be traced; the most is 64"):
        traced(tmp_path, "switch:65", AggregationRules(), KIB)


@pytest.mark.parametrize(
    ("number", "field", "value", "reason"),
    [
        (0, "format", "certree-tables", "certree-aggregation-trace"),
        (0, "flows", [], "flows must be a list of one flow or more"),
        (1, "flow", 1, "flow is 1; allowed: 0 to 0"),
        (1, "event", "jump", "event is 'jump'; allowed: send, add, pass, take, lose, copy"),
        (1, "node", 9, "node is 9; allowed: 0, 1, 2, 3"),
        (1, "number", -1, "number is -1; expected a whole number"),
        (1, "cycle", "0", "cycle is '0'; expected a whole number"),
    ],
)
def test_what_is_no_trace(tmp_path, lines, number, field, value, reason):
    changed = [dict(line) for line in lines]
    changed[number][field] = value
    path = tmp_path / "bad.ndjson"
    path.write_text("\n".join(map(json.dumps, changed)) + "\n")
    with pytest.raises(InputError, match=f"line {number + 1}.*{reason}"):
        load_aggregation_trace(path)


def test_a_tree_that_is_none(tmp_path, lines):
    changed = [dict(line) for line in lines]
    flow = changed[0]["flows"][0]
    for change, reason in (
        ({"parent": {"0": 3}}, "parent must give every host"),
        ({"root": 0}, "parent must give every host"),
        ({"window": 99}, "a window of 99 for 5 packets"),
        ({"hosts": "all"}, "hosts must be a list of nodes"),
        ({"packets": 0}, "packets is 0"),
    ):
        path = tmp_path / "bad.ndjson"
        path.write_text(json.dumps(changed[0] | {"flows": [flow | change]}) + "\n")
        with pytest.raises(InputError, match=reason):
            load_aggregation_trace(path)
