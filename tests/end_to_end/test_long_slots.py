"""Tables whose slots are longer than they need to be: verifier, closed form and simulator agree to the cycle."""

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from certree.api.reports.schedule_report import closed_form
from certree.hw.tables.lowering import lower
from certree.models.common.errors import InputError
from certree.models.machine.machine import Machine
from certree.models.network.spec import parse_topology
from certree.models.schedule.collective import parse_collective
from certree.models.schedule.symmetric.symmetric_schedule import written_out
from certree.models.tables.tables import Tables
from certree.synth.method import Request, load_methods
from certree.verify.tables.table_checker import verify_tables
from tests.hw.runs import machines, on_lanes, on_routers
from tests.hw.trees import MULTITREE, schedules


def stretched(tables: Tables, factor: Fraction, more: int) -> Tables:
    return replace(tables, slot_cycles=int(tables.slot_cycles * factor) + more)


def stated(tables: Tables) -> dict[str, int]:
    """What `verify` says of the time of tables."""
    return closed_form(tables.schedule, tables.message_bytes, tables.machine, tables.slot_cycles)


@given(
    schedules(routed=True),
    st.integers(1, 3000),
    machines(),
    st.sampled_from([Fraction(1), Fraction(11, 10), Fraction(2), Fraction(10)]),
    st.integers(0, 3),
)
def test_any_slot_takes_the_closed_form(schedule, size: int, machine: Machine, factor: Fraction, more: int):
    """Trees and routes, periods, repeats and delays; slots as short as can be, and up to ten times as long."""
    tables = lower(schedule, size, machine)
    longer = stretched(tables, factor, more)
    document = stated(longer)
    assert document["least_slot_cycles"] == tables.slot_cycles
    for engine in ("fast", "lanes"):
        run = on_lanes(longer, engine=engine)
        assert (run.cycles, run.late, run.contention_cycles, run.data_ok) == (document["time_cycles"], 0, 0, True)
        assert run.closed_form_cycles == run.cycles


CASES = [
    ("mesh:8x8", "packing", 1 << 18), ("mesh:2x2", "packing", 1 << 20), ("torus:3x3", "multitree", 5000),
    ("fattree:4x4", "multitree", 1 << 16), ("mesh:3x3", "retime", 1 << 16), ("switch:6", "ring", 1 << 14),
]  # fmt: skip


@pytest.mark.parametrize(("spec", "method", "size"), CASES)
@pytest.mark.parametrize("factor", [2, 10])
def test_routers_take_it_too_and_so_do_packets(spec: str, method: str, size: int, factor: int):
    request = Request(parse_topology(spec), parse_collective("all-reduce"), size, MULTITREE)
    tables = stretched(lower(written_out(load_methods()[method](request)), size, MULTITREE), Fraction(factor), 0)
    assert verify_tables(tables).valid
    cycles = stated(tables)["time_cycles"]
    assert on_lanes(tables).cycles == on_routers(tables).cycles == cycles
    packets = on_routers(tables, framing="packet")
    assert packets.cycles == packets.closed_form_cycles >= cycles  # the slots stay as long, their messages have more headers


def test_a_run_beyond_all_bounds_has_no_time():
    request = Request(parse_topology("ring:4"), parse_collective("all-reduce"), 4096, MULTITREE)
    tables = replace(lower(written_out(load_methods()["ring"](request)), 4096, MULTITREE), slot_cycles=1 << 59)
    document = stated(tables)
    assert (document["time_cycles"], document["slot_cycles"]) == (None, 1 << 59)
    assert "would last more than" in document["time_unknown"]
    with pytest.raises(InputError, match=r"numbers up to|would last more"):
        on_lanes(tables)
