"""Models end as `specs/models.toml` says, to the state; and what ends otherwise is told."""

from dataclasses import replace

import pytest

from certree.extras.tla.check import models
from certree.extras.tla.check.model_file import Expected, ListedTables
from certree.extras.tla.check.model_runs import ModelResult
from certree.extras.tla.check.models import compare, compare_tables, model_check
from certree.extras.tla.check.step_table import table_of_changes
from certree.extras.tla.check.tlc import Result, State, TlcRun, TlcStoppedError
from certree.models.common.errors import InputError

EXPECTED = Expected(Result.SAFETY, "NoLateRow", "NoLateRow", 5, 9)


# `make specs` runs all small models; here one for each way to end, with what a reader gets to see of it.
ENDINGS = {
    "MCNILockstepPair": "success",
    "MCScheduleFaultTooEarly": "safety",
    "MCNILockstepFaultsShortSlot": "safety",
    "MCNILockstepFaultsWrongParent": "deadlock",
    "MCNILockstepFaultsUnfair": "liveness",
    "MCTraceInNetworkReduceFaultElsewhereAdded": "safety",
}


@pytest.mark.parametrize("name", ENDINGS)
def test_model(name):
    (result,) = model_check([name])
    assert result.as_expected, result.message
    assert result.result == ENDINGS[name]
    assert bool(result.trace) == (result.expected != "success")
    if result.trace:
        heads = ["slot", "node", "row", "what", "what", "happened"] if "NILockstep" in name else ["step", "what", "changed"]
        assert result.trace.splitlines()[0].split() == heads


def test_a_counterexample_without_a_legend_is_told_by_what_changed():
    first = State("/\\ held = (0 :> <<1, 0>> @@ 1 :> <<0, 1>>)\n/\\ done = {}\n/\\ queue = <<>>")
    second = State('/\\ held = (0 :> <<1, 1>> @@ 1 :> <<0, 1>>)\n/\\ done = {[op |-> "SUM"]}\n/\\ queue = <<<<"p", 1>>>>')
    assert table_of_changes([first, second, first]).splitlines() == [
        "step  what changed",
        "0     the start",
        "1     held[0][2] 0 -> 1; done with [op |-> SUM]; queue <<>> -> <<<<p, 1>>>>",
        "2     held[0][2] 1 -> 0; done without [op |-> SUM]; queue <<<<p, 1>>>> -> <<>>",
    ]
    more, less = (State(f'/\\ copies = ([to |-> "a"] :> {number})') for number in (1, 0))
    assert table_of_changes([more, less]).splitlines()[2] == "1     copies[[to |-> a]] 1 -> 0"
    long = table_of_changes([first, second] * 50).splitlines()
    assert (long[1], len(long)) == ("... 40 earlier lines", 62)
    assert table_of_changes([]) == ""


@pytest.mark.parametrize(
    ("run", "problem"),
    [
        (TlcRun(Result.SAFETY, "NoLateRow", 5, 9, 1.0, ()), None),
        (TlcRun(Result.SUCCESS, "", 5, 9, 1.0, ()), "success where safety is expected"),
        (TlcRun(Result.UNKNOWN, "", None, 0, 1.0, ()), "unknown where safety is expected"),
        (TlcRun(Result.SAFETY, "NoBusyPort", 5, 9, 1.0, ()), "NoBusyPort is violated where NoLateRow should be"),
        (TlcRun(Result.SAFETY, "NoLateRow", 6, 9, 1.0, ()), "6 distinct of 9 states, where models.toml says 5 of 9"),
        (TlcRun(Result.SAFETY, "NoLateRow", 5, 8, 1.0, ()), "5 distinct of 8 states, where models.toml says 5 of 9"),
    ],
)
def test_comparison(run, problem):
    result = compare("M", EXPECTED, run)
    assert result.as_expected == (problem is None)
    if problem:
        assert result.message.startswith(problem)


def test_tables_of_the_list():
    entry = ListedTables("T", "ring:4", "m", "all-reduce", 64, 0, Expected(Result.SUCCESS, "", "", 5, 9), "small")
    found = ModelResult("", "success", Result.SUCCESS, 5, 9, 1.0, "exhaustive", "", "all states", True)
    assert compare_tables(entry, found) == replace(found, name="T")
    for changes, problem in (
        ({"distinct_states": 6}, "6 distinct of 9 states, where models.toml says 5 of 9; all states"),
        ({"result": Result.UNKNOWN, "message": "no answer"}, "unknown where success is expected; no answer"),
        ({"mode": "simulation"}, "simulation where exhaustive is expected; all states"),
    ):
        result = compare_tables(entry, replace(found, **changes))
        assert (result.as_expected, result.message) == (False, problem)


def test_results_are_reported_in_the_order_of_the_file():
    told = []
    results = model_check(["MCAllReduceWithdrawn", "MCAllReduceScatter"], report=lambda *one: told.append(one))
    assert [result.name for result in results] == ["MCAllReduceScatter", "MCAllReduceWithdrawn"]
    assert told == [(results[0], 1, 2), (results[1], 2, 2)]


def test_unknown_model():
    with pytest.raises(InputError, match="unknown model 'Nothing'; known: MCAllReduce, "):
        model_check(["Nothing"])
    with pytest.raises(InputError, match="unknown model 'MCAllReduceUnfairly'; did you mean MCAllReduceUnfair or "):
        model_check(["MCAllReduceUnfairly"])


def test_an_interrupt_ends_the_runs(monkeypatch):
    """The interrupt is raised where results are waited for; the TLCs are waited for by other threads."""
    check, stopped = models._check, []

    def watched(model, make_tables):
        try:
            return check(model, make_tables)
        except TlcStoppedError:
            stopped.append(model.name)
            raise

    def interrupt(result, done, total):
        raise KeyboardInterrupt

    monkeypatch.setattr(models, "_check", watched)
    with pytest.raises(KeyboardInterrupt):
        model_check(["MCAllReduceScatter", "MCNILockstepMeshAnyOrder"], report=interrupt)
    assert stopped == ["MCNILockstepMeshAnyOrder"]
