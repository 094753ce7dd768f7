"""200 draws of `tests.end_to_end.draws.differential.py`, with TLC on some of the smallest; the draws that disagreed once; and how
a draw that fails is made smaller."""

from dataclasses import replace
from itertools import islice
from random import Random

import pytest

from certree.extras.tla.check.table_model import model_check_tables
from certree.extras.tla.check.tlc import Result
from certree.models.machine.machine import Machine
from certree.models.schedule.schedule import Schedule
from certree.models.schedule.timing import SlotTiming, schedule_cycles
from tests.end_to_end.draws import differential
from tests.end_to_end.draws.differential import check_draw, failure, tables_for_tlc
from tests.end_to_end.draws.recipe import Recipe, drawn
from tests.end_to_end.draws.smaller import smallest
from tests.end_to_end.draws.together import model_check_together
from tests.verify.deadlock.drawn import Cabling, drawn_cabling

BLOCK, BLOCKS = 20, 10
#: draws that disagreed, as `differential` prints them; each found a fault
ONCE_WRONG: tuple[Recipe, ...] = ()
MODEL_CHECKED = 10


@pytest.mark.parametrize("block", range(BLOCKS))
def test_all_that_decide_agree(block: int) -> None:
    for seed in range(block * BLOCK, (block + 1) * BLOCK):
        assert check_draw(drawn(seed))["draws"], f"seed {seed}"


@pytest.mark.parametrize("recipe", ONCE_WRONG, ids=lambda recipe: recipe.text)
def test_draws_that_disagreed_once(recipe: Recipe) -> None:
    assert check_draw(recipe)["draws"]


@pytest.mark.parametrize("first", [0, pytest.param(1000, marks=pytest.mark.slow)])
def test_tlc_agrees_on_small_draws(first: int) -> None:
    tables = list(islice(filter(None, (tables_for_tlc(drawn(seed)) for seed in range(first, first + 120))), MODEL_CHECKED))
    assert len(tables) == MODEL_CHECKED
    assert {result for result, _ in model_check_together(tables)} == {Result.SUCCESS}


def test_models_in_one_process_end_as_alone() -> None:
    """Also behind a model that fails: a slot that is a cycle too short for what it waits for."""
    right = next(filter(None, (tables_for_tlc(drawn(seed)) for seed in range(120))))
    given = [right, replace(right, slot_cycles=right.slot_cycles - 1), right]
    alone = [model_check_tables(tables) for tables in given[:2]]
    assert [one.result for one in alone] == [Result.SUCCESS, Result.SAFETY]
    expected = [(one.result, one.distinct_states) for one in (*alone, alone[0])]
    assert model_check_together(given) == expected


def test_a_failure_is_made_as_small_as_it_can_be() -> None:
    def fails(recipe: Recipe) -> bool:
        return recipe.size > 10 and recipe.skew[1:2] > (2,) and ("vc_count", 1) in recipe.machine

    large = Recipe(
        "mesh:3x3", "multitree", "all-reduce", None, 4096, 7, (("vc_count", 1), ("head_flits", 2)), (("datelines", False),),
        (9, 300, 7, 7, 0, 0, 0, 0, 1),
    )  # fmt: skip
    least = smallest(large, fails)
    assert least == Recipe("ring:3", "multitree", "all-reduce", None, 11, 0, (("vc_count", 1),), (), (0, 4, 0, 0, 0, 0, 0, 0, 0))


def test_endpoints_and_cables_of_random_switches_are_left_out() -> None:
    large = drawn_cabling(Random(4))
    least = smallest(Recipe(large, "direct", "all-gather", None, 1, 0), lambda recipe: len(recipe.topology.endpoints) >= 3)
    assert isinstance(least.network, Cabling)
    assert (len(least.network.homes), len(least.network.cables)) == (3, least.network.switches - 1)
    assert all(switch in least.network.homes for switch in range(least.network.switches) if least.network.is_leaf(switch))


def test_the_entry_of_a_regression_test_is_the_recipe() -> None:
    for recipe in (drawn(1), Recipe(drawn_cabling(Random(4)), "direct", "all-gather", None, 1, 0)):
        (again,) = eval(f"({recipe.entry()})")
        assert again == recipe


def test_a_wrong_closed_form_is_found_and_printed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def wrong(schedule: Schedule, timing: SlotTiming, machine: Machine) -> int:
        return schedule_cycles(schedule, timing, machine) + (machine.head_flits == 2)

    monkeypatch.setattr(differential, "schedule_cycles", wrong)
    seed = next(seed for seed in range(20) if ("head_flits", 2) in drawn(seed).machine and failure(drawn(seed)) is not None)
    differential.main(seed, 1, 0)
    told = capsys.readouterr().out
    assert f"seed {seed}: AssertionError" in told
    assert "1 failures" in told
    assert "    machine=(('head_flits', 2),),\n)," in told
    assert "size=1," in told
