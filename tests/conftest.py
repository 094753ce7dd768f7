"""Profiles of property tests: none fails because the machine is busy; `make test` draws the same examples in every run. And every
simulated run of a test is compared with the time bound. The tests of `slow.txt` get the mark `slow`."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from certree.hw import run as runs
from certree.models.common.registry import entries_since, entries_so_far
from tests.time_bounds import least_cycles

settings.register_profile("certree", deadline=None, derandomize=True, max_examples=30, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("fuzz", settings.get_profile("certree"), derandomize=False, max_examples=2000, print_blob=True)
settings.load_profile("certree")

MOST_NODES = 300
#: endpoints add in place of the reduction unit of the machine, and take a cycle or more for each message
ONE_CYCLE = {"reduce_start_cycles": 0, "reduce_quantum_cycles": 1, "reduce_bytes_per_cycle": 1 << 40}
SLOW = frozenset((Path(__file__).parent / "slow.txt").read_text().splitlines())


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what `make test` leaves to `make verify-all`: a test, or one of its cases."""
    for item in items:
        if item.nodeid in SLOW or item.nodeid.partition("[")[0] in SLOW:
            item.add_marker(pytest.mark.slow)


@pytest.fixture(autouse=True, scope="session")
def _no_run_undercuts_the_time_bound() -> Iterator[None]:
    """Every run on an engine, in whatever test, takes at least the cycles of the time bound."""
    shown = runs._shown

    def compared(source, options, ended):
        result = shown(source, options, ended)
        if result.data_ok and source.schedule.transfers and len(source.schedule.topology.kind) <= MOST_NODES:
            machine = source.machine if options.endpoint is None else replace(source.machine, **ONE_CYCLE)
            least = least_cycles(source.schedule, source.message_bytes, machine)
            assert result.cycles >= least, f"a run on {source.schedule.topology.name} undercuts its time bound"
        return result

    runs._shown = compared
    yield
    runs._shown = shown


@pytest.fixture(autouse=True)
def _methods_of_a_test_do_not_stay() -> Iterator[None]:
    """Python functions that a test, an example or a page has made methods are taken out again."""
    before = entries_so_far()
    yield
    for registry, name in entries_since(before):
        if name in registry and hasattr(getattr(registry[name], "make", None), "written_in"):
            registry.discard(name)
