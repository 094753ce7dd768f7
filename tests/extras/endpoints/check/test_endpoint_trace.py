"""Traces of engines are behaviours of AceEngine, with all rules or without some; altered and forged ones are refused."""

import gzip
import json
from dataclasses import replace

import pytest

from certree.extras.endpoints.check.endpoint_messages import check_messages
from certree.extras.endpoints.check.endpoint_trace_check import check_endpoint_trace, check_head
from certree.extras.endpoints.model.endpoint_traces import is_endpoint_trace, load_endpoint_trace
from certree.extras.endpoints.run.endpoint_program import Choices, Payload
from certree.extras.endpoints.run.endpoint_run import run_endpoints
from certree.extras.tla.check.tlc import Result
from certree.models.common.errors import InputError
from tests.extras.endpoints.run.test_endpoints import ACE, detour, made

KIB = 1 << 10
RING = made("ring:3", method="ring", bidirectional="false")


def traced(folder, schedule=RING, chunk=12 * KIB, chunks=6, machines=16, system="ace", **choices):
    """The file of a run of N chunks, and what the run showed."""
    endpoint = replace(ACE, engine=replace(ACE.engine, state_machines=machines))
    file, own = folder / "steps.jsonl", replace(ACE.system(system), chunk_bytes=chunk)
    result = run_endpoints(schedule, endpoint, own, [Payload(chunk * chunks)], Choices(**choices), trace=file, force=True)
    return file, result


def checked_trace(file, schedule=None):
    return check_endpoint_trace(load_endpoint_trace(file), file, schedule)


@pytest.mark.parametrize(
    "case",
    [
        {"chunks": 8, "machines": 2, "schedule": made("ring:4", method="ring"), "chunk": 16 * KIB, "ways": 2},
        {"chunks": 4, "machines": 4, "schedule": made("ace-alltoall:2x3"), "chunk": 12 * KIB, "ways": 2},
        {"chunks": 4, "machines": 1, "schedule": detour(), "chunk": 8 * KIB, "ways": 2},
    ],
    ids=["both ways round", "several phases and senders", "overtaking"],
)
def test_runs_are_behaviours_of_the_specification(tmp_path, case):
    file, result = traced(tmp_path, **case)
    assert result.data_ok
    checked = checked_trace(file, case["schedule"])
    steps = len(file.read_text().splitlines()) - 1
    assert checked.as_expected, checked.message
    assert checked.distinct_states == steps + 1
    assert checked.message == f"{steps} steps, all as in the specification"


def test_a_stalled_run_is_one_that_does_not_end(tmp_path):
    """Without a spare place at the ports: every step is allowed, and then there is none."""
    file, result = traced(tmp_path, chunks=2, spare=False)
    assert result.stall
    checked = checked_trace(file)
    steps = len(file.read_text().splitlines()) - 1
    assert (checked.as_expected, checked.result) == (False, Result.SAFETY)
    assert checked.message == f"BackInTheEnd: the trace ends after {steps} steps, and some chunk is not back in memory"


def test_engines_that_leave_the_order_of_loading_are_refused(tmp_path):
    file, result = traced(tmp_path, made("ace-torus:2x2x1"), 16 * KIB, chunks=12, machines=11, ways=2, in_order=False)
    assert result.data_ok
    checked = checked_trace(file)
    assert checked.result is Result.DEADLOCK
    assert ": go on of chunk " in checked.message


@pytest.fixture(scope="module")
def lines(tmp_path_factory):
    file, _ = traced(tmp_path_factory.mktemp("trace"))
    return [json.loads(line) for line in file.read_text().splitlines()]


def written(folder, lines):
    path = folder / "changed.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)) + "\n")
    return path


