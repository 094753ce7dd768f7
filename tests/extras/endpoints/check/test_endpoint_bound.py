"""The lower bound of runs with endpoints: never above a run, reached by the smallest, and each of its terms decides somewhere."""

from dataclasses import replace
from fractions import Fraction
from functools import partial

import numpy as np
import pytest

import certree.api as ct
from certree.extras.endpoints.check.endpoint_bound import Moved, endpoint_bound, moved_bytes
from certree.extras.endpoints.model.endpoint import Endpoint
from certree.extras.endpoints.run.tables.table_endpoints import TableEndpoints, bound_of
from certree.hw.engines.runs import Options
from certree.hw.run import run
from certree.hw.tables.lowering import lower
from certree.models.network.spec import parse_topology
from certree.models.schedule.collective import CollectiveKind
from tests.drawn import examples, given_at_least
from tests.extras.endpoints.run.tables_drawn import ACE, Asked, asked, or_refused
from tests.hw.made import MULTITREE, tables_of
from tests.hw.trees import tree_schedule


@given_at_least(36, asked())
@examples(60)
def test_no_run_is_shorter(case: Asked) -> bool:
    """No run of any system is shorter than the bound, on lanes and through routers."""
    done = []
    for system in case.endpoint.systems:
        least = bound_of(case.tables, case.endpoint, system).cycles
        for engine in ("fast", "flit"):
            model = TableEndpoints(case.endpoint, system)
            options = Options(
                case.mode, engine, without_routers=engine == "fast", endpoint=model, at_any_timing=case.mode == "paced"
            )
            found = or_refused(partial(run, case.tables, options))
            done.append(found is not None)
            if found is None:
                continue
            assert least <= found.cycles, (system.name, engine)
            assert found.endpoint is not None
            assert found.endpoint.counts["bound_cycles"] == least
    return all(done)


def test_one_message_takes_little_more() -> None:
    """One message adds its head, and what rounding adds: the bound is near what must happen."""
    tables = lower(tree_schedule("ring:2", CollectiveKind.BROADCAST, 1, delay=1, repeats=1, seed=1), 1 << 20, MULTITREE)
    found = run(tables, Options("paced", "fast", endpoint=TableEndpoints(ACE, ACE.system("ideal"))))
    least = bound_of(tables, ACE, ACE.system("ideal"))
    assert (least.unit, least.cycles) == ("links", found.cycles - MULTITREE.head_flits)


def _moved(collective: str, root: int | None = None) -> Moved:
    tables = tables_of("ring", "ring:4", 4 * 4096, collective=collective)
    sizes = tables.sizes(np.arange(tables.chunks)) * MULTITREE.flit_bytes
    return moved_bytes(tables.collective, tables.topology, tables.schedule.chunk_root, tables.schedule.chunk_target, sizes)


@pytest.mark.parametrize(
    ("collective", "load", "result", "out", "come_in", "added", "transferred"),
    [("all-reduce", 4, 4, 4, 4, 12, 24), ("all-gather", 1, 4, 1, 3, 0, 12), ("reduce-scatter", 4, 1, 3, 1, 12, 12)],
)
def test_what_must_be_moved(collective: str, load: int, result: int, out: int, come_in: int, added: int, transferred: int) -> None:
    found = _moved(collective)
    columns = [column.tolist() for column in (found.load, found.result, found.out, found.come_in)]
    assert columns == [[count * 4096] * 4 for count in (load, result, out, come_in)]
    assert (found.added, found.transferred) == (added * 4096, transferred * 4096)


def test_each_unit_may_be_the_slowest() -> None:
    """A unit that is made slow names the bound, and a run with it is no shorter."""
    topology, moved = parse_topology("ring:4"), _moved("all-reduce")
    giga, tables = 10**9, tables_of("ring", "ring:4", 4 * 4096)

    def with_(system: str, endpoint: Endpoint) -> tuple[str, int, int]:
        found = endpoint_bound(topology, MULTITREE, endpoint, endpoint.system(system), moved)
        model = TableEndpoints(endpoint, endpoint.system(system))
        return found.unit, found.cycles, run(tables, Options("paced", "fast", endpoint=model)).cycles

    buses, engine = ACE.buses, ACE.engine
    slow = {
        "memory bus": replace(ACE, buses=replace(buses, memory_bytes_per_second=Fraction(giga, 4))),
        "bus to the interface": replace(ACE, buses=replace(buses, interface_bytes_per_second=Fraction(giga, 4))),
        "ALUs": replace(ACE, engine=replace(engine, alus=1, alu_bytes=1)),
        "banks": replace(ACE, engine=replace(engine, banks=1, bank_bytes=1)),
    }
    for unit, endpoint in slow.items():
        named, cycles, ran = with_("ace", endpoint)
        assert named == unit
        assert cycles <= ran
    named, cycles, ran = with_("baseline", replace(ACE, accelerator=replace(ACE.accelerator, adders=1)))
    assert named == "adders"
    assert cycles <= ran
    small = endpoint_bound(topology, MULTITREE, replace(ACE, engine=replace(engine, sram_bytes=256)), ACE.system("ace"), moved)
    assert small.unit == "SRAM"


def test_a_report_has_the_distance() -> None:
    made = ct.synthesize("torus:4x4", method="multitree", size="4MiB")
    found = ct.simulate(made, run="paced", endpoint="ace:chunk=64KiB")
    assert found.endpoint is not None
    assert 1 < Fraction(found.cycles, found.endpoint.counts["bound_cycles"]) < 3


def test_the_memory_of_an_accelerator_by_formula() -> None:
    """24 segments go out and come in, each once through memory, and 12 sums of three uses, at four nodes."""
    found = endpoint_bound(parse_topology("ring:4"), MULTITREE, ACE, ACE.system("baseline"), _moved("all-reduce"))
    assert found.terms["memory bus"] == 90 + -(-(2 * 24 + 3 * 12) * 4096 // (4 * 900))
