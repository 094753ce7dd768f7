"""The machine that parameters of endpoints describe, and collectives on it."""

from dataclasses import replace
from fractions import Fraction

import pytest

from certree.extras.endpoints.run.tables.joint_machine import joint_machine, run_joint
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
    schedule = _made(method, network, collective)
    cycles = {}
    for name in ("baseline", "ace", "ideal"):
        run = run_joint(schedule, ACE, ACE.system(name), 1 << 18)
        assert run.data_ok
        assert run.endpoint is not None
        assert run.cycles >= run.endpoint.counts["bound_cycles"]
        cycles[name] = run.cycles
    assert run.endpoint.counts["iterations"] in (2, 4)
    assert cycles["ideal"] <= min(cycles.values())