@pytest.mark.parametrize("wrong", ["swapped", "another message", "cut short"])
def test_an_altered_one_is_refused(tmp_path, lines, wrong):
    lines = [dict(line) for line in lines]
    place = next(index for index, line in enumerate(lines) if line.get("move") == "pass on")
    if wrong == "swapped":  # passed on before the first message to that node was sent
        first = next(index for index, line in enumerate(lines) if line.get("move") == "send")
        lines.insert(first, lines.pop(place) | {"cycle": lines[first]["cycle"]})
        place = first
    elif wrong == "another message":
        lines[place]["takes"] += 1
    else:
        del lines[-1]
    checked = checked_trace(written(tmp_path, lines))
    if wrong == "cut short":
        assert (checked.result, checked.message.split(":")[0]) == (Result.SAFETY, "BackInTheEnd")
    else:
        assert checked.result is Result.DEADLOCK
        assert checked.message.startswith(f"line {place + 1}, cycle {lines[place]['cycle']}: pass on of chunk ")


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"machines": [15]}, r"machines are \[15\]; 16 for 1 phases are \[16\]"),
        ({"rooms": [1 << 22, 1 << 22]}, "rooms are 8388608 bytes together; the SRAM has 4194304"),
        ({"rules": {"in_order": True, "spare": False, "apart": True}}, "a depth of 2; by the rules that the trace states it is 1"),
        ({"runs": "accelerator"}, "the specification is about engines; this run is of 'ace', which has none"),
        ({"runs": "accelerator", "system": "two\nlines"}, r"this run is of 'two\\nlines', which has none"),
        ({"order": [0, 1, 2, 3, 4, 4]}, "order must have each of the chunks 0 to 5 once"),
        ({"chunks": (1 << 31) - 1}, "order must have each of the chunks 0 to 2147483646 once"),  # at once, and in little memory
        ({"nodes": [0, 1, 1 << 31]}, "nodes 2 is 2147483648; allowed: whole numbers from 0 to 2147483647"),
        ({"nodes": [0, 1, 1]}, "nodes must each be listed once"),
        ({"sizes": [4096]}, "rooms and sizes must be of 2 partitions"),
        ({"rules": {"spare": True}}, "rules: in_order, apart are missing"),
        ({"sends": []}, r"sends is \[\]; expected a list, not empty"),
        ({"sends": [[[[], []]]]}, "sends of way 0, phase 0: expected a list for each of the 3 nodes"),
        ({"flows": [{"from": 9}]}, "flow 0: from is 9; allowed: 0, 1, 2"),
        ({"network": 3}, "network is 3; expected a string"),
        ({"format": "certree-tables"}, "certree-endpoint-trace"),
    ],
)
def test_a_forged_first_line_is_refused(tmp_path, lines, change, reason):
    path = written(tmp_path, [lines[0] | change])
    with pytest.raises(InputError, match=f"line 1.*{reason}"):
        check_head(load_endpoint_trace(path), f"{path}, line 1")


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        ({"flow": 2, "needs": []}, "flow 2 is of node 2 in phase 0"),
        ({"flow": 0, "needs": [[1, 1]]}, "node 0 waits for message 1 of node 1, which it does not get"),
        ({"flow": 0, "needs": [[2, 9]]}, "node 0 waits for message 9 of node 2, which it does not get"),
        ({"flow": 0, "needs": [2]}, r"needs must be a list of messages, each \[sender, number\]"),
        ({"flow": 3, "needs": []}, "flow is 3; allowed: whole numbers from 0 to 2"),
    ],
)
def test_messages_that_cannot_be_are_refused(tmp_path, lines, message, reason):
    head = json.loads(json.dumps(lines[0]))
    head["sends"][0][0][0][1] = message
    with pytest.raises(InputError, match=f"line 1: sends of way 0, phase 0.*{reason}"):
        load_endpoint_trace(written(tmp_path, [head]))


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"move": "jump"}, "move is 'jump'; allowed: load, send"),
        ({"node": 3}, "node is 3; allowed: 0, 1, 2"),
        ({"chunk": 6}, "chunk is 6; allowed: whole numbers from 0 to 5"),
        ({"cycle": -1}, "cycle is -1; allowed: whole numbers"),
        ({"move": "take"}, "from is missing"),
        ({"move": "send", "to": 1, "sends": 5}, "sends is 5; allowed: whole numbers from 1 to 4"),
    ],
)
def test_what_is_no_step(tmp_path, lines, change, reason):
    with pytest.raises(InputError, match=f"line 2: {reason}"):
        load_endpoint_trace(written(tmp_path, [lines[0], lines[1] | change]))


def test_time_does_not_go_back(tmp_path, lines):
    with pytest.raises(InputError, match=r"line 3: cycle is 0, before that of the line above, "):
        load_endpoint_trace(written(tmp_path, [*lines[:2], lines[2] | {"cycle": 0}]))


@pytest.mark.parametrize("rules", [{}, {"spare": False}])
@pytest.mark.parametrize(
    ("topology", "method", "ways", "machines"),
    [("ace-torus:4x2x2", "hierarchical", 2, 16), ("ace-alltoall:2x3", "hierarchical", 2, 7), ("mesh:2x3", "packing", 1, 5)],
)
def test_what_ports_hold_is_computed_again(tmp_path, topology, method, ways, machines, rules):
    """Whether or not the run ends."""
    file, _ = traced(tmp_path, made(topology, method=method), 16 * KIB, chunks=2, machines=machines, ways=ways, **rules)
    assert is_endpoint_trace(file)
    check_head(load_endpoint_trace(file), "")


@pytest.mark.parametrize("system", ["ace", "baseline"])  # messages of 4 KiB, and one a step
@pytest.mark.parametrize(
    ("topology", "collective", "method", "ways", "chunk"),
    [
        ("ace-torus:4x2x2", "all-reduce", "hierarchical", 2, 40),
        ("ace-alltoall:2x3", "all-to-all", "hierarchical-all-to-all", 1, 6),
        ("mesh:2x3", "all-reduce", "packing", 1, 50),
    ],
)
def test_messages_are_those_of_the_schedule(tmp_path, topology, collective, method, ways, chunk, system):
    """Segments are cut into several, or several segments are in one."""
    schedule = made(topology, collective, method)
    file, _ = traced(tmp_path, schedule, chunk * KIB, chunks=2, ways=ways, system=system)
    check_messages(load_endpoint_trace(file), schedule, "")


