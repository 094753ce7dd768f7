"""Traces of the simulator are behaviours of the specification; tampered ones are refused, with the message and the field."""

import json
from dataclasses import replace

import pytest

from certree.extras.tla.check.table_constants import plan_of
from certree.extras.tla.check.traces.interfaces import check_trace
from certree.hw.engines.table_framing import framed, packet_lengths
from certree.hw.tables.lowering import lower
from certree.models.common.errors import InputError, UnsupportedError
from certree.models.machine.clocks import parse_clocks
from certree.models.schedule.schedule_columns import Op
from tests.hw.runs import on_lanes, on_routers
from tests.specs.test_schedules import resorted, tables_of
from tests.specs.test_table_model import MACHINE, down, paths, ring, schedule_of, up

# Four chunks and no time between the steps: rows of one step find their ports busy when paced.
CROWDED = schedule_of(
    "ring:4",
    "all-reduce",
    [(c + 4 * k, op, s, d, t) for k in (0, 1) for c, op, s, d, t in up([0, 1, 2, 3]) + down([0, 1, 2, 3], 2)],
)


def traced(folder, schedule, run, size=4096, clocks=None):
    tables = lower(schedule, size, MACHINE)
    result = on_lanes(tables, run, trace=folder / "trace.ndjson", force=True, clocks=clocks)
    return tables, folder / "trace.ndjson", result


@pytest.mark.parametrize(
    ("schedule", "run", "contention"),
    [
        (ring(), "slotted", False),
        (ring(), "paced", False),
        (paths(1, (0, 1, 1, 2, 2, 3), 3), "slotted", False),
        (paths(2, (0, 2, 2, 4, 4, 6), 2), "slotted", False),
        (CROWDED, "slotted", True),
        (CROWDED, "paced", True),
    ],
    ids=["ring", "ring paced", "repeating", "delay 2", "contention", "contention paced"],
)
def test_traces_are_behaviours(tmp_path, schedule, run, contention):
    tables, trace, simulated = traced(tmp_path, schedule, run)
    assert (simulated.contention_cycles > 0) == contention
    result = check_trace(tables, trace, run)
    assert result.as_expected, result.message
    assert result.message == f"{simulated.messages} messages, all as in the specification"
    assert (result.mode, result.trace) == ("trace", "")


def clocks_of(skew, drift):
    return parse_clocks(4, skew, drift)


@pytest.mark.parametrize(
    ("schedule", "run", "clocks"),
    [
        (ring(), "slotted", clocks_of("0=7,1=3,2=9,3=4", "0=1/7,1=-1/9,2=50ppm")),
        (CROWDED, "slotted", clocks_of("3=500", "1=-1/3,2=1/4000")),
        (CROWDED, "paced", clocks_of("2=31", "0=1/3,3=-2/7")),
        (paths(1, (0, 1, 1, 2, 2, 3), 3), "slotted", clocks_of("1=200", "2=1/50")),
    ],
    ids=["no clock starts at zero", "late rows", "paced", "repeating"],
)
def test_runs_with_skew_and_drift_are_behaviours(tmp_path, schedule, run, clocks):
    """A run is a behaviour by its own clocks, and by no others: equal ones, or one that starts a cycle later."""
    tables, trace, _ = traced(tmp_path, schedule, run, clocks=clocks)
    result = check_trace(tables, trace, run, clocks=clocks)
    assert result.as_expected, result.message
    late = replace(clocks, skew=(clocks.skew[0] + 1, *clocks.skew[1:]))
    assert check_trace(tables, trace, run, clocks=late).message.startswith("FiredAsLogged: node 0, ")


