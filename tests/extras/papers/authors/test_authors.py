"""Preset multitree-authors: rings as the MultiTree authors' simulator times them, packet by packet."""

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from certree.hw.tables.lowering import lower
from certree.models.machine.machine import load_machine
from certree.models.tables.table_columns import ARRIVAL_COLUMNS
from certree.models.tables.tables import Tables
from tests.hw.made import made, tables_of, with_rows
from tests.hw.runs import on_lanes, on_routers

AUTHORS, KIB = load_machine("multitree-authors"), 1024
PAGE = Path(__file__).parents[4] / "docs" / "benchmarks" / "simulators.md"
DRAIN = 148  # cycles in which credits return after the last flit; their totals include them, ours do not


def ring(spec: str, size: int) -> Tables:
    return tables_of("ring", spec, size, AUTHORS)


# cycles that their simulator reports for an all-reduce along a ring
REPORTED = {
    ("torus:4x4", 32 * KIB): 9_344,
    ("torus:4x4", 256 * KIB): 39_584,
    ("torus:4x4", 1024 * KIB): 143_264,
    ("torus:8x8", 32 * KIB): 25_916,
    ("torus:8x8", 256 * KIB): 56_912,
}


@pytest.mark.parametrize(("spec", "size"), REPORTED)
def test_rings_take_their_cycles_exactly(spec: str, size: int):
    result = on_routers(ring(spec, size), "paced", framing="packet")
    assert result.cycles == REPORTED[spec, size] - DRAIN
    assert result.data_ok


def test_the_mesh_takes_as_long_as_the_torus():
    """Their total on the mesh is one cycle more: there a credit counts a cycle later (`test_authors_interface.py`)."""
    torus, mesh = (on_routers(ring(spec, 256 * KIB), "paced", framing="packet").cycles for spec in ("torus:4x4", "mesh:4x4"))
    assert mesh == torus == 39_585 - DRAIN - 1


def test_the_worked_ring_step_by_step():
    """32 KiB on 16 nodes: 15 reduce steps of 315 cycles, 15 gather steps of 298, the last arrival at 9,196."""
    tables = ring("torus:4x4", 32 * KIB)
    cycles = [on_routers(_first_steps(tables, steps), "paced", framing="packet").cycles for steps in range(1, 31)]
    assert [b - a for a, b in pairwise(cycles)] == [315] * 14 + [298] * 15
    assert cycles[0] == 1 + 315
    assert cycles[-1] == 9_196


def _first_steps(tables: Tables, steps: int) -> Tables:
    """The tables cut off behind some steps: what is sent until then, and the arrivals of that."""
    first = int(tables.step.min())
    rows = tables.step < first + steps
    sent = tables.transfers()
    kept = sent["step"] < first + steps
    arrivals = {
        (int(dst), 1 + int(op), int(chunk), int(src))
        for dst, op, chunk, src in zip(sent["dst"][kept], sent["op"][kept], sent["chunk"][kept], sent["src"][kept], strict=True)
    }
    expected = zip(tables.arrival_node, tables.arrival_op, tables.arrival_flow, tables.arrival_peer, strict=True)
    stays = [tuple(map(int, arrival)) in arrivals for arrival in expected]
    return replace(with_rows(tables, rows), **{name: getattr(tables, name)[stays] for name in ARRIVAL_COLUMNS})


def test_slots_and_lanes_know_the_interface_too():
    """Issue and start are in the closed form, and in the engine that knows no routers."""
    tables = ring("torus:4x4", 32 * KIB)
    slotted = on_routers(tables)
    assert slotted.cycles == slotted.closed_form_cycles
    assert on_lanes(tables, "paced", framing="packet").cycles == 9_196
    later = replace(tables, machine=replace(AUTHORS, ni_start_cycles=101))
    run = on_lanes(later)
    assert run.cycles == run.closed_form_cycles == slotted.cycles + 100


# what their trees take here when they are paced as the paper has it: the last column of the table in docs/benchmarks/simulators.md
PACED = {
    ("torus:4x4", 32 * KIB, "packet"): 2_517,
    ("torus:4x4", 32 * KIB, "message"): 2_461,
    ("torus:4x4", 256 * KIB, "packet"): 12_597,
    ("torus:4x4", 256 * KIB, "message"): 11_967,
    ("torus:4x4", 1024 * KIB, "message"): 46_430,
    ("torus:8x8", 32 * KIB, "packet"): 4_693,
    ("torus:8x8", 32 * KIB, "message"): 4_669,
    ("torus:8x8", 256 * KIB, "packet"): 11_460,
    ("torus:8x8", 256 * KIB, "message"): 10_980,
    ("mesh:4x4", 256 * KIB, "packet"): 23_512,
    ("mesh:4x4", 256 * KIB, "message"): 22_252,
}


def trees(spec: str, size: int, **changes: int) -> Tables:
    """Their trees, with an interface for each link."""
    machine = replace(AUTHORS, router=replace(AUTHORS.router, interfaces="link"), **changes)
    return lower(made("multitree", spec, size, machine, order="authors"), size, machine)


@pytest.mark.parametrize(("spec", "size", "flow"), PACED)
def test_multitree_paced(spec: str, size: int, flow: str):
    """The rows of the table are what a paced run takes here."""
    tables = trees(spec, size)
    result = on_routers(tables, "paced", framing=flow)
    assert (result.cycles, result.data_ok) == (PACED[spec, size, flow], True)
    name, unit = spec.replace(":", " ").replace("x", "×"), f"{size // KIB} KiB" if size < 1024 * KIB else "1 MiB"
    (row,) = [line for line in PAGE.read_text().splitlines() if line.startswith(f"| {name}, {unit} | {flow}s |")]
    assert row.endswith(f"| {result.cycles:,} |")


def test_it_is_not_the_depth_of_their_queues():
    """Interfaces that hide 928 flits, as theirs do, make the paced run faster, not as slow as theirs."""
    cycles = [on_routers(trees("torus:4x4", 256 * KIB, ni_buffer_flits=buffer), "paced").cycles for buffer in (318, 928)]
    assert cycles[1] < cycles[0]