def test_messages_of_another_schedule_are_refused(tmp_path, lines):
    ran = load_endpoint_trace(written(tmp_path, lines))
    check_messages(ran, RING, "here")
    with pytest.raises(InputError, match=r"here: network is 'ring:3'; the schedule is for 'ring:4'"):
        check_messages(ran, made("ring:4", method="ring"), "here")
    with pytest.raises(InputError, match=r"here: collective is 'all-reduce'; the schedule is for 'all-gather'"):
        check_messages(ran, made("ring:3", "all-gather", "ring", bidirectional="false"), "here")


def one_more(head):
    head["sends"][0][0][2].append({"flow": 2, "needs": []})
    return "node 2 sends 5 messages of way 0; by the schedule 4"


def smaller_pieces(head):
    """More messages than any memory holds."""
    head["pieces"] = (1 << 31) - 1
    return "node 0 sends 4 messages of way 0; by the schedule [0-9]{10}"


def of_other_nodes(head):
    """Named anew, each node sends to the one before."""
    for flow in head["flows"]:
        flow["to"] = (flow["to"] + 1) % 3
    for of_node in head["sends"][0][0]:
        for message in of_node:
            message["needs"] = []
    return "node 0 sends its messages of way 0 to nodes 2, 2, 2, 2; by the schedule to 1, 1, 1, 1"


def nothing_awaited(head):
    head["sends"][0][0][1][2]["needs"] = []
    return "way 0: message 3 of node 1 in phase 0 waits for none; by the schedule for 2 of node 0"


def too_few_awaited(head):
    head["sends"][0][0][1][2]["needs"] = [[0, 1]]
    return "way 0: message 3 of node 1 in phase 0 waits for 1 of node 0; by the schedule for 2 of node 0"


def more_ways(head):
    head |= {"ways": 2, "sends": head["sends"] * 2}
    return r"3 nodes and 2 ways; the schedule has nodes 0, 1, 2 and 3 segments"


def another_phase(head):
    """What goes round comes in before the phase that it is sent in."""
    head |= {"machines": [8, 8], "rooms": [2, 1, 1], "sizes": [1, 1, 1], "flows": [*head["flows"], head["flows"][0] | {"phase": 1}]}
    of_nodes = head["sends"][0][0]
    first, of_nodes[0] = of_nodes[0], []
    for message in first:
        message |= {"flow": 3, "needs": []}
    for message in of_nodes[1]:
        message["needs"] = []
    head["sends"] = [[of_nodes, [first, [], []]]]
    return "way 0: node 1 sends on in phase 0 what node 0 sends in phase 1"


@pytest.mark.parametrize(
    "tamper", [one_more, smaller_pieces, of_other_nodes, nothing_awaited, too_few_awaited, more_ways, another_phase]
)
def test_a_first_line_that_tells_of_other_messages_is_refused(tmp_path, lines, tamper):
    head = json.loads(json.dumps(lines[0]))
    reason = tamper(head)
    ran = load_endpoint_trace(written(tmp_path, [head]))
    with pytest.raises(InputError, match=f"^here: {reason}$"):
        check_messages(ran, RING, "here")


def test_a_schedule_over_links_that_do_not_exist_is_refused(tmp_path, lines):
    """Whatever the trace says: 0 sends to itself, or by a way that ends elsewhere."""
    ran = load_endpoint_trace(written(tmp_path, lines))
    for change, reason in (
        ({"dst": RING.src}, r"step 0: row 0 \(.*\): sends to itself"),
        ({"route": RING.route * 0, "routes": ((0,),)}, r"step 0: row [0-9]+ \(.*\): its route leads elsewhere: 0>2"),
    ):
        with pytest.raises(InputError, match=f"the schedule for ring:3: {reason}"):
            check_messages(ran, replace(RING, **change), "here")


def test_a_zipped_trace_is_one(tmp_path, lines):
    zipped = tmp_path / "steps.jsonl.gz"
    zipped.write_bytes(gzip.compress("\n".join(map(json.dumps, lines)).encode()))
    assert is_endpoint_trace(zipped)
    assert load_endpoint_trace(zipped) == load_endpoint_trace(written(tmp_path, lines))


def test_ports_that_are_not_apart_have_another_order(tmp_path):
    file, _ = traced(tmp_path, apart=False)
    with pytest.raises(InputError, match="line 1: rule apart was left out"):
        checked_trace(file)


def test_other_systems_have_traces_that_are_not_of_engines(tmp_path):
    file, _ = traced(tmp_path, system="baseline")
    with pytest.raises(InputError, match="this run is of 'baseline', which has none"):
        checked_trace(file)