def test_a_slot_that_opens_a_cycle_early_is_refused(tmp_path):
    """The time of a clock that drifts is rounded up as a whole: rounded down, or for each slot by itself, it is another."""
    clocks = clocks_of("1=3", "0=1/7")
    tables, trace, _ = traced(tmp_path, ring(), "slotted", clocks=clocks)
    step = int(tables.step[tables.node == 0].max())
    opens = -(-step * tables.slot_cycles * 8 // 7)
    assert step * tables.slot_cycles * 8 // 7 == opens - 1
    assert step * -(-tables.slot_cycles * 8 // 7) > opens
    log = [json.loads(line) for line in trace.read_text().splitlines()]
    last = [entry for entry in log if (entry["node"], entry["fired"]) == (0, opens)]
    assert last
    for entry in last:
        entry |= {name: entry[name] - 1 for name in ("fired", "first_flit", "last_flit_arrived", "usable")}
    trace.write_text("".join(json.dumps(entry) + "\n" for entry in log))
    told = f"fired in cycle {opens - 1} by the trace, in cycle {opens} by the specification"
    refused = check_trace(tables, trace, clocks=clocks)
    assert told in refused.message
    assert "late by -" not in refused.trace


def test_clocks_that_tlc_cannot_count(tmp_path):
    tables, trace, _ = traced(tmp_path, ring(), "slotted")
    with pytest.raises(UnsupportedError, match=r"node 0: skew 0 and drift 1/3000000001 in .* more than TLC has"):
        check_trace(tables, trace, clocks=clocks_of(None, "1/3000000001"))


@pytest.mark.parametrize(
    ("spec", "run", "flow", "contention"),
    [("switch:4", "slotted", "message", False), ("mesh:2x3", "paced", "packet", True), ("ring:4", "slotted", "packet", False)],
    ids=["routes", "packets paced", "packets"],
)
def test_runs_through_routers_are_behaviours(tmp_path, spec, run, flow, contention):
    """Each flit through routers with credits; the specification sees messages, however many packets carry one."""
    tables = tables_of(spec, "multitree", 1 << 13)
    result = on_routers(tables, run, framing=flow, trace=tmp_path / "trace.ndjson")
    assert (result.contention_cycles > 0, len(packet_lengths(tables, flow)) > 1) == (contention, flow == "packet")
    checked = check_trace(framed(tables, flow), tmp_path / "trace.ndjson", run)
    assert checked.as_expected, checked.message


def squeezed():
    """switch:4 in half the slots: two come to one port, and to one link out of the switch."""
    tables = tables_of("switch:4", "multitree", 1 << 13)
    return resorted(tables, tables.step // 2)[0]


# Through a switch, through endpoints (whose own messages wait with those that pass), and by several routes between two nodes.
ROUTED = {
    "switch": squeezed,
    "ring": lambda: tables_of("ring:4", "cps", 1 << 13),
    "fat tree": lambda: tables_of("fattree:2x2", "multitree", 1 << 13),
}


@pytest.mark.parametrize("make", ROUTED.values(), ids=ROUTED)
def test_messages_wait_for_each_link_of_their_way(tmp_path, make):
    """Paced; a message that is said to have come without waiting on its route is refused, with its name."""
    tables, trace = make(), tmp_path / "trace.ndjson"
    assert max(map(len, tables.routes)) > 1
    assert on_lanes(tables, "paced", trace=trace).contention_cycles > 0
    result = check_trace(tables, trace, "paced")
    assert result.as_expected, result.message
    log = [json.loads(line) for line in trace.read_text().splitlines()]
    alone = {route[:2]: cycles[0] for route, cycles in plan_of(tables, whole=True).travel.items()}
    held_up = [e for e in log if e["last_flit_arrived"] - e["first_flit"] > alone[e["node"], e["destination"]]]
    entry = held_up[-1]
    entry["last_flit_arrived"] = entry["first_flit"] + alone[entry["node"], entry["destination"]]
    trace.write_text("".join(json.dumps(line) + "\n" for line in log))
    place = f"node {entry['node']}, row {entry['row']}, iteration 0, to node {entry['destination']}: last_flit_arrived in cycle "
    assert check_trace(tables, trace, "paced").message.startswith(
        f"ArrivedAsLogged: {place}{entry['last_flit_arrived']} by the trace"
    )


def test_flits_that_take_turns_on_a_link_are_no_messages_in_lanes(tmp_path):
    """Routers with virtual channels do that where messages meet on their way; a lane serves one message after the other."""
    tables = squeezed()
    on_routers(tables, "paced", trace=tmp_path / "trace.ndjson")
    assert check_trace(tables, tmp_path / "trace.ndjson", "paced").message.startswith("ArrivedAsLogged: node ")


def test_a_packet_trace_is_no_message_trace(tmp_path):
    """Headers of packets take their time."""
    tables = lower(ring(), 1 << 13, MACHINE)
    on_routers(tables, framing="packet", trace=tmp_path / "trace.ndjson")
    assert check_trace(tables, tmp_path / "trace.ndjson").message.startswith("ArrivedAsLogged: node ")


@pytest.fixture(scope="module")
def crowded(tmp_path_factory):
    tables, trace, _ = traced(tmp_path_factory.mktemp("trace"), CROWDED, "paced")
    return tables, [json.loads(line) for line in trace.read_text().splitlines()]


def waiting(entry):
    return entry["first_flit"] > entry["fired"]


def sums_at(log):
    """Two sums that come to node 2 in one cycle, in the order in which its unit takes them: by the source of the last link."""
    first, second = sorted((e for e in log if e["destination"] == 2 and e["last_flit_arrived"] == 191), key=lambda e: e["node"])
    assert (first["usable"], second["usable"]) == (208, 224)  # 1 cycle until it is ready, 16 in the unit
    return first, second


def swap(log):
    first, second = sums_at(log)
    first["usable"], second["usable"] = second["usable"], first["usable"]


@pytest.mark.parametrize(
    ("tamper", "result", "message"),
    [
        (lambda log: log[5].update(fired=log[5]["fired"] + 1), "safety", "FiredAsLogged: node "),
        (lambda log: next(filter(waiting, log)).update(first_flit=0), "safety", "EnteredAsLogged: node "),
        (lambda log: log[7].update(last_flit_arrived=log[7]["last_flit_arrived"] - 1), "safety", "ArrivedAsLogged: node "),
        (lambda log: log[0].update(usable=log[0]["last_flit_arrived"]), "safety", "UsableAsLogged: node "),
        (lambda log: log[-1].update(usable=log[-1]["usable"] + 1), "safety", "UsableAsLogged: node "),
        (
            swap,
            "safety",
            "ReducedAsLogged: node 1, row 0, iteration 0, to node 2: usable in cycle 224 by the trace, in cycle 208",
        ),
        (
            lambda log: sums_at(log)[1].update(usable=208),
            "safety",
            "ReducedAsLogged: node 3, row 1, iteration 0, to node 2: ",
        ),
        (
            lambda log: sums_at(log)[1].update(usable=225),
            "safety",
            "ReducedAsLogged: node 3, row 1, iteration 0, to node 2: ",
        ),
        (lambda log: log.pop(), "safety", "EveryMessageLogged: node "),
        (
            lambda log: log.append(log[-1] | {"row": 99}),
            "safety",
            "NothingElseLogged: the trace has 49 messages, more than the tables",
        ),
    ],
    ids=[
        "fired late",
        "port not busy",
        "arrived early",
        "sum usable at once",
        "copy usable late",
        "sums swapped",
        "two sums at a time",
        "sum a cycle late",
        "message missing",
        "message added",
    ],
)
def test_tampered_traces_are_refused(tmp_path, crowded, tamper, result, message):
    tables, log = crowded
    log = [dict(entry) for entry in log]
    tamper(log)
    trace = tmp_path / "trace.ndjson"
    trace.write_text("".join(json.dumps(entry) + "\n" for entry in log))
    found = check_trace(tables, trace, "paced")
    assert (found.result, found.as_expected) == (result, False)
    assert found.message.startswith(message)


def test_a_slotted_trace_is_no_paced_one(tmp_path):
    tables, trace, _ = traced(tmp_path, ring(), "slotted")
    assert check_trace(tables, trace, "paced").message.startswith("FiredAsLogged: node ")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty; expected a trace of simulate"),
        ("{", "line 1 is not JSON"),
        ("{}", "line 1: node is missing"),
    ],
)
def test_files_that_are_no_traces(tmp_path, text, message):
    (tmp_path / "t").write_text(text)
    with pytest.raises(InputError, match=message):
        check_trace(lower(ring(), 4096, MACHINE), tmp_path / "t")


def test_a_message_that_is_there_twice(tmp_path):
    tables, trace, _ = traced(tmp_path, ring(), "slotted")
    trace.write_text(trace.read_text() + trace.read_text().splitlines()[0] + "\n")
    with pytest.raises(InputError, match="a second line for node "):
        check_trace(tables, trace)


def test_repeating_tables_are_not_paced(tmp_path):
    with pytest.raises(UnsupportedError, match="paced runs has one iteration; these tables have 3"):
        check_trace(lower(paths(1, (0, 1, 1, 2, 2, 3), 3), 4096, MACHINE), tmp_path / "t", "paced")


def test_ops_of_the_crowded_schedule():
    """Both kinds of messages are in what the tampered traces are made of."""
    assert {Op(int(op)) for op in CROWDED.op} == {Op.REDUCE, Op.COPY}
