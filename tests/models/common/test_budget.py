"""Budgets of steps, memory and bytes: what exceeds them is undecided or refused, with the limit and how to raise it."""

import pytest

from certree.models.common.budget import MOST_MEMORY, MOST_STEPS, budgeted, hold, left, require_size, scaled, spend
from certree.models.common.errors import InputError, UndecidedError


def test_steps_add_up_within_a_budget() -> None:
    with budgeted():
        spend(MOST_STEPS - 1, "most of it")
        assert left() == 1
        with budgeted():  # inside it is the same one
            spend(1, "the rest")
            with pytest.raises(UndecidedError, match=r"^undecided: too much: takes 1 steps, and [\d,]+ of [\d,]+ are spent"):
                spend(1, "too much")
    with budgeted():
        spend(MOST_STEPS, "a fresh budget")


def test_without_a_budget_each_analysis_has_its_own() -> None:
    for _ in range(2):
        spend(MOST_STEPS, "all")
    with pytest.raises(UndecidedError):
        spend(MOST_STEPS + 1, "too much")


def test_memory_and_bytes() -> None:
    hold(MOST_MEMORY, "a table")
    with pytest.raises(UndecidedError, match="takes 4,294,967,297 bytes of memory; the limit is 4,294,967,296, which"):
        hold(MOST_MEMORY + 1, "a table")
    require_size(10, 10, "a.json")
    with pytest.raises(InputError, match=r"a\.json has more than 10 bytes, .*CERTREE_BUDGET=4 reads 4 times as many"):
        require_size(11, 10, "a.json")


def test_the_factor_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for text, limit in (("4", 40), ("1/2", 5), ("0.1", 1), ("1/1000", 1)):
        monkeypatch.setenv("CERTREE_BUDGET", text)
        assert scaled(10) == limit
    for wrong in ("", "0", "-1", "much", "1/0", "1e9999999"):
        monkeypatch.setenv("CERTREE_BUDGET", wrong)
        with pytest.raises(InputError, match=r"CERTREE_BUDGET is .*; allowed: a number above 0, such as 4 or 1/2"):
            scaled(10)
