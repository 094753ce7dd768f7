"""Traces of `simulate --endpoint`, whatever the system, checked by TLC against the specification of interfaces that keep the order
of uses: right ones are behaviours, changed ones are not."""

import json
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from certree.extras.endpoints.check.interface_trace_check import check_interface_trace, is_table_trace
from certree.extras.endpoints.run.tables import table_endpoints
from certree.extras.endpoints.run.tables.iterations import in_iterations
from certree.extras.endpoints.run.tables.spacing import SPACINGS
from certree.extras.endpoints.run.tables.table_runs import endpoint_of_runs, fastest_run
from certree.extras.endpoints.run.traced import may_have_run
from certree.extras.tla.check.model_runs import ModelResult
from certree.extras.tla.run.model_checks import model_check
from certree.hw.engines.runs import Options
from certree.hw.tables.lowering import lower
from certree.models.common.errors import InputError, UnsupportedError
from certree.models.schedule.schedule_columns import Op
from certree.models.tables.tables import Tables
from tests.cli.running import assert_bad_input, certree
from tests.extras.endpoints.run.test_all_forms import FORMS, drawn_endpoint, drawn_tables
from tests.hw.made import MULTITREE, tables_of
from tests.verify.build import build

EXCHANGE = tables_of("recursive-doubling", "hypercube:2", 192)


def traced(path: Path, tables: Tables, system: str, mode: str = "paced", **asked: Any) -> Tables:
    """The tables that ran, with their trace at the path."""
    model = endpoint_of_runs(system, **asked)
    options = Options(mode, "fast", without_routers=True, trace=path, endpoint=model, at_any_timing=True)
    return in_iterations(tables, fastest_run(tables, options)[1], mode)


def changed(path: Path, change: Callable[[list[dict[str, Any]]], object]) -> Path:
    entries = [json.loads(line) for line in path.read_text().splitlines()]
    change(entries)
    path.write_text("".join(json.dumps(entry) + "\n" for entry in entries))
    return path


def check(number: int, path: Path) -> ModelResult | None:
    """A drawn run, cut into drawn chunks, of a drawn system; None where there is none, or the specification does not have it."""
    random = Random(number)
    tables, endpoint = drawn_tables(list(FORMS)[number % len(FORMS)], random), drawn_endpoint(random)
    system, mode = random.choice(["baseline", "ideal", "ace"]), random.choice(["paced", "paced", "slotted"])
    if random.random() < 0.5:
        least = tables.schedule.message_chunks * tables.machine.flit_bytes
        system += f":chunk={max(tables.message_bytes // random.randrange(1, 4), least)}"
    path.unlink(missing_ok=True)
    try:
        cut = traced(path, tables, system, mode, params=endpoint)
    except UnsupportedError:
        return None
    assert is_table_trace(path)
    try:
        return check_interface_trace(path, cut)
    except UnsupportedError:
        return None


def test_a_run_is_a_behaviour(tmp_path: Path) -> None:
    """An all-reduce in two dimensions, whose cells are used again, in iterations."""
    tables = traced(tmp_path / "t.jsonl", EXCHANGE, "baseline:chunk=96B")
    assert tables.repeats == 2
    found = check_interface_trace(tmp_path / "t.jsonl", tables)
    assert (found.as_expected, found.distinct_states) == (True, 1 + 2 * 2 * 8)
    assert found.message == "32 steps, all as in the specification"


def test_sixty_drawn_runs_are(tmp_path: Path) -> None:
    found = [one for number in range(60) if (one := check(number, tmp_path / "t.jsonl")) is not None]
    assert len(found) >= 35
    assert all(one.as_expected for one in found)


