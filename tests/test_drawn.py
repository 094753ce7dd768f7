"""What property tests are made with."""

import pytest
from hypothesis import settings
from hypothesis import strategies as st

from tests.drawn import examples, given_at_least


def test_a_property_that_seldom_applies_fails() -> None:
    @examples(200)
    def even(number: int) -> bool:
        return number % 2 == 0

    evens = st.integers(0, 1000).map(lambda half: 2 * half)
    given_at_least(200, evens)(even)()
    with pytest.raises(AssertionError, match="the property applied to 60 examples; at least 67 are expected"):
        given_at_least(300, evens)(even)()


def test_a_wrong_property_fails() -> None:
    @given_at_least(0, st.integers())
    def wrong(number: int) -> bool:
        assert number < 100
        return True

    with pytest.raises(AssertionError, match="100"):
        wrong()


def test_other_profiles_draw_in_proportion() -> None:
    assert examples(60).max_examples == 60 * settings().max_examples // 100
    assert [examples(count).max_examples for count in (5, 10, 20, 100)] == [5, 10, 10, 30]
    usual = settings()
    settings.load_profile("fuzz")
    try:
        assert examples(60).max_examples == 1200
    finally:
        settings.register_profile("usual", usual)
        settings.load_profile("usual")
