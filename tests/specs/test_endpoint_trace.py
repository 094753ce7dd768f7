"""Traces of engines are behaviours of AceEngine, and altered ones are not."""

import json
from dataclasses import replace

import pytest

from certree.hw.endpoint_program import Choices, EndpointProgram, Payload
from certree.hw.endpoints import run_endpoints
from certree.models.collective import parse_collective
from certree.models.endpoint import load_endpoint
from certree.models.machine import load_machine
from certree.models.topology_spec import parse_topology
from certree.synth.method import Request, load_methods
from certree.verify.model_list import specs_folder
from certree.verify.table_constants import function, members
from certree.verify.tlc import Result, run_tlc

ACE, NODES, CHUNKS = load_endpoint("ace"), 3, 6
CHOICES = Choices(apart=False)  # the specification has one port for all state machines of a phase


@pytest.fixture(scope="module")
def traced(tmp_path_factory):
    """The log of a ring of three, six chunks of one message a step; and the program that was played."""
    request = Request(
        parse_topology(f"ring:{NODES}"),
        parse_collective("all-reduce"),
        1 << 16,
        load_machine("multitree"),
        options={"bidirectional": "false"},
    )
    schedule, file = load_methods()["ring"](request), tmp_path_factory.mktemp("trace") / "steps.jsonl"
    payloads = [Payload(CHUNKS * NODES * 4096)]
    system = replace(ACE.system("ace"), chunk_bytes=NODES * 4096)
    assert run_endpoints(schedule, ACE, system, payloads, CHOICES, trace=file).data_ok
    program = EndpointProgram(schedule, ACE, system, payloads, CHOICES)
    return [json.loads(line) for line in file.read_text().splitlines()], program


def judged(folder, log, program):
    """What TLC says of the log, with the constants of the run."""
    lines = ",\n".join(f'  [node |-> {line["node"]}, chunk |-> {line["chunk"]}, move |-> "{line["move"]}"]' for line in log)
    machines, chunks = program.machines[0], range(CHUNKS)
    definitions = [
        f"MCPlan == {function([(chunk, '<<1>>') for chunk in chunks])}",
        f"MCMachine == {function([(chunk, f'<<{chunk % machines}>>') for chunk in chunks])}",
        f"MCOrder == [n \\in Nodes |-> <<{', '.join(map(str, chunks))}>>]",
        f"MCTo == <<[n \\in Nodes |-> (n + 1) % {NODES}]>>",
        "MCPort == <<1>>",
        f"MCSteps == <<{2 * (NODES - 1)}>>",
        f"MCSize == <<{', '.join(map(str, program.sizes))}>>",
        f"MCRoom == <<{', '.join(map(str, program.rooms))}>>",
        f"GivenLog == <<\n{lines}>>",
        "MCLog == GivenLog",
    ]
    module, config = folder / "EndpointTrace.tla", folder / "EndpointTrace.cfg"
    module.write_text("\n".join(["---- MODULE EndpointTrace ----", "EXTENDS TraceAceEngine, TLC", *definitions, "====", ""]))
    names = ("Plan", "Machine", "Order", "To", "Port", "Steps", "Size", "Room", "Log")
    config.write_text(
        "\n".join([
            "SPECIFICATION TraceSpec",
            "CONSTANTS",
            f"  Nodes = {members(range(NODES))}",
            f"  Chunks = {members(chunks)}",
            "  Phases = 1",
            f"  Depth = {int(program.columns['flow_depth'][0])}",
            *(f"  {name} <- MC{name}" for name in names),
            "INVARIANTS TypeOK NoOverrun NoOverflow QueuedWhereItIs OnlyWhatIsDue BackInTheEnd",
            "PROPERTIES InOrder",
            "",
        ])
    )  # fmt: skip
    return run_tlc(module, config, specs_folder(), time_limit=120, heap="1g")


def test_a_run_is_a_behaviour_of_the_specification(traced, tmp_path):
    log, program = traced
    assert len(log) == NODES * CHUNKS * 8
    run = judged(tmp_path, log, program)
    assert (run.result, run.distinct_states) == (Result.SUCCESS, len(log) + 1)


@pytest.mark.parametrize("wrong", ["swapped", "doubled", "another chunk", "cut short"])
def test_an_altered_one_is_not(traced, tmp_path, wrong):
    log, program = traced
    log = [dict(line) for line in log]
    place = next(index for index, line in enumerate(log) if line["move"] == "pass on")
    if wrong == "swapped":  # passed on before the first message to that node was sent
        log.insert(next(index for index, line in enumerate(log) if line["move"] == "send"), log.pop(place))
    elif wrong == "doubled":
        log.insert(place, log[place])
    elif wrong == "another chunk":
        log[place]["chunk"] = CHUNKS - 1
    else:
        del log[-1]
    run = judged(tmp_path, log, program)
    if wrong == "cut short":
        assert (run.result, run.broken) == (Result.SAFETY, "BackInTheEnd")
    else:
        assert run.result is Result.DEADLOCK
        assert run.distinct_states <= place + 2
