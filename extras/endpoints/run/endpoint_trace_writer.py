"""Writes traces of endpoints (`models/traces/endpoint_traces.py`)."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from certree.extras.endpoints.model.endpoint_traces import FORMAT, MOVES, VERSION
from certree.extras.endpoints.run.endpoint_program import EndpointProgram

NO_ROW = (1 << 32) - 1  # as in core/endpoint/run/simulation.hpp

#: cycle, node, chunk, move, row taken, row sent
Move = tuple[int, int, int, int, int, int]


def trace_lines(program: EndpointProgram, moves: Sequence[Move]) -> Iterator[dict[str, Any]]:
    """The lines of a trace: the run, then the events at endpoints in order. O(moves + rows²/64)."""
    rows, endpoints = program.rows, program.rows.schedule.topology.endpoints.tolist()
    source, target = (rows.of_messages(name).tolist() for name in ("src", "dst"))
    numbers = _numbers(program).tolist()
    yield _head(program, _order(program, moves), numbers)
    for cycle, node, chunk, move, taken, sent in moves:
        line = {"cycle": cycle, "node": endpoints[node], "chunk": chunk, "move": MOVES[move]}
        if taken != NO_ROW:
            line |= {"from": endpoints[source[taken]], "takes": numbers[taken]}
        if sent != NO_ROW:
            line |= {"to": endpoints[target[sent]], "sends": numbers[sent]}
        yield line


def _order(program: EndpointProgram, moves: Sequence[Move]) -> list[int]:
    """The order of loading, which is the same at all nodes: that of the node with the most chunks; unloaded chunks come last."""
    loaded: list[list[int]] = [[] for _ in range(program.nodes)]
    for _, node, chunk, move, _, _ in moves:
        if MOVES[move] == "load":
            loaded[node].append(chunk)
    longest = max(loaded, key=len)
    return longest + sorted(set(range(program.chunks)) - set(longest))


def _numbers(program: EndpointProgram) -> np.ndarray[Any, np.dtype[np.int64]]:
    """For every row: its position among the rows of its node, phase and part, from 1."""
    begin = program.columns["row_begin"].astype(np.int64)
    return np.arange(begin[-1]) - np.repeat(begin[:-1], np.diff(begin)) + 1


def _head(program: EndpointProgram, order: Sequence[int], numbers: Sequence[int]) -> dict[str, Any]:
    schedule, columns, choices = program.rows.schedule, program.columns, program.choices
    endpoints = schedule.topology.endpoints.tolist()
    rows_of_flow = np.unique(columns["row_flow"], return_index=True)[1].tolist()
    source, target, flow = (columns[name].tolist() for name in ("row_source", "row_destination", "row_flow"))
    needs = _needs(program)
    begin = columns["row_begin"].tolist()

    def sends(part: int, phase: int, node: int) -> list[dict[str, Any]]:
        place = (part * program.rows.phases + phase) * program.nodes + node
        return [
            {"flow": flow[row], "needs": [[endpoints[source[one]], numbers[one]] for one in needs[row]]}
            for row in range(begin[place], begin[place + 1])
        ]

    return {
        "format": FORMAT,
        "version": VERSION,
        "network": schedule.topology.name,
        "collective": str(schedule.collective.kind),
        "system": program.system.name,
        "runs": str(program.system.runs),
        "nodes": endpoints,
        "chunks": program.chunks,
        "order": list(order),
        "ways": program.rows.parts,
        "pieces": program.rows.pieces,
        "pieces_of_message": program.rows.pieces_of_message,
        "state_machines": program.endpoint.engine.state_machines,
        "machines": program.machines,
        "sram_bytes": program.endpoint.engine.sram_bytes,
        "rooms": program.rooms,
        "sizes": program.sizes,
        "rules": {"in_order": choices.in_order, "spare": choices.spare, "apart": choices.apart},
        "flows": [
            {
                "from": endpoints[source[row]],
                "to": endpoints[target[row]],
                "phase": int(columns["flow_phase"][number]),
                "lanes": int(columns["link_lanes"][columns["flow_link"][number]]),
                "depth": int(columns["flow_depth"][number]),
            }
            for number, row in enumerate(rows_of_flow)
        ],
        "sends": [
            [[sends(part, phase, node) for node in range(program.nodes)] for phase in range(program.rows.phases)]
            for part in range(program.rows.parts)
        ],
    }


def _needs(program: EndpointProgram) -> list[list[int]]:
    """For every row the rows of its phase that it waits for, without those that one of these already waits for."""
    rows = program.rows
    earlier, later = rows.waits()
    phase, step = rows.of_messages("phase"), rows.of_messages("step")
    within = phase[earlier] == phase[later]
    before: list[list[int]] = [[] for _ in range(len(phase))]
    for one, other in zip(earlier[within].tolist(), later[within].tolist(), strict=True):
        before[other].append(one)
    ancestors = [0] * len(before)  # bits
    for row in np.argsort(step, kind="stable").tolist():
        for one in before[row]:
            ancestors[row] |= ancestors[one] | 1 << one
    return [[one for one in found if not any(ancestors[other] >> one & 1 for other in found)] for found in before]