def test_a_run_without_the_order_is_not(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Node 0 starts late, and has not sent when a sum comes."""
    nothing = np.zeros(0, np.int64)
    monkeypatch.setattr(table_endpoints, "earlier_uses", lambda _: (nothing, nothing))
    path = tmp_path / "t.jsonl"
    traced(path, EXCHANGE, "ideal")
    changed(
        path, lambda entries: [one.update(fired=10**6, usable=10**6 + 1) for one in entries if (one["node"], one["row"]) == (0, 0)]
    )
    found = check_interface_trace(path, EXCHANGE)
    assert not found.as_expected
    assert (
        "the message of row 0 of node 1, iteration 0, to node 0 counts: the specification does not allow this step" in found.message
    )


def test_rows_that_fire_twice_and_forms_without_a_specification(tmp_path: Path) -> None:
    tables = tables_of("multitree", "torus:3x3", 4096)
    traced(tmp_path / "t.jsonl", tables, "ace")
    several = next(json.loads(line) for line in (tmp_path / "t.jsonl").read_text().splitlines() if '"row"' in line)
    twin = changed(
        tmp_path / "t.jsonl", lambda entries: entries.append(several | {"destination": 8, "fired": several["fired"] + 1})
    )
    with pytest.raises(
        InputError, match=rf"fired in cycle {several['fired'] + 1}; line \d+ has cycle {several['fired']} for this row"
    ):
        check_interface_trace(twin, tables)
    fine = tables_of("two-shot", "mesh:2x2", 4096)
    assert fine.fine_slots
    with pytest.raises(UnsupportedError, match="the specification has no fine slots"):
        check_interface_trace(tmp_path / "t.jsonl", fine)


def test_a_copy_and_a_sum_in_one_cycle(tmp_path: Path) -> None:
    """The copy must be usable later than the sum that it replaces, whatever the order of their lines."""
    rows = [(0, Op.REDUCE, 0, 2, 1), (0, Op.REDUCE, 1, 1, 0), (0, Op.REDUCE, 1, 0, 2), (0, Op.COPY, 2, 0, 1), (0, Op.COPY, 3, 1, 2)]
    tables = lower(build("full:3", "all-reduce", rows), 64, MULTITREE)
    traced(tmp_path / "t.jsonl", tables, "baseline")
    lines = [json.loads(line) for line in (tmp_path / "t.jsonl").read_text().splitlines()]
    last = [one for one in lines if one["destination"] == 2]
    rest = [one for one in lines if one["destination"] != 2]
    assert {one["node"] for one in last} == {0, 1}
    for later, first in ((0, 0), (1, 1)):
        last.sort(key=lambda one: one["node"] != first)
        for one in last:
            one["usable"] = 10**6 + later * one["node"]
        (tmp_path / "t.jsonl").write_text("".join(json.dumps(one) + "\n" for one in rest + last))
        assert check_interface_trace(tmp_path / "t.jsonl", tables).as_expected == (later == 1)


def test_iterations_that_share_work_cells(tmp_path: Path) -> None:
    """A late node makes data wrong in such runs, in which the specification finds nothing: it has a cell for each iteration."""
    tables = tables_of("flows", "ring:4", 1024, collective="all-to-all")
    cut = traced(tmp_path / "t.jsonl", tables, "baseline:chunk=256B", "slotted")
    assert (cut.in_flight < cut.repeats, cut.profile) == (True, "blocks")
    with pytest.raises(UnsupportedError, match="the model has a cell for each iteration"):
        check_interface_trace(tmp_path / "t.jsonl", cut)


def test_the_command(tmp_path: Path) -> None:
    schedule, trace = tmp_path / "s.json", tmp_path / "t.jsonl.gz"
    certree("synthesize", "ring:3", "--method", "ring", "--size", "192B", "-o", schedule)
    certree("simulate", schedule, "--run", "paced", "--endpoint", "baseline", "--trace", trace)
    done = certree("model-check", "trace", trace, schedule)
    assert (done.code, "24 steps, all as in the specification; order of uses: checked, 0 messages" in done.out) == (0, True), done
    for more, words in (
        (["ace"], "no events of engines; system ace is another"),
        (["ideal"], "it does not say which system ran"),
        (["--endpoint-params", "ace"], "no events of engines, to which --endpoint-params could apply"),
        (["--run", "paced"], "only tables that the system cuts into chunks depend on the mode of the run"),
    ):
        assert_bad_input(certree("model-check", "trace", trace, schedule, *more), words)


def test_tables_of_which_ideal_may_have_kept_the_order() -> None:
    """Next to its own those in the steps of an engine whose SRAM holds two iterations; with a period, or of an engine, one. Where
    no spacing is stated, first those that are chosen, then others."""
    tables, system, engine = tables_of("ring", "ring:3", 768), "ideal:chunk=192B:sram=768B", "ace:chunk=192B:sram=768B"
    for name, found in (
        (f"{system}:spacing=1", [(1, 3), (2, 3)]), (f"{system}:spacing=2", [(1, 6), (4, 6)]), (f"{system}:period=2", [(2, 3)]),
        (f"{engine}:spacing=3", [(5, 9)]), ("ideal", [(None, 3)]),
    ):  # fmt: skip
        assert [(one.period, int(one.step.max())) for one in may_have_run(tables, endpoint_of_runs(name), "paced")] == found
    every = [(one.period, int(one.step.max())) for one in may_have_run(tables, endpoint_of_runs(system), "paced")]
    assert every[:3] == [(1, 9), (1, 3), (2, 3)]
    assert {(1, 3 * spacing) for spacing in SPACINGS} <= {*every}
    assert len({*every}) == len(every)


def test_ideal_may_have_kept_the_order_of_another_system(tmp_path: Path) -> None:
    """Iterations of `ideal` then begin in the steps of that one: here an engine, whose SRAM holds two of them."""
    schedule, trace, system = tmp_path / "s.json", tmp_path / "t.jsonl", "ideal:chunk=192B:sram=768B"
    certree("synthesize", "ring:3", "--method", "ring", "--size", "768B", "-o", schedule)
    certree("simulate", schedule, "--run", "paced", "--endpoint", f"{system}:period=2", "--trace", trace)
    assert certree("model-check", "trace", trace, schedule, system, "--run", "paced").code == 0


def test_a_slotted_run_in_chunks(tmp_path: Path) -> None:
    """Tables are cut for the mode of the run, slotted by default; those of a paced one are others."""
    schedule, trace = tmp_path / "s.json", tmp_path / "t.jsonl"
    certree("synthesize", "ring:3", "--method", "ring", "--size", "12KiB", "-o", schedule)
    ran = certree("simulate", schedule, "--run", "slotted", "--endpoint", "baseline:chunk=4KiB", "--trace", trace)
    assert "a trace of 12 messages, about 0.0 MB for each chunk" in ran.err
    asked = "model-check", "trace", trace, schedule, "baseline:chunk=4KiB"
    assert certree(*asked).code == 0
    assert certree(*asked, "--run", "paced").code == 1
    with pytest.raises(InputError, match="unknown run mode 'fast'"):
        model_check([str(schedule), "baseline:chunk=4KiB"], trace=trace, run="fast")
