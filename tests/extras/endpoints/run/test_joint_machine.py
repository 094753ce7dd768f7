"""The machine that parameters of endpoints describe, and collectives on it."""

from dataclasses import replace
from fractions import Fraction

import pytest

from certree.api import endpoints, topology
from certree.extras.endpoints.run import endpoint_runs as runs_of_endpoints
from certree.extras.endpoints.run.tables import joint_results
from certree.extras.endpoints.run.tables.joint_machine import chunks_of, joint_machine, joint_tables, require_links, run_joint
from certree.extras.endpoints.run.tables.joint_results import hops_of, too_long
from certree.models.common.errors import UnsupportedError
from certree.models.schedule.schedule import Schedule
from tests.extras.endpoints.run.tables_drawn import ACE
from tests.synth.execution import make


def _made(method: str, network: str, collective: str) -> Schedule:
    found = make(method, network, collective)
    assert isinstance(found, Schedule)
    return found


def test_links_are_those_of_the_parameters() -> None:
    machine = joint_machine(ACE)
    assert (machine.clock_hz, machine.flit_bytes, machine.link_latency_cycles, machine.head_flits) == (10**9, 24, 200, 0)
    slow = replace(ACE, inter_package=replace(ACE.inter_package, bytes_per_second=Fraction(1)))
    with pytest.raises(UnsupportedError, match="a byte a cycle or more"):
        joint_machine(slow)
    for rate, words in (
        (1_580_000_000, "1.485 bytes a cycle; tables take whole bytes a cycle, and 1 is"),
        (1_610_000_000, "and 2 is"),
    ):
        uneven = replace(ACE, inter_package=replace(ACE.inter_package, bytes_per_second=Fraction(rate)))
        with pytest.raises(UnsupportedError, match=words):
            joint_machine(uneven)


def test_links_in_packages_are_not_faster_than_stated() -> None:
    """Messages on 160 slow links, or on less efficient ones, take longer than on the lanes that tables have for the capacity."""
    network = topology("ace-torus:2x2x2")
    require_links(network, ACE, joint_machine(ACE))
    inside = ACE.intra_package
    for link in (replace(inside, bytes_per_second=Fraction(2_500_000_000)), replace(inside, efficiency=Fraction(1, 2))):
        slow = replace(ACE, intra_package=link)
        with pytest.raises(UnsupportedError, match="bytes a cycle where tables have 384, 24 on each lane"):
            require_links(network, slow, joint_machine(slow))
    told = endpoints(network, payloads=["4KiB"], systems=["ace"], endpoint=slow)
    assert "384" in str(told.no_tables)


def test_ideal_tries_the_chunks_of_all_systems() -> None:
    """With fast buses short chunks of the baseline can be faster than all chunks of ideal and ACE."""
    buses = replace(ACE.buses, interface_bytes_per_second=Fraction(10**13), memory_bytes_per_second=Fraction(10**13), gap_cycles=0)
    systems = tuple(replace(one, chunk_bytes=1 << 15) if one.name == "baseline" else one for one in ACE.systems)
    fast = replace(ACE, buses=buses, systems=systems)
    assert chunks_of(fast, fast.system("ideal")) == {1 << 15, 1 << 16, 1 << 17}
    assert chunks_of(fast, fast.system("ideal"), 1 << 18) == {1 << 16, 1 << 18}
    assert chunks_of(fast, fast.system("ace")) == {1 << 16}
    found = endpoints("ace-torus:2x2x2", payloads=["128KiB"], systems=["baseline", "ideal"], endpoint=fast, program="tables")
    baseline, ideal = found.results
    assert ideal.cycles <= baseline.cycles


def test_short_chunks_take_long() -> None:
    """Flits are counted after the cut: of a chunk for each of 64 parts there is one, and a message costs more than that."""
    schedule = _made("hierarchical", "ace-torus:4x4x4", "all-reduce")
    tables, ace = joint_tables(schedule, ACE, 1 << 21), ACE.system("ace")
    assert too_long(hops_of(tables, ACE, [ace])) is None
    short = [replace(ace, chunk_bytes=1536)]
    words = too_long(hops_of(tables, ACE, short))
    assert hops_of(tables, ACE, short, without_routers=True) * 3 == hops_of(tables, ACE, short) * 2
    assert words is not None
    assert "flits on links take long" in words
    assert too_long(1 << 25) is None
    assert too_long(1 << 24, without_routers=True) is None
    assert "up to 4,194,304" in str(too_long((1 << 24) + 1, without_routers=True))


def test_lanes_where_routers_take_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lanes run the machine without routers, and the output says why; messages run only where lanes take long, too."""
    schedule = _made("hierarchical", "ace-torus:2x2x2", "all-reduce")
    for payloads in (["256KiB"], ["256KiB", "64KiB"]):
        with monkeypatch.context() as patch:
            patch.setattr(joint_results, "MOST_HOPS", 0)
            short = endpoints(schedule, payloads=payloads, systems=["ace"])
            assert "take long through routers, which run unasked up to 0" in str(short.no_routers)
            assert (short.no_tables, str(short.results[0].tables.engine)) == (None, "fast")
            patch.setattr(joint_results, "MOST_HOPS_OF_LANES", 0)
            long = endpoints(schedule, payloads=payloads, systems=["ace"])
            assert "messages on links take long in tables, which run unasked up to 0" in str(long.no_tables)
            assert (long.no_routers, long.results[0].tables) == (None, None)
        asked = endpoints(schedule, payloads=payloads, systems=["ace"])
        assert (asked.no_routers, str(asked.results[0].tables.engine)) == (None, "flit")
        assert abs(short.results[0].cycles - asked.results[0].cycles) < asked.results[0].cycles / 10


def test_a_schedule_is_lowered_once_for_all_systems(monkeypatch: pytest.MonkeyPatch) -> None:
    """For the limit of long runs, and for the runs of each system."""
    seen = []
    monkeypatch.setattr(runs_of_endpoints, "joint_tables", lambda *asked: seen.append(asked[2]) or joint_tables(*asked))
    found = endpoints("ace-torus:2x2x1", payloads=["4KiB"])
    assert ([result.tables is not None for result in found.results], seen) == ([True] * 4, [4096])
    seen.clear()
    assert len(endpoints("ace-torus:2x2x1", payloads=["4KiB"], joint=True).joint) == 4
    assert seen == [4096]


@pytest.mark.parametrize(
    ("method", "network", "collective"),
    [
        ("hierarchical", "ace-torus:4x2x1", "all-reduce"),
        ("hierarchical-all-to-all", "ace-torus:2x2x2", "all-to-all"),
        ("hierarchical", "ace-alltoall:2x2", "all-reduce"),
        ("hierarchical", "ace-torus:2x2x2", "all-reduce"),
    ],
)
def test_the_algorithms_of_table_5(method: str, network: str, collective: str) -> None:
    """Through routers, in chunks: the results are right, `ideal` is not slower, nothing is below its bound."""
    tables = joint_tables(_made(method, network, collective), ACE, 1 << 18)
    cycles = {}
    for name in ("baseline", "ace", "ideal"):
        run = run_joint(tables, ACE, ACE.system(name))
        assert run.data_ok
        assert run.endpoint is not None
        assert run.cycles >= run.endpoint.counts["bound_cycles"]
        cycles[name] = run.cycles
    assert run.endpoint.counts["iterations"] in (2, 4)
    assert cycles["ideal"] <= min(cycles.values())
