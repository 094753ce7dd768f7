"""What waits for what, and for each other: the native search against networkx, and gates against runs of reads and writes."""

from dataclasses import replace
from itertools import groupby, pairwise

import networkx as nx
import numpy as np
import pytest

from certree.models.schedule.schedule_columns import Op
from certree.synth._native import gates_of, strong_parts
from certree.synth.fine.order import order_of
from certree.synth.fine.program import Program, program_of
from tests.synth.execution import make


def test_parts_are_those_of_networkx():
    rng = np.random.default_rng(11)
    for nodes in (1, 2, 7, 40, 200):
        for edges in (0, nodes // 2, nodes, 3 * nodes):
            tail, head = rng.integers(nodes, size=(2, edges), dtype=np.int32)
            graph = nx.DiGraph()
            graph.add_nodes_from(range(nodes))
            graph.add_edges_from(zip(tail.tolist(), head.tolist(), strict=True))
            part = strong_parts(nodes, tail, head)
            found = {frozenset(np.flatnonzero(part == number).tolist()) for number in range(int(part.max()) + 1)}
            assert found == set(map(frozenset, nx.strongly_connected_components(graph)))


def test_edges_without_ends_are_refused():
    one, none = np.zeros(1, np.int32), np.zeros(0, np.int32)
    with pytest.raises(ValueError, match="as many heads as tails"):
        strong_parts(1, one, none)
    with pytest.raises(ValueError, match="not a node"):
        strong_parts(1, one, one + 1)


def test_exchanges_between_accumulators_are_groups_in_their_order():
    """Recursive doubling on four nodes: in each of two steps two pairs swap sums, every node with another one."""
    order = order_of(program_of(make("recursive-doubling", "full:4", message_bytes=1024)))
    assert order.groups == sorted(order.groups)
    assert {len(rows) for rows in order.groups} == {2}
    assert sorted(row for rows in order.groups for row in rows) == list(range(len(order.group)))
    assert all(order.group[row] == number for number, rows in enumerate(order.groups) for row in rows)


def random_program(rng: np.random.Generator) -> Program:
    """Up to 12 rows between three nodes with two buffers each, of which no row is local."""
    rows = int(rng.integers(1, 13))
    program = program_of(make("ring", "full:3", message_bytes=1024))
    src, dst = np.array([(0, 1), (1, 2), (2, 0), (1, 0)], np.int32)[rng.integers(4, size=rows)].T
    columns = {"chunk": 0, "op": rng.integers(2, size=rows), "src_buffer": rng.integers(2, size=rows), "dst_buffer": 0}
    columns |= {"reads": rng.integers(5, size=rows), "block": 0, "family": 0, "part": 0}
    columns["writes"] = columns["reads"]
    columns = {name: np.broadcast_to(column, rows).astype(np.int32) for name, column in columns.items()}
    return replace(program, src=src, dst=dst, routes=((),) * rows, **columns)


def test_each_run_of_reads_or_writes_waits_for_the_run_before():
    rng, compared = np.random.default_rng(5), 0
    for _ in range(300):
        program = random_program(rng)
        order = order_of(program)
        if order.groups:  # which get gates of their own
            continue
        read, written = program.cells()
        uses = [(cell, stage, 0, row) for row, (cell, stage) in enumerate(zip(read.tolist(), program.reads.tolist(), strict=True))]
        uses += [
            (cell, stage, 1, row) for row, (cell, stage) in enumerate(zip(written.tolist(), program.writes.tolist(), strict=True))
        ]
        wanted = set[tuple[int, tuple[int, ...], bool]]()
        for _, cell in groupby(sorted(uses), key=lambda use: use[0]):
            runs: list[tuple[int, list[int]]] = []
            for _, _, kind, row in cell:
                is_same = bool(runs) and runs[-1][0] == kind
                copies = kind and is_same and Op.COPY in (program.op[row], program.op[runs[-1][1][-1]])
                if not is_same or copies:
                    runs.append((kind, []))
                runs[-1][1].append(row)
            wanted |= {(row, tuple(sorted(fed)), bool(kind)) for (kind, fed), (_, rows) in pairwise(runs) for row in rows}
        fed_by = [
            {gate: tuple(row for row, gates in enumerate(events) if gate in gates) for gate in range(len(order.needs))}
            for events in (order.when_sent, order.when_landed)
        ]
        found = {
            (row, fed_by[lands][gate], bool(lands))
            for gate, rows in enumerate(order.opens)
            for row in rows
            for lands in (0, 1)
            if fed_by[lands][gate]
        }
        assert found == wanted
        compared += len(wanted) > 2
    assert compared > 50


def test_columns_that_do_not_fit_are_refused():
    one, byte = np.zeros(1, np.int32), np.zeros(1, np.uint8)
    ends = np.array([0, 1], np.int32)
    with pytest.raises(ValueError, match="different lengths"):
        gates_of(one, one, byte, byte, byte, False)
    with pytest.raises(ValueError, match="by no row"):
        gates_of(ends, one + 1, byte, byte, byte, False)
