"""The table of mutants: the properties that detect each, as found by TLC; the stored table is that of the current models."""

from dataclasses import replace

import pytest

from certree.extras.tla.check.model_file import LookedAt, Mutation, listed
from certree.extras.tla.check.model_runs import specs_folder
from certree.extras.tla.check.tlc import Result
from tools.specs import mutants as kills
from tools.specs.mutants import DEADLOCK, KILLED, NO_ANSWER, columns_of, digest_of, families, short_name

FEW = ("MCAllReduceScatter", "MCAllReduceOwnTwice", "MCAllReduceWithdrawn")
KEPT = (specs_folder() / "KILLS.md").read_text()
FAMILIES = families()


def test_table(monkeypatch):
    few = replace(listed(), models={name: listed().models[name] for name in FEW})
    monkeypatch.setattr(kills, "listed", lambda: few)
    told = []
    (table,) = kills.kill_tables(told.append)
    assert table.splitlines()[5:] == [
        "1 TypeOK, 2 RightResult, 3 OnlyPromised, 4 MayBeginFinished, 5 MayBeginLate, 6 Ends, 7 Stays, 8 NotFromTheStart, "
        "9 AllInTheEnd, 10 no deadlock",
        "",
        "| mutant | what | of | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 | 10 |",
        "|---|---|---|---|---|---|---|---|---|---|---|---|---|",
        "| OwnTwice | doubled | AllReduce!Outcome | x | x |  |  |  |  |  |  |  |  |",
        "| Withdrawn | lost | AllReduce!Finish |  |  |  |  |  | x | x |  | x |  |",
    ]
    assert told == ["MCAllReduceOwnTwice: 2 properties detect it", "MCAllReduceWithdrawn: 3 properties detect it"]
    assert [*kills.kill_tables(told.append, kept=f"head\n{table}")] == [table]
    assert len(told) == 2
    assert len([*kills.kill_tables(told.append, kept=f"head\n{table}".replace("SHA-256 ", "SHA-256 0"))]) == 1
    assert len(told) == 4


@pytest.mark.parametrize("family", FAMILIES)
def test_kept_table_is_that_of_modules_and_mutants(family):
    how = "`python -m tools.specs kills` writes it anew"
    assert f"SHA-256 {digest_of(FAMILIES[family])}." in KEPT.partition(f"## {family}\n")[2], how


def test_comments_make_no_difference_to_the_digest(tmp_path, monkeypatch):
    digests = set()
    for number, text in enumerate(("x == 1\n", "(* a\nb *)\nx == 1  \n\n\\* c\n", "x == 2\n")):
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / "MCAllReduce.tla").write_text(text)
        monkeypatch.setattr(kills, "specs_folder", lambda folder=folder: folder)
        digests.add(digest_of([listed().models["MCAllReduceScatter"]]))
    assert len(digests) == 2


def test_the_digest_is_of_all_that_a_module_uses():
    assert kills.modules_of(FAMILIES["MCTraceNILockstep"]) == {
        "MCTraceNILockstep", "TraceNILockstep", "MCNILockstep", "CheckNILockstep", "NIProof", "NILockstep", "NISequencer",
        "NILanes", "NITables", "Schedule", "AllReduce",
    }  # fmt: skip


def test_families_without_a_table_are_those_without_mutations():
    left_out = {model.module.removesuffix("Faults") for model in listed().models.values()} - set(FAMILIES)
    assert left_out == {"MCTraceAceEngine", "MCTraceNIUses"}


def kept_rows(family):
    """The cells of each mutant of a family, by its short name, as property -> cell."""
    text = KEPT.split(f"## {family}\n")[1].split("\n## ")[0]
    names, rows = list(columns_of(FAMILIES[family]).names), {}
    lines = [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines() if line.startswith("|")]
    heads = lines[0][3:]
    if heads[0] == "1":
        listed = next(line for line in text.splitlines() if line.startswith("1 ")).split(", ")
        heads = [entry.split(" ", 1)[1] for entry in listed]
    assert heads == names
    for name, kind, place, *cells in lines[2:]:
        rows[name] = (kind, place, dict(zip(heads, cells, strict=True)))
    return rows


def test_the_kept_table_has_every_family():
    assert [line.removeprefix("## ") for line in KEPT.splitlines() if line.startswith("## ")] == list(FAMILIES)


@pytest.mark.parametrize("family", FAMILIES)
def test_rows_are_the_mutants(family):
    rows = kept_rows(family)
    mutants = {short_name(family, model): model for model in kills.mutants_of(FAMILIES[family])}
    assert list(rows) == list(mutants)
    for name, (kind, place, cells) in rows.items():
        assert Mutation(kind, place) == mutants[name].mutation
        assert KILLED in cells.values(), f"nothing refutes {name}"
        expected = mutants[name].expected
        assert cells[DEADLOCK if expected.result is Result.DEADLOCK else expected.breaks] == KILLED


