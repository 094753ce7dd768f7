"""Tables cut into iterations for endpoints: right results, the periods, `ideal` never slower, and refusals."""

from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from hypothesis import strategies as st

import certree.api as ct
from certree.extras.endpoints.model.endpoint import Endpoint
from certree.extras.endpoints.run.tables.iterations import in_iterations
from certree.extras.endpoints.run.tables.table_endpoints import TableEndpoints
from certree.extras.endpoints.run.tables.table_runs import endpoint_of_runs, in_other_orders, run_with_endpoints
from certree.hw.engines.runs import Options, Run
from certree.hw.tables.lowering import lower
from certree.models.common.errors import UnsupportedError
from certree.models.schedule.collective import CollectiveKind
from certree.models.tables.tables import Tables
from certree.verify.checker import verify_schedule
from tests.cli.running import certree
from tests.drawn import examples, given_at_least
from tests.extras.endpoints.run.tables_drawn import ACE, Asked, asked, or_refused
from tests.hw.made import MULTITREE, tables_of
from tests.hw.trees import tree_schedule

TREES = tables_of("multitree", "torus:4x4", 1 << 20)


def on(tables: Tables, system: str, mode: str = "paced", engine: str = "fast", endpoint: Endpoint = ACE) -> Run:
    """A run on lanes."""
    options = Options(mode=mode, engine=engine, without_routers=engine == "fast", endpoint=endpoint_of_runs(system, endpoint))
    return run_with_endpoints(tables, options)


