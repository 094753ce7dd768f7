"""Traces of runs with endpoints keep the order of uses of a cell, which is checked by names and not by counts."""

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st

import certree.api as ct
from certree.extras.endpoints.check.use_check import require_uses
from certree.extras.endpoints.model.endpoint import Endpoint
from certree.extras.endpoints.run.tables import table_endpoints
from certree.extras.endpoints.run.tables.earlier_uses import earlier_uses
from certree.models.common.errors import InputError
from certree.models.tables.tables import Tables
from tests.cli.running import assert_bad_input, certree
from tests.drawn import examples, given_at_least
from tests.extras.endpoints.run.tables_drawn import or_refused
from tests.extras.endpoints.run.test_earlier_uses import SYSTEMS, paced, races
from tests.hw.made import tables_of

EXCHANGE = tables_of("recursive-doubling", "hypercube:3", 4096)


def traced(path: Path, tables: Tables, *asked: Any, **more: Any) -> Path:
    paced(tables, *asked, trace=path, **more)
    return path


@given_at_least(12, races(), st.sampled_from(SYSTEMS), st.sampled_from([0, 30_000]))
@examples(16)
def test_runs_keep_the_order(case: tuple[Tables, Endpoint], system: str, late: int) -> bool:
    """The messages that wait are those that `earlier_uses` counts."""
    tables, endpoint = case
    reads, writes = earlier_uses(tables)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "t.jsonl"
        done = or_refused(partial(paced, tables, system, endpoint, late=late, trace=path))
        if done is None:
            return False
        assert require_uses(path, tables) == np.count_nonzero(reads + writes) * tables.repeats
    return bool(len(reads))


@pytest.mark.parametrize("system", SYSTEMS)
def test_a_run_without_the_order_is_refused(system: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Data are wrong there, and the trace says where."""
    nothing = np.zeros(0, np.int64)
    monkeypatch.setattr(table_endpoints, "earlier_uses", lambda _: (nothing, nothing))
    path = traced(tmp_path / "t.jsonl", EXCHANGE, system, late=30_000)
    with pytest.raises(
        InputError, match=r"line \d+ is usable in cycle \d+, and must come after the row of line \d+, which uses its"
    ):
        require_uses(path, EXCHANGE)


def changed(path: Path, change: Callable[[list[dict[str, Any]]], None]) -> Path:
    entries = [json.loads(line) for line in path.read_text().splitlines()]
    change(entries)
    path.write_text("".join(json.dumps(entry, separators=(",", ":")) + "\n" for entry in entries))
    return path


def test_the_cycle_of_an_earlier_use_is_too_early(tmp_path: Path) -> None:
    """A message is usable behind the cycle in which the row before it fires, and not in it."""
    path = traced(tmp_path / "t.jsonl", EXCHANGE, "baseline")
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    one = next(number for number, line in enumerate(lines) if line["row"] == 0)
    before = next(line["fired"] for line in lines if (line["node"], line["row"]) == (lines[one]["destination"], 0))
    assert require_uses(path, EXCHANGE) == 24
    with pytest.raises(InputError, match=rf"line {one + 1} is usable in cycle {before}, and must come after"):
        require_uses(changed(path, lambda entries: entries[one].update(usable=before)), EXCHANGE)
    assert require_uses(changed(path, lambda entries: entries[one].update(usable=before + 1)), EXCHANGE) == 24


def test_trees_have_nothing_to_keep(tmp_path: Path) -> None:
    tables = tables_of("multitree", "torus:3x3", 4096)
    assert require_uses(traced(tmp_path / "t.jsonl", tables, "ace"), tables) == 0


def test_the_command(tmp_path: Path) -> None:
    """In a file of the whole run, of systems without a specification too."""
    schedule, trace = tmp_path / "s.json", tmp_path / "whole.ndjson"
    certree("synthesize", "hypercube:2", "--method", "recursive-doubling", "--size", "192B", "-o", schedule)
    ct.simulate(schedule, run="paced", endpoint="baseline", trace=trace, trace_flits=trace)
    done = certree("model-check", "trace", trace, schedule)
    assert done.code == 0
    assert done.out.startswith("trace of interfaces: success, as expected")

    whole = trace.read_text().splitlines(keepends=True)
    places = [number for number, line in enumerate(whole) if '"usable"' in line]
    for kept, message in (
        ([*whole[: places[1]], whole[places[0]], *whole[places[1] :]], "the same message as in line"),
        ([line for number, line in enumerate(whole) if number != places[0]], "no line for the message of row 0 of node"),
    ):
        trace.write_text("".join(kept))
        assert_bad_input(certree("model-check", "trace", trace, schedule), message)
    trace.write_text("".join(whole))

    def hasten(entries: list[dict[str, Any]]) -> None:
        one = next(one for one in entries if "usable" in one)
        one.update(fired=0, at_interface=0, first_flit=0, last_flit_arrived=0, usable=0)

    assert_bad_input(certree("model-check", "trace", changed(trace, hasten), schedule), "must come after the row of line")
