"""Random runs of reducing switches, step by step against the protocol in plain Python, and their counters against its counts."""

import json
import random
from dataclasses import replace
from fractions import Fraction

import pytest

from certree.extras.aggregation.model.aggregation_traces import LEFT
from certree.extras.aggregation.run.setup import AggregationRules
from tests.extras.aggregation.run.replayed_protocol import replay
from tests.extras.aggregation.run.test_aggregation import SMALL, mishaps, run

NETWORKS = [("switch:3", 1), ("switch:2,capacity=2", 1), ("tree:3+1", 1), ("fattree:2x2", 2), ("leafspine:3x2x2", 2), ("binary", 1)]


def run_of(folder, seed):
    """(result, first line, steps, packets left in the end) of a random run in which places are used many times."""
    draw = random.Random(~seed)
    network, flows = draw.choice(NETWORKS)
    rules, more = mishaps(seed, flows)
    machine = replace(SMALL, reduce_start_cycles=draw.choice([0, 7]), link_latency_cycles=draw.choice([0, 4]))
    trace = folder / "t.ndjson"
    result = run(network, rules, machine, draw.randint(100, 1200), chunks=flows, trace=trace, force=True, **more)
    return result, *parts_of(trace)


def parts_of(trace):
    """The first line of a trace, its steps, and the number of packets that it says are left in the end."""
    head, *lines = map(json.loads, trace.read_text().splitlines())
    steps = [line for line in lines if line["event"] != LEFT]
    return head, steps, sum(line["copies"] for line in lines[len(steps) :])


def assert_as_counted(result, seen, left):
    """The counters of a run are those of its steps, and what was sent has come, is lost, or is still in flight."""
    count = result.counters
    assert {name: count[name] for name in ("sent", "copied", "resent", "repeated", "ignored")} == {
        name: seen[name] for name in ("sent", "copied", "resent", "repeated", "ignored")
    }
    assert count["results_again"] == seen["again"]
    assert count["lost"] + count["dropped"] == seen["lost"]
    waiting = seen["in flight"]  # in the network, and at adders
    assert waiting == left
    assert 0 <= count["sent"] + count["copied"] - count["received"] - count["lost"] - count["dropped"] <= waiting


@pytest.mark.parametrize("seed", range(20))
def test_every_step_is_the_protocols(tmp_path, seed):
    result, head, lines, left = run_of(tmp_path, seed)
    assert result.data_ok
    assert_as_counted(result, replay(head, lines, result.timeout), left)


@pytest.fixture(scope="module")
def lossy(tmp_path_factory):
    trace = tmp_path_factory.mktemp("lossy") / "t.ndjson"
    rules = AggregationRules(window=2, loss=Fraction(1, 5), duplicates=Fraction(1, 3), latest=900, buffer_packets=1, timeout=90)
    result = run("tree:2x2", rules, replace(SMALL, reduce_quantum_cycles=40), trace=trace)
    head, lines, _ = parts_of(trace)
    assert min(result.counters[name] for name in ("dropped", "repeated", "results_again")) > 0
    return head, lines, result.timeout


def test_the_run_that_is_tampered_with_is_right(lossy):
    replay(*lossy)


@pytest.mark.parametrize("field", ["works_on", "arrived", "has_result", "sends", "switch"])
@pytest.mark.parametrize("event", ["add", "pass"])
def test_another_state_or_answer_is_refused(lossy, event, field):
    head, lines, timeout = lossy
    others = {"works_on": 1000, "arrived": [], "has_result": None, "sends": "some", "switch": 99}
    index = max(number for number, line in enumerate(lines) if line["event"] == event and line["arrived"])
    changed = [*lines[:index], {**lines[index], field: others[field]}, *lines[index + 1 :]]
    with pytest.raises(AssertionError):
        replay(head, changed, timeout)


@pytest.mark.parametrize("event", ["send", "add", "pass", "take", "copy"])
def test_a_step_left_out_is_refused(lossy, event):
    """One that others rest on: of a switch, the first that sends results."""
    head, lines, timeout = lossy
    index = next(number for number, line in enumerate(lines) if line["event"] == event and line.get("sends", "all") == "all")
    with pytest.raises(AssertionError):
        replay(head, lines[:index] + lines[index + 1 :], timeout)


def test_what_is_lost_does_not_come(lossy):
    """A packet that takes the place of the only one in flight."""
    head, lines, timeout = lossy
    index = next(number for number, line in enumerate(lines) if line["event"] == "take")
    stolen = {
        "cycle": lines[index]["cycle"],
        "flow": 0,
        "event": "lose",
        "way": "down",
        **{k: lines[index][k] for k in ("node", "number")},
    }
    with pytest.raises(AssertionError, match="is not in flight"):
        replay(head, [*lines[:index], stolen, stolen, stolen, *lines[index:]], timeout)


def test_another_timeout_or_window_is_refused(lossy):
    head, lines, timeout = lossy
    with pytest.raises(AssertionError):
        replay(head, lines, timeout + 1)
    for changed in ({"window": 1}, {"window": 3}, {"places": 3}):
        with pytest.raises(AssertionError):
            replay({"flows": [head["flows"][0] | changed]}, lines, timeout)
