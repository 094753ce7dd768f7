"""Which engine runs a schedule: lanes only where routers add nothing, known before the run or after it."""

from dataclasses import replace

import pytest

from certree.hw.engines.router_transparency import MET_IN_NETWORK, PASSES_INTERFACE
from certree.hw.engines.runs import ENGINES, Engine, Options
from certree.hw.engines.schedule_run import SimulatedSchedule
from certree.hw.run import run, tables_or_plan
from certree.hw.tables.lowering import lower
from certree.models.common.errors import InputError, UnsupportedError
from certree.models.machine.machine import Machine, load_machine
from certree.models.routers.transparency import SHARED_INTERFACE
from certree.models.schedule.collective import CollectiveKind
from certree.models.schedule.schedule import Schedule
from tests.hw.made import STAR
from tests.hw.made import made as made_for
from tests.hw.runs import on_lanes, on_routers
from tests.hw.trees import tree_schedule

BOOKSIM2, MULTITREE = load_machine("booksim2"), load_machine("multitree")
SIZE = 1 << 14


def made(method: str, spec: str = "torus:4x4", machine: Machine = BOOKSIM2, size: int = SIZE) -> Schedule:
    return made_for(method, spec, size, machine)


@pytest.mark.parametrize("mode", ["slotted", "paced"])
def test_routers_that_add_something_are_known_before_the_run(mode: str):
    tables = lower(made("multitree"), SIZE, BOOKSIM2)
    with pytest.raises(UnsupportedError, match=f"the fast engine is not exact with these routers: {SHARED_INTERFACE}"):
        run(tables, Options(mode=mode, engine="fast"))
    lanes, fast = run(tables, Options(mode=mode, engine="lanes")), on_lanes(tables, mode)
    assert replace(fast, engine=Engine.LANES) == lanes
    through, chosen = on_routers(tables, mode), run(tables, Options(mode=mode))
    assert chosen == through
    assert chosen.router_effect == lanes.router_effect == SHARED_INTERFACE
    assert (chosen.is_exact, through.is_exact, lanes.is_exact, fast.is_exact) == (True, True, False, False)
    assert through.cycles > lanes.cycles
    assert through.data_ok


@pytest.mark.parametrize(("method", "cycles", "on_their_own"), [("multitree", 9_027, 8_977), ("halving-doubling", 10_297, 10_041)])
def test_messages_that_met_are_known_after_the_run(method: str, cycles: int, on_their_own: int):
    """On a fat tree, paced: what waited for whole messages on lanes takes turns in routers."""
    schedule = made(method, "fattree:4x4", MULTITREE, 1 << 16)
    source = tables_or_plan(schedule, 1 << 16, MULTITREE)
    lanes, chosen = on_lanes(source, "paced"), run(source, Options(mode="paced"))
    assert (lanes.cycles, lanes.router_effect) == (on_their_own, MET_IN_NETWORK)
    assert (chosen.cycles, chosen.engine, chosen.is_exact) == (cycles, Engine.FLIT, True)
    assert replace(chosen, router_effect=None) == on_routers(source, "paced")
    with pytest.raises(UnsupportedError, match=f"the fast engine is not exact with these routers: {MET_IN_NETWORK}"):
        run(source, Options(mode="paced", engine="fast"))
    slotted = run(source)
    assert (slotted.engine, slotted.is_exact, slotted.cycles) == (Engine.FAST, True, slotted.closed_form_cycles)


def test_a_message_that_passes_is_no_flit_of_the_node():
    """No message waits, and yet a step begins later on lanes: there the interface counts the flits of a message that passes."""
    small = replace(MULTITREE, ni_buffer_flits=0)
    tables = lower(tree_schedule("mesh:2x3,far", CollectiveKind.ALL_GATHER, 1, delay=1, repeats=1, seed=18), 4096, small)
    lanes, through = on_lanes(tables, "paced"), on_routers(tables, "paced")
    assert (lanes.cycles, lanes.contention_cycles, lanes.router_effect) == (1262, 0, PASSES_INTERFACE)
    assert run(tables, Options(mode="paced")).cycles == through.cycles == 1241
    with pytest.raises(UnsupportedError, match=PASSES_INTERFACE):
        run(tables, Options(mode="paced", engine="fast"))


def test_machines_without_routers_have_nothing_to_add():
    """No stage fits into a router of no cycles: the lanes are all there is, also where messages meet."""
    machine = replace(MULTITREE, router_cycles=0, link_latency_cycles=9)
    tables = lower(made("multitree", "fattree:4x4", machine), SIZE, machine)
    result = run(tables, Options(mode="paced", engine="fast"))
    assert result.contention_cycles > 0
    assert (result.router_effect, result.is_exact) == (None, True)
    with pytest.raises(UnsupportedError, match="has no room for the stages"):
        run(tables, Options(mode="paced", engine="flit"))


def test_packets_may_meet_what_messages_do_not():
    """The framing counts: so few VCs last for long messages, not for short packets."""
    machine = replace(MULTITREE, vc_count=2, packet_payload_bytes=16, router_cycles=6)
    tables = lower(made("ring"), 1 << 16, machine)
    assert run(tables).late == 0
    with pytest.raises(UnsupportedError, match="2 virtual channels are used up before"):
        run(tables, Options(framing="packet", engine="fast"))
    assert run(tables, Options(framing="packet")).engine == "flit"
    assert run(tables).engine == "fast"


def test_schedules_run_as_their_tables_or_from_their_own_transfers():
    """A run may pass through files or not; the result says why there are no tables."""
    sizes = {"message_bytes": SIZE, "machine": MULTITREE}
    tree = made("multitree", machine=MULTITREE)
    assert (
        run(tree)
        == run(tree, **sizes)
        == run(lower(tree, SIZE, MULTITREE))
        == run(tables_or_plan(tree, SIZE, MULTITREE, files=False))
    )
    doubling = made("recursive-doubling", "switch:8", MULTITREE)
    result = run(doubling, **sizes)
    assert (result.source, result.data_ok, result.no_tables) == ("tables", True, None)
    assert replace(result, source="schedule") == run(SimulatedSchedule.of(doubling, SIZE, MULTITREE))
    result = run(STAR, **sizes)
    assert (result.source, result.data_ok) == ("schedule", True)
    assert result.no_tables == "node 4 is not an endpoint, but handles chunk 0; only endpoints have tables"
    assert replace(result, no_tables=None) == run(SimulatedSchedule.of(STAR, SIZE, MULTITREE))
    with pytest.raises(InputError, match="message_bytes and machine are needed"):
        run(replace(tree, made_for=None), message_bytes=SIZE)
    for given in ({"message_bytes": 2 * SIZE}, {"machine": BOOKSIM2}):
        assert run(tree, **given) == run(lower(tree, **{**sizes, **given}))


def test_unknown_names():
    for name, known in (("engine", "auto, fast, lanes, flit"), ("mode", "slotted, paced"), ("framing", "message, packet")):
        with pytest.raises(InputError, match=f"unknown .*'magic'; known: {known}"):
            Options(**{name: "magic"})
    with pytest.raises(InputError, match="unknown step time 'magic'; known: paper, exact"):
        Options(step_time="magic")
    with pytest.raises(InputError, match="known: auto, fast, lanes, flit"):
        Options(engine="flow")  # a cost model, see certree.extras.costs.model


def test_what_only_routers_have():
    for engine in ENGINES:
        if engine in ("auto", "flit"):
            assert Options(engine=engine, longest_wait=9).needs_routers
        else:
            with pytest.raises(InputError, match="waits in routers need the flit engine"):
                Options(engine=engine, longest_wait=9)
