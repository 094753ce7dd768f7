"""Traces of `simulate --endpoint ace`, checked by TLC: right ones are behaviours of the specification, changed ones are not."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import certree.api as ct
from certree.extras.endpoints.check.joint_trace_check import check_joint_trace, is_joint_trace
from certree.extras.endpoints.model.endpoint import ENDPOINTS
from certree.extras.endpoints.model.named_system import named_system
from certree.extras.endpoints.run.tables.iterations import in_iterations
from certree.extras.endpoints.run.tables.table_runs import endpoint_of_runs
from certree.extras.tla.check.model_runs import ModelResult
from certree.hw.tables.lowering import lower
from certree.models.common.errors import InputError, UnsupportedError
from certree.models.schedule.collective import CollectiveKind
from certree.models.tables.tables import Tables
from tests.cli.running import assert_bad_input, certree
from tests.extras.endpoints.run.tables_drawn import ACE
from tests.hw.made import MULTITREE, tables_of
from tests.hw.trees import tree_schedule

RING = tables_of("ring", "ring:3", 12 << 10)
ITERATIONS = lower(tree_schedule("ring:4", CollectiveKind.ALL_REDUCE, 2, delay=1, repeats=6, seed=3), 6 * 4096, MULTITREE)


GATHER = tables_of("multitree", "ring:4", 4096, collective="all-gather")  # nodes send several messages in one cycle
PACKING = tables_of("packing", "mesh:2x2", 4096)
Entries = list[dict[str, Any]]


def checked(tables: Tables, folder: Path, change: Callable[[Entries], object] | None = None, system: str = "ace") -> ModelResult:
    """The verdict on a trace of these tables, changed before."""
    path = folder / "t.jsonl"
    ct.simulate(tables, run="paced", endpoint="ace", without_routers=True, trace=path)
    assert is_joint_trace(path)
    entries = [json.loads(line) for line in path.read_text().splitlines()]
    if change is not None:
        change(entries)
        path.write_text("".join(json.dumps(entry) + "\n" for entry in entries))
    return check_joint_trace(path, tables, named_system(system, ACE))


@pytest.mark.parametrize(
    ("tables", "chunk"),
    [(RING, None), (ITERATIONS, None), (GATHER, "1KiB"), (PACKING, "2KiB")],
    ids=["ring", "trees in iterations", "multitree in chunks", "packing in chunks"],
)
def test_runs_are_behaviours(tables: Tables, chunk: str | None, tmp_path: Path) -> None:
    if chunk is not None:
        tables = in_iterations(tables, endpoint_of_runs(f"ace:chunk={chunk}"), "paced")
        assert tables.repeats > 1
    found = checked(tables, tmp_path)
    assert found.as_expected, found
    messages = tables.repeats * len(tables.transfers()["row"])
    nodes = len(tables.topology.endpoints)
    # each message goes and comes, or both at once where it is passed on; three moves of each iteration at each node
    assert f"{found.message}".startswith(f"{found.distinct_states - 1} steps, all as in the specification")
    assert messages + 3 * nodes * tables.repeats < found.distinct_states <= 2 * messages + 3 * nodes * tables.repeats + 1


def _of(entries: Entries, **wanted: Any) -> dict[str, Any]:
    return next(entry for entry in entries if all(entry.get(name) == value for name, value in wanted.items()))


def _sent_too_early(entries: Entries) -> None:
    """A sum goes out before its summand has come."""
    _of(entries, node=0, row=1)["fired"] = 300


def _gone_too_early(entries: Entries) -> None:
    """The chunk moves to the results while a message is missing."""
    _of(entries, endpoint=0, event="gone on")["cycle"] = 1480


def _never_returned(entries: Entries) -> None:
    entries.remove(_of(entries, endpoint=1, event="returned"))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (_sent_too_early, "send"),
        (_gone_too_early, "go on of chunk 0, node 0"),
        (_never_returned, "some iteration is not back in memory"),
    ],
)
def test_changed_traces_are_not(change: Callable[[Entries], None], words: str, tmp_path: Path) -> None:
    found = checked(RING, tmp_path, change)
    assert not found.as_expected
    assert words in found.message, found.message


def test_an_sram_without_room_loads_nothing(tmp_path: Path) -> None:
    """Endpoints of another file than those that ran."""
    schedule, trace, params = tmp_path / "s.json", tmp_path / "t.jsonl", tmp_path / "small.toml"
    certree("synthesize", "ring:3", "--method", "ring", "--size", "12KiB", "-o", schedule)
    ct.simulate(schedule, run="paced", endpoint="ace", trace=trace)
    params.write_text(ENDPOINTS.read("ace").decode().replace("sram_bytes = 4_194_304", "sram_bytes = 1024"))
    done = certree("model-check", "trace", trace, schedule, "--endpoint-params", params)
    assert (done.code, "load of chunk 0" in done.out) == (1, True), done
    missing = certree("model-check", "trace", trace, schedule, "--endpoint-params", tmp_path / "none.toml")
    assert_bad_input(missing, "none.toml")


def test_what_is_no_trace_of_these_tables(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"line 7: the tables have no message of row 9 of node \d to node \d"):
        checked(RING, tmp_path / "", lambda entries: entries[6].update(row=9))
    (tmp_path / "t.jsonl").unlink()
    with pytest.raises(InputError, match="endpoint is 7"):
        checked(RING, tmp_path, lambda entries: entries[0].update(endpoint=7))
    for system in ("baseline", "ace:chunk=4KiB"):
        (tmp_path / "t.jsonl").unlink()
        with pytest.raises(UnsupportedError, match="events of engines of tables as they are"):
            checked(RING, tmp_path, system=system)


@pytest.mark.parametrize(
    ("place", "changed", "words"),
    [
        ({"event": "load"}, {"event": "unload"}, r"line 1: unknown event 'unload'"),
        ({"event": "loaded"}, {"event": "load"}, "a second event load of this iteration at this node"),
        ({"event": "loaded"}, {"event": "returned"}, "iteration 0 at node 0 has no event loaded"),
        ({"event": "load"}, {"cycle": 10**6}, "loaded in cycle 219 is before load in cycle 1000000"),
        ({"event": "loaded"}, {"cycle": 220}, "fired of node 0 in cycle 219 is before loaded in cycle 220"),
        ({"node": 0}, {"at_interface": 1}, "at_interface in cycle 1 is before fired in cycle 219"),
        ({"node": 0}, {"first_flit": 219}, "first_flit in cycle 219 is before at_interface in cycle 220"),
        ({"node": 0}, {"last_flit_arrived": 0}, "last_flit_arrived in cycle 0 is before first_flit in cycle 220"),
        ({"node": 0}, {"usable": 300}, "usable in cycle 300 is before last_flit_arrived in cycle"),
    ],
)
def test_times_that_no_run_has(place: dict[str, Any], changed: dict[str, Any], words: str, tmp_path: Path) -> None:
    """Refused before the specification is asked, which knows none of them."""
    with pytest.raises(InputError, match=words):
        checked(RING, tmp_path, lambda entries: _of(entries, **place).update(changed))


def test_the_command(tmp_path: Path) -> None:
    schedule, trace = tmp_path / "s.json", tmp_path / "t.jsonl"
    certree("synthesize", "ring:3", "--method", "ring", "--size", "12KiB", "-o", schedule)
    certree("simulate", schedule, "--run", "paced", "--endpoint", "ace", "--trace", trace)
    done = certree("model-check", "trace", trace, schedule)
    assert (done.code, "2 of 2 as expected" in done.out) == (0, True)
    assert_bad_input(
        certree("model-check", "trace", trace), "a trace of a run with endpoints takes the tables or schedule that ran"
    )
    certree("simulate", schedule, "--run", "paced", "--endpoint", "ace:chunk=4KiB", "--trace", trace, "--force")
    done = certree("model-check", "trace", trace, schedule, "ace:chunk=4KiB", "--run", "paced")
    assert (done.code, "2 of 2 as expected" in done.out) == (0, True), done
    assert_bad_input(certree("model-check", "trace", trace, schedule), "line 2: iteration is 1; allowed: whole numbers from 0 to 0")
