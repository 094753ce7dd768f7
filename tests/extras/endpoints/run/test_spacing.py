"""Steps of schedules that are spread over several steps of tables: what is chosen, that nothing is slower for it, and refusals."""

from pathlib import Path
from random import Random

import pytest

import certree.api as ct
from certree.extras.endpoints.run.endpoint_runs import made_schedule
from certree.extras.endpoints.run.tables import spacing as spacings
from certree.extras.endpoints.run.tables.iterations import in_iterations
from certree.extras.endpoints.run.tables.joint_machine import joint_tables, run_joint
from certree.extras.endpoints.run.tables.spacing import FEW, LEAST_GAIN, SPACINGS
from certree.extras.endpoints.run.tables.table_runs import endpoint_of_runs, run_with_endpoints
from certree.hw.engines.runs import Options, Run
from certree.hw.tables.directory import export_tables, read_tables
from certree.models.common.errors import UnsupportedError
from certree.models.tables.tables import Tables
from tests.cli.running import certree
from tests.extras.endpoints.run.tables_drawn import ACE
from tests.hw.made import tables_of

TREES = tables_of("multitree", "torus:3x3", 1 << 18)
CHUNK = 64 << 10


def tables(network: str, size: int, collective: str = "all-reduce") -> Tables:
    return joint_tables(made_schedule(ct.topology(network), ct.collective(collective), None, {}, size).schedule, ACE, size)


def on(tables: Tables, system: str, mode: str = "paced", engine: str = "fast") -> Run:
    options = Options(mode, engine, without_routers=engine == "fast", endpoint=endpoint_of_runs(system))
    return run_with_endpoints(tables, options)


def counts(run: Run) -> dict[str, int]:
    assert run.endpoint is not None
    return dict(run.endpoint.counts)


@pytest.mark.parametrize("system", ["baseline", "ace", "ideal"])
def test_few_steps_do_not_leave_state_machines_idle(system: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A schedule of four steps, of which five iterations are under way a step apart: more make every system faster."""
    run = run_joint(tables("ace-torus:2x2x1", 4 << 20), ACE, ACE.system(system), without_routers=True)
    monkeypatch.setattr(spacings, "SPACINGS", (1,))
    before = run_joint(tables("ace-torus:2x2x1", 4 << 20), ACE, ACE.system(system), without_routers=True)
    assert (run.data_ok, before.data_ok) == (True, True)
    assert counts(before)["spacing"] == 1 < counts(run)["spacing"]
    assert run.cycles * 20 < before.cycles * 19


def test_it_is_the_least_that_is_nearly_the_fastest() -> None:
    """On lanes no spacing before it is nearly as fast, and none that can be stated is faster by more than LEAST_GAIN says."""
    made = tables("ace-torus:4x2x1", 32 * CHUNK)
    every = {spacing: on(made, f"ace:chunk=64KiB:spacing={spacing}") for spacing in SPACINGS}
    run = on(made, "ace:chunk=64KiB")
    chosen = counts(run)["spacing"]
    assert (run.cycles, chosen) == (every[chosen].cycles, counts(every[chosen])["spacing"])
    assert all(run.cycles * LEAST_GAIN < every[one].cycles * (LEAST_GAIN - 1) for one in range(1, chosen))
    assert run.cycles * (LEAST_GAIN - 1) < min(one.cycles for one in every.values()) * LEAST_GAIN


def test_tables_with_idle_steps_are_tables(tmp_path: Path) -> None:
    """Exported, read, and run as they are, they take as long; their steps are multiples, and who waits for what is the same."""
    cut, plain = (in_iterations(TREES, endpoint_of_runs(f"ace:chunk=32KiB:spacing={spacing}"), "paced") for spacing in (3, 1))
    assert (cut.step == plain.step * 3).all()
    assert (cut.delay, cut.repeats, cut.in_flight) == (plain.delay * 3, plain.repeats, plain.in_flight)
    assert cut.awaited()[0].tolist() == plain.awaited()[0].tolist()
    export_tables(cut, tmp_path / "tables")
    read = read_tables(tmp_path / "tables")
    run, stated = on(read, "ace"), on(TREES, "ace:chunk=32KiB:spacing=3")
    assert (run.cycles, run.data_ok, counts(stated)["period"]) == (stated.cycles, True, read.period)


def drawn(number: int) -> int:
    """No system of a drawn run is slower than with spacing 1, and `ideal` is the fastest; returns how many are faster."""
    random = Random(number)
    network, engine = (
        random.choice(["ace-torus:2x2x1", "ace-alltoall:2x2", "ace-torus:2x2x2"]),
        random.choice(["fast", "fast", "flit"]),
    )
    made = tables(network, random.randrange(2, FEW) * 8192, random.choice(["all-reduce", "all-to-all"]))
    found, faster = {}, 0
    for system in ("baseline", "ace", "ideal"):
        run, one = (on(made, f"{system}:chunk=8KiB{more}", engine=engine) for more in ("", ":spacing=1"))
        assert (run.data_ok, run.cycles <= one.cycles) == (True, True), (number, system)
        found[system], faster = run.cycles, faster + (run.cycles < one.cycles)
    assert found["ideal"] == min(found.values()), number
    return faster


def test_forty_drawn_runs_are_not_slower() -> None:
    assert sum(map(drawn, range(40))) >= 12


def test_what_is_stated_is_not_chosen() -> None:
    for more, period, spacing in (("period=2", 2, 1), ("spacing=5", 1, 5), ("spacing=2:period=3", 3, 2)):
        found = counts(on(TREES, f"ace:chunk=32KiB:{more}"))
        assert (found["period"], found["spacing"]) == (period, spacing)
    slotted = counts(on(TREES, "baseline:chunk=32KiB", mode="slotted"))
    assert "spacing" not in slotted
    with pytest.raises(UnsupportedError, match="in slots idle steps take as long as others: leave spacing out, or run it paced"):
        on(TREES, "baseline:chunk=32KiB:spacing=2", mode="slotted")
    with pytest.raises(UnsupportedError, match="8 iterations of 419430400 steps are more than the 1073741824 steps"):
        on(tables_of("ring", "ring:201", 201 * 16 * 8), "ace:chunk=3216B:spacing=1048576")


def test_the_output_says_which_was_chosen() -> None:
    command = "endpoints", "ace-torus:2x2x1", "--size", "256KiB", "--system", "ace"
    found = ct.endpoints("ace-torus:2x2x1", payloads=["256KiB"], systems=["ace"]).results[0].tables
    assert isinstance(found, Run)
    spacing = counts(found)["spacing"]
    assert spacing > 1
    assert f"4 chunks of 64 KiB, period 1, spacing {spacing}, " in certree(*command).out
