"""The proved checker: its proofs rest on nothing, it is what `verify --proved` runs, and it agrees with the Python checker."""

import os
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

import certree.api as ct
from certree.api.api_errors import DisagreementError
from certree.extras.proved.run import proved_answer, proved_program
from certree.extras.proved.run.proved_answer import ProvedAnswer
from certree.hw.tables.lowering import lower
from certree.models.common.errors import InputError, ToolMissingError, UndecidedError, UnsupportedError
from certree.models.schedule.collective import CollectiveKind
from certree.models.schedule.schedule import Schedule
from tests.cli.running import assert_bad_input, certree, json_of
from tests.end_to_end.composition.forms import FORMS as COMPOSED
from tests.extras.proved.agreement import FORMS, compare
from tests.extras.proved.planted import ONLY_A_LEMMA, PLANTED, Planted
from tests.hw.counted import blocks, exchanges
from tests.hw.trees import MULTITREE
from tests.verify.build import build
from tools.proofs import ALL

NEEDED = ("coqc", "ocamlfind", "ocamlopt")
needs_coq = pytest.mark.skipif(not all(map(shutil.which, NEEDED)), reason="needs Coq and OCaml: apt-get install coq ocaml-findlib")


@needs_coq
def test_program_of_proofs_that_rest_on_an_axiom_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The program is there, so no theorem rests on an axiom; where one did there would be none."""
    assert proved_program.proved_program().is_file()
    assert proved_program.theorems(proved_program.MODULES) == [
        "counters_again", "lockstep_sound", "trees_sound", "can_end", "operands_come_first", "order_sound",
        "check_sound", "check_has_runs", "check_has_starts",
    ]  # fmt: skip
    monkeypatch.setenv("CERTREE_CACHE", str(tmp_path))
    monkeypatch.setattr(proved_program, "compile_proofs", lambda folder: ["Axioms:", "easy : False"])
    with pytest.raises(proved_program.ProofError, match="a theorem rests on an axiom: Axioms: easy : False"):
        proved_program.proved_program()
    assert list(tmp_path.iterdir()) == []


@needs_coq
def test_an_axiom_is_named(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    (source / "Easy.v").write_text("Axiom easy : False.\nLemma all : 0 = 1.\nProof. destruct easy. Qed.\nPrint Assumptions all.\n")
    printed = proved_program.compile_proofs(tmp_path / "built", ("Easy",), source)
    assert printed == ["Axioms:", "easy : False"]


def test_nothing_is_admitted() -> None:
    """Coq would also say so: of what is not used in a theorem it would not."""
    for name in ALL:
        words = (proved_program.sources() / f"{name}.v").read_text().split()
        assert not {"Admitted.", "admit.", "Axiom", "Axioms", "Parameter", "Conjecture", "Abort."} & set(words), name


@needs_coq
def test_checkers_agree() -> None:
    found = compare(range(120, 190))
    assert {form for form, _ in found} == set(FORMS)
    assert {answer for (_, answer), count in found.items() if count} == {
        "accepted", "refused", "any timing", "slots", "not right",
        "additions one", "additions each", "additions none", "additions None",
        "timing both", "timing neither", "timing shared", "timing None",
    }  # fmt: skip


@needs_coq
def test_checkers_agree_on_many() -> None:
    found = compare(range(20_000, 26_000))
    assert all(found[form, answer] > 50 for form in FORMS for answer in ("accepted", "refused"))


@needs_coq
def test_verify_proved(tmp_path: Path) -> None:
    schedule = ct.synthesize("ring:4", method="ring")
    right, wrong = tmp_path / "right.json", tmp_path / "wrong.json"
    ct.save(schedule, right)
    step = schedule.step.copy()
    step[-1] = 0
    ct.save(replace(schedule, step=step, certificate=None), wrong)
    outcome = certree("verify", right, "--proved")
    assert outcome.code == 0
    assert (
        outcome.out.splitlines()[-1]
        == "  proved checker: right in every run, for every commutative and associative operation, and at any timing; in slots"
        " each sum is made by the same additions at all ranks"
    )
    assert json_of("verify", right, "--proved")["proved"] == {
        "right": True,
        "any_timing": True,
        "shared": None,
        "additions": "each",
    }
    outcome = certree("verify", wrong, "--proved")
    assert outcome.code == 1
    assert "proved checker: not accepted: " in outcome.out


@needs_coq
@pytest.mark.parametrize("form", COMPOSED)
def test_every_form(form: str, tmp_path: Path) -> None:
    """All forms that are combined with commands: right, or fine slots."""
    COMPOSED[form].write(tmp_path)
    outcome = certree("verify", tmp_path / "s.json", "--proved")
    if form.startswith("fine") or form == "waits":
        assert_bad_input(outcome, "the proved checker: not supported for schedules that use slot_cycles")
    else:
        assert outcome.code == 0
        assert "proved checker: right" in outcome.out


@needs_coq
def test_waits_that_do_not_suffice() -> None:
    """Exchanges overwrite what a neighbour may not have read yet, unless slots keep them apart."""
    assert ct.prove(ct.synthesize("full:8", method="recursive-doubling")).any_timing is False
    assert ct.prove(ct.synthesize("full:8", method="ring")).any_timing is True
    large = ct.synthesize("torus:8x8", method="multitree")
    assert large.transfers > 2048
    assert ct.prove(large).any_timing is None


@needs_coq
def test_iterations_that_share_work_cells(tmp_path: Path) -> None:
    """The theorem gives each iteration cells of its own: where W is less than their number, only slots keep them apart (A12)."""
    schedule = blocks("mesh:2x2", CollectiveKind.ALL_TO_ALL, 1, 1, 5, 0)
    few = ct.prove(schedule)
    assert (few.right, few.any_timing) == (True, False)
    assert few.shared
    assert few.shared.endswith("which only slots keep apart")
    assert ct.prove(schedule, in_flight=5).any_timing is True
    ct.save(schedule, tmp_path / "s.json")
    ct.export(schedule, "readmemh", tmp_path / "tables", size="4KiB")
    for path in (tmp_path / "s.json", tmp_path / "tables"):
        outcome = certree("verify", path, "--proved")
        assert outcome.out.splitlines()[-1].endswith(f", in slots: {few.shared}")
        said = json_of("verify", path, "--proved")["proved"]
        assert (said["any_timing"], said["shared"]) == (False, few.shared)
    for window in (0, 6, 1.5, True, "2"):
        with pytest.raises(InputError, match=f"in_flight is {window!r}; allowed: a whole number from 1 to 5, the iterations"):
            ct.prove(schedule, in_flight=window)


def test_iterations_that_share_a_counter_are_apart() -> None:
    """What `counters_again` assumes (`counters_apart`) of W holds of what the exporter chooses, and not of less."""
    doubling = ct.synthesize("hypercube:3", method="recursive-doubling", size="1KiB")
    plans = [replace(doubling, certificate=None, made_for=None, repeats=repeats, period=1) for repeats in (2, 4)]
    for seed in range(3):
        plans += [blocks("mesh:2x2", CollectiveKind.ALL_TO_ALL, 2, 2, 5, seed), exchanges(2, 2, 1 + seed, seed, 5)]
    asked = 0
    for plan in plans:
        window = lower(plan, 4000, MULTITREE).in_flight
        asked += apart(plan, window)[0]
        assert apart(plan, window)[1], plan
    assert asked > 100
    assert lower(plans[1], 4000, MULTITREE).in_flight == 3
    assert not apart(plans[1], 1)[1]


def apart(plan: Schedule, window: int) -> tuple[int, bool]:
    """How many pairs of a row and what comes into its cell are asked, and whether all are apart."""
    asked, right = 0, True
    for into in range(plan.transfers):
        readers = (plan.src == plan.dst[into]) & (plan.chunk == plan.chunk[into])
        waiting = [int(step) for step in plan.step[readers] if awaits(plan, into, int(step))]
        asked += len(waiting)
        right &= window >= plan.repeats or all(plan.step[into] < step + window * plan.period for step in waiting)
    return asked, right


def awaits(plan: Schedule, into: int, step: int) -> bool:
    """Whether a row of this step that reads the cell that a transfer comes into waits for any message."""
    same = (plan.dst == plan.dst[into]) & (plan.chunk == plan.chunk[into])
    return bool((plan.step[same] + plan.delay <= step).any())


@needs_coq
def test_symmetric_schedules_are_written_out() -> None:
    assert ct.prove(ct.synthesize("torus:3x3", method="symmetric")).right


def test_what_it_does_not_take(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fine = ct.synthesize("ring:4", method="one-shot", size="256B")
    assert fine.has_fine_slots
    with pytest.raises(UnsupportedError, match="the proved checker: not supported for schedules that use slot_cycles"):
        ct.prove(fine)
    monkeypatch.setenv("CERTREE_BUDGET", "1/1000000")
    with pytest.raises(UndecidedError, match=r"the proved checker, 24 transfers among 4 ranks: takes"):
        ct.prove(ct.synthesize("ring:4", method="ring"))


def test_sets_of_many_nodes_are_counted() -> None:
    """No transfer, and yet a set of 250,000 bits, made bit by bit."""
    with pytest.raises(UndecidedError, match=r"0 transfers among 250,000 ranks: takes [0-9,]+ steps"):
        ct.prove(build("switch:250000", "reduce-scatter", [], roots=[0]))


def test_several_paths_are_refused(tmp_path: Path) -> None:
    for name in ("a.json", "b.json"):
        ct.save(ct.synthesize("ring:4", method="ring"), tmp_path / name)
    outcome = certree("verify", tmp_path / "a.json", tmp_path / "b.json", "--proved")
    assert_bad_input(outcome, "--proved is for a single schedule")


def test_without_coq(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", os.devnull)
    with pytest.raises(
        ToolMissingError,
        match="there is no coqc; the proved checker needs Coq and OCaml: apt-get install coq ocaml-nox ocaml-findlib",
    ):
        ct.prove(ct.synthesize("ring:4", method="ring"))


@pytest.mark.parametrize("right", [True, False])
def test_disagreement_is_an_error(right: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    schedule = ct.synthesize("ring:4", method="ring")
    if right:
        schedule = replace(schedule, step=schedule.step * 0, certificate=None)
    ct.save(schedule, tmp_path / "s.json")
    monkeypatch.setattr(proved_answer, "prove", lambda schedule, in_flight: ProvedAnswer(right, {} if right else {"links": False}))
    outcome = certree("verify", tmp_path / "s.json", "--proved")
    assert outcome.code == DisagreementError.exit_code
    said = "the checker finds rule capacity broken; proved checker: right" if right else "not accepted: links"
    assert said in outcome.err


@needs_coq
def test_all_proofs_rest_on_no_axiom(tmp_path: Path) -> None:
    assert proved_program.compile_proofs(tmp_path, ALL) == [proved_program.NO_AXIOMS] * len(proved_program.theorems(ALL))


def test_planted_errors_are_other_texts() -> None:
    assert len({error.applied() for error in PLANTED}) == len(PLANTED)
    assert ONLY_A_LEMMA.keys() <= {error.name for error in PLANTED}


@needs_coq
@pytest.mark.parametrize("error", PLANTED, ids=lambda error: error.name)
def test_planted_errors_stop_a_proof(error: Planted) -> None:
    assert error.stopped() == error.stops