@pytest.mark.parametrize("family", FAMILIES)
def test_every_property_refutes_some_mutant(family):
    rows = kept_rows(family).values()
    idle = [name for name in columns_of(FAMILIES[family]).names if not any(cells[name] == KILLED for _, _, cells in rows)]
    # whatever a rank does, another can go on, and hosts can send again; transfers that wait in a circle are mutants of MCSchedule,
    # and mutants of rules are those that come to their end
    never = ("MCAllReduce", "MCScheduleApart", "MCInNetworkReduce", "MCNIRules", "MCFlowRules")
    assert idle == ([DEADLOCK] if family in never else [])


def test_these_answers_are_missing():
    """All other mutants have so few states that all of them were looked at. Of three of reducing switches, which have many packets,
    runs are not asked for."""
    rows = [row for family in FAMILIES for row in kept_rows(family).items()]
    missing = {name: {head for head in cells if cells[head] == NO_ANSWER} for name, (_, _, cells) in rows}
    columns = columns_of(FAMILIES["MCInNetworkReduce"]).names
    only_refuted = set(columns) - {"SafeReuse", "BeginsAtRest", "BeginsWithThePromise"}
    of_trees = {"BeginsAsScheduled", "StepsAsScheduled", "CountedOrFlying", "SlottedInvariant"}
    unseen = {
        "AllOrders",
        "ChainsKeepTogether",
        "SendsOverLinks",
        "OnlyExpected",
        "EveryArrivalAwaited",
        "EveryRunEnds",
        "StepsUntimed",
        DEADLOCK,
    }
    until_the_end = set(columns_of(FAMILIES["MCScheduleBuffers"]).names) - {"EndsInTime"}
    in_phases = set(columns_of(FAMILIES["MCAceEngine"]).names) - {"QueuedWhereItIs"}
    late = {"TypeOK", "EachOnce", "SentIsKept", "AnyPacketCanBeLost", "SafeReuse", "AsksForMissing", "EveryResultArrives", DEADLOCK}
    assert {name: heads for name, heads in missing.items() if heads} == {
        "NotDue": {"AllInTheEnd"},  # about results that it does not have
        "Race": {"BeginsAsScheduled", "StepsAsScheduled"},  # of trees
        "OutOfTurn": {"BeginsAsScheduled", "StepsAsScheduled"},
        "Careless": {"BeginsAsScheduled", "StepsAsScheduled", "EveryRunEnds"},
        # what fires before its operands, or again, soon has states without a meaning
        "NeverWaits": unseen | {"TypeOK", "CountedOrFlyingUntimed"},
        "Stays": unseen
        | {"CountersApart", "NothingMissing", "RightSum", "OneOrder", "StaysAlone", "KeepsThePromise", "NeverBreaksThePromise"},
        "CountedCareless": of_trees,
        "CountedBit": of_trees,
        "NeedsNothing": {"EveryChunkEnds"},
        "TakesAlone": {"EveryChunkEnds"},
        "TicksOn": until_the_end - {"BeginsAtRest", "BeginsWithThePromise"},  # slots without an end
        "StaysQueued": in_phases,  # at work is the first of a queue, which may be in no phase any more
        "LateResult": late | {"KeepsThePromise"},
        "FollowsAnywhere": {"EveryWormArrives"},
        "CountsArrivals": {"EveryResultArrives"},
        "NoNumber": {"TypeOK", "AnyPacketCanBeLost", "AsksForMissing", "EveryoneIsTold", DEADLOCK},
        "NoWindow": only_refuted,
        "ThreePlaces": only_refuted,
    }
    asked_less = {name: model.looked_at for name, model in listed().models.items() if model.looked_at != LookedAt()}
    assert asked_less == {
        "MCInNetworkReduceFaultNoWindow": LookedAt(states_of_runs=0),
        "MCInNetworkReduceFaultThreePlaces": LookedAt(states=4096, states_of_runs=0),
        "MCInNetworkReduceFaultLateResult": LookedAt(states_of_runs=0),
    }


@pytest.mark.parametrize("family", FAMILIES)
def test_what_is_not_fair_does_no_wrong_step(family):
    """A run without fairness may only stop too early."""
    of_runs = {name for name in columns_of(FAMILIES[family]).properties if kills.is_of_runs(FAMILIES[family][0], name)}
    for kind, _, cells in kept_rows(family).values():
        if kind == "fairness dropped":
            assert {name for name, cell in cells.items() if cell == KILLED} <= of_runs