@given_at_least(9, asked(), st.integers(1, 6), st.sampled_from(["slotted", "paced"]))
@examples(12)
def test_cut_tables_are_right_on_every_engine(case: Asked, parts: int, mode: str) -> bool:
    """Fast, and flit by flit; and `ideal` is not slower than any other system with the same chunks, through routers neither."""
    least = case.tables.schedule.message_chunks * MULTITREE.flit_bytes
    chunk = max(-(-case.tables.message_bytes // parts), least)
    done = []
    for engine in ("fast", "flit"):
        ideal = on(case.tables, f"ideal:chunk={chunk}", mode, engine, case.endpoint)
        assert ideal.data_ok
        for name in ("ace", "baseline"):
            run = or_refused(partial(on, case.tables, f"{name}:chunk={chunk}", mode, engine, case.endpoint))
            done.append(run is not None)
            if run is None:
                continue
            assert run.data_ok
            assert ideal.cycles <= run.cycles, (engine, name)
            assert run.endpoint is not None
            assert run.endpoint.counts["iterations"] == (
                1 if case.tables.message_bytes <= chunk else -(-case.tables.message_bytes // (chunk // least * least))
            )
    return all(done)


@given_at_least(9, asked(), st.integers(2, 6))
@examples(12)
def test_engines_agree(case: Asked, parts: int) -> bool:
    least = case.tables.schedule.message_chunks * MULTITREE.flit_bytes
    system = f"ace:chunk={max(least, case.tables.message_bytes // parts)}"
    fast = or_refused(partial(on, case.tables, system, endpoint=case.endpoint))
    if fast is None:
        return False
    lanes = on(case.tables, system, engine="lanes", endpoint=case.endpoint)
    assert replace(lanes, engine="fast", router_effect=fast.router_effect) == fast
    return True


@pytest.mark.parametrize("chunk", [64, 65, 1000, 1023, 4096, 65535, 65536])
def test_iterations_have_at_most_the_bytes_of_a_chunk(chunk: int) -> None:
    """Rounded down to whole flits of each of the four chunks of the ring, so that not much more than the message is moved."""
    tables = tables_of("ring", "ring:4", 65_000)
    cut = in_iterations(tables, endpoint_of_runs(f"ace:chunk={chunk}"), "paced")
    bytes_of_one = cut.chunk_bytes * cut.schedule.message_chunks
    assert bytes_of_one <= chunk
    assert 65_000 <= bytes_of_one * cut.repeats < 65_000 + 64 * cut.repeats


@pytest.mark.parametrize("system", ["baseline", "ace", "ideal"])
@pytest.mark.parametrize("size", [1 << 16, 65_001])
def test_one_bound_of_all_chunks_of_a_message(system: str, size: int) -> None:
    """What `bound` prints; no run is below it, on lanes or through routers."""
    least = ct.bound_with_endpoint("torus:4x4", size=size, system=system, machine=MULTITREE).cycles
    tables = tables_of("multitree", "torus:4x4", size)
    for chunk in ("", ":chunk=4097", ":chunk=20000", ":chunk=64KiB"):
        for engine in ("fast", "flit") if chunk in ("", ":chunk=20000") else ("fast",):
            run = on(tables, system + chunk, engine=engine)
            assert run.endpoint is not None
            assert run.endpoint.counts["bound_cycles"] == least
            assert least <= run.cycles


def test_as_many_iterations_as_there_is_room_for() -> None:
    """The period is the least that fits: with a shorter one the run is refused."""
    for system in ("ace:chunk=64KiB:state-machines=3", "ace:chunk=64KiB:sram=512KiB"):
        model = endpoint_of_runs(system)
        cut = in_iterations(TREES, model, "paced")
        assert cut.repeats == 16
        assert cut.message_bytes == TREES.message_bytes
        assert cut.period is not None
        assert cut.period > 1
        assert on(TREES, system).data_ok
        with pytest.raises(UnsupportedError, match="iterations in progress at a time, and endpoints ace have room for"):
            on(TREES, f"{system}:period={cut.period - 1}")
    assert in_iterations(TREES, endpoint_of_runs("ace:chunk=64KiB"), "paced").period == 1
    assert in_iterations(TREES, endpoint_of_runs("ace:chunk=1MiB"), "paced").repeats == 1
    assert in_iterations(TREES, endpoint_of_runs("ace"), "paced") is TREES


def test_more_state_machines_and_sram_are_faster() -> None:
    few, more = (on(TREES, f"ace:chunk=64KiB:state-machines={count}").cycles for count in (1, 4))
    assert more < few
    small, large = (on(TREES, f"ace:chunk=64KiB:sram={size}").cycles for size in ("256KiB", "1MiB"))
    assert large < small


def test_in_slots_iterations_do_not_meet() -> None:
    """The period is valid by the verifier, the one before it is not."""
    cut = in_iterations(TREES, endpoint_of_runs("ace:chunk=64KiB"), "slotted")
    assert verify_schedule(cut.schedule).valid
    assert cut.period is not None
    assert not verify_schedule(replace(cut.schedule, period=cut.period - 1)).valid
    with pytest.raises(UnsupportedError, match="iterations every 2 steps meet on links in slots: take another period, or a paced"):
        in_iterations(TREES, endpoint_of_runs("ace:chunk=64KiB:period=2"), "slotted")


def test_other_forms_are_cut() -> None:
    """Members, fine slots, iterations that tables have already, and blocks."""
    for made, size in (
        (ct.synthesize("ring:4", ct.collective("all-reduce", members=[0, 1]), method="multitree", size="64KiB"), 1 << 16),
        (ct.synthesize("ring:4", method="ordered-trees", size="4KiB"), 1 << 12),
        (ct.synthesize("switch:4", "all-to-all", method="direct", size="64KiB"), 1 << 16),
    ):
        tables = lower(made, size, MULTITREE)
        found = on(tables, f"ace:chunk={size // 4}")
        assert found.data_ok
        assert found.endpoint is not None
        assert found.endpoint.counts["iterations"] == 4
        if made.has_fine_slots:
            with pytest.raises(UnsupportedError, match="fine slots are for one size of the message: cut it in a paced run"):
                on(tables, f"ace:chunk={size // 4}", mode="slotted")
    repeating = lower(tree_schedule("ring:4", CollectiveKind.ALL_REDUCE, 2, delay=1, repeats=6, seed=3), 6 * 4096, MULTITREE)
    assert in_iterations(repeating, endpoint_of_runs("ace:chunk=8KiB"), "paced").repeats == 3


def test_refusals(tmp_path: Path) -> None:
    """One line each, exit code 2."""
    schedule, options = tmp_path / "s.json", "chunk, sram, state-machines, period, spacing"
    assert certree("synthesize", "ring:4", "--method", "ring", "--size", "1MiB", "-o", schedule).code == 0
    for system, words in (
        ("ace:sram=64KiB", "1048576 bytes in partition 1 of 2, which has 32768 of the 65536 bytes of SRAM of ace: cut the message"),
        ("ace:chunk=64KiB:sram=64KiB", "takes 65536 bytes in partition 1 of 2, which has 32768 of the 65536 bytes"),
        ("ace:chunk=8", "an iteration of 4 chunks of the schedule has 64 bytes or more, not 8: take longer chunks"),
        ("ace:chunk=x", "chunk 'x': size 'x': expected a positive number of bytes"),
        ("ace:chunk=4KiB:chunk=4KiB", f"expected NAME:OPTION=VALUE, OPTION one of {options}, each once"),
        ("ace:banks=4", f"expected NAME:OPTION=VALUE, OPTION one of {options}, each once"),
        ("ace:spacing=3", "spacing needs chunk, the bytes of an iteration"),
        ("ace:chunk=4KiB:spacing=0", "spacing '0': expected a whole number from 1 to 1048576"),
        ("ace:period=3", "period needs chunk, the bytes of an iteration"),
        ("ace:chunk=4KiB:period=0", "period '0': expected a whole number from 1 to 1048576"),
        ("baseline:sram=1MiB", "sram is for engines; baseline adds at the accelerator"),
        ("dpu:chunk=4KiB", "unknown system 'dpu'; known: none, baseline"),
        ("none:chunk=4KiB", "system 'none:chunk=4KiB': none has no endpoints, to which options or a bound could apply"),
        ("baseline:state-machines=1", "state-machines are for engines, and for chunks at work; baseline has neither"),
    ):
        done = certree("simulate", schedule, "--run", "paced", "--endpoint", system)
        assert done.code == 2, (system, done)
        assert words in done.err.replace("\n", " "), (system, done.err)
        assert done.err.count("error:") == 1
    done = certree("simulate", schedule, "--size", "16GiB", "--run", "paced", "--endpoint", "ace:chunk=64")
    assert (done.code, "268435456 iterations of 4 chunks at 4 nodes" in done.err) == (2, True)


def test_blocks_of_a_demand_are_not_cut() -> None:
    demand = ct.demand([[0, 16, 32], [16, 0, 64], [32, 16, 0]], "ring:3")
    made = ct.synthesize("ring:3", ct.collective("alltoallv", demand=demand), method="direct")
    assert made.made_for is not None
    tables = lower(made, made.made_for.message_bytes, made.made_for.machine)
    with pytest.raises(UnsupportedError, match=r"chunks of endpoints: not supported for schedules that use demand"):
        on(tables, "ace:chunk=256")
    assert TableEndpoints(ACE, ACE.system("ace")).cut is None


def test_ideal_keeps_the_order_of_the_tables_that_another_system_cut() -> None:
    """With little SRAM an engine has a longer period: its order is kept on its tables, not on those of `ideal`."""
    text = "chunk=64KiB:sram=512KiB"
    periods = [in_iterations(TREES, endpoint_of_runs(f"{name}:{text}"), "paced").period for name in ("ace", "ideal")]
    assert periods[0] != periods[1]
    options = Options(mode="paced", engine="fast", without_routers=True, endpoint=endpoint_of_runs(f"ideal:{text}"))
    kept = [run.endpoint for run, _ in in_other_orders(TREES, options, endpoint_of_runs(f"ideal:{text}"), lambda _: True)]
    assert [used.counts["period"] for used in kept if used is not None and used.order == "ace"] == [periods[0]]
    assert on(TREES, f"ideal:{text}").cycles <= on(TREES, f"ace:{text}").cycles


def test_iterations_have_work_cells_of_their_own() -> None:
    """Blocks that are stored on the way: with those of the exporter a paced run is refused."""
    made = ct.synthesize("ace-torus:2x2x2", "all-to-all", method="hierarchical-all-to-all", size="256KiB")
    tables = lower(made, 1 << 18, MULTITREE)
    cut = in_iterations(tables, endpoint_of_runs("ace:chunk=16KiB"), "paced")
    assert (cut.repeats, cut.in_flight) == (16, 16)
    assert on(tables, "ace:chunk=16KiB").data_ok
    with pytest.raises(UnsupportedError, match="only slots keep them apart"):
        on(replace(cut, in_flight=5), "ace")
