"""Property tests: how many examples they draw, random numbers to build them from, and examples that say nothing.

Counts are those of a thorough run. `make test` draws three in ten of them, the same in every run; `make fuzz` draws twenty times as
many as stated, others in every run.
"""

from collections.abc import Callable
from functools import wraps
from random import Random
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

#: for generators that choose as they build: what they make is more varied than what hypothesis would draw bit by bit
rngs = st.builds(Random, st.integers(0, 2**32))


FEWEST = 10  # examples, where N are stated


def examples(count: int) -> settings:
    """Settings for that many examples, in proportion to the profile, whose `max_examples` are per cent; not below FEWEST."""
    return settings(max_examples=max(min(count, FEWEST), count * settings().max_examples // 100))


def given_at_least(least: int, *drawn: st.SearchStrategy[Any], **named: st.SearchStrategy[Any]) -> Callable[[Any], Any]:
    """A `given` for a property that does not apply to every example and returns whether it did: fewer than `least` are an error.

    `least` is for the stated number of `examples`, which go below this decorator. Where fewer are drawn it is less in proportion
    and by a quarter; it is never more.
    """
    needed = min(least, least * settings().max_examples // 100 * 3 // 4)

    def decorate(function: Callable[..., bool]) -> Callable[..., None]:
        applied = 0

        @wraps(function)
        def counted(*args: Any, **kwargs: Any) -> None:
            nonlocal applied
            applied += function(*args, **kwargs)

        test = given(*drawn, **named)(counted)

        @wraps(test)
        def checked(*args: Any, **kwargs: Any) -> None:
            nonlocal applied
            applied = 0
            test(*args, **kwargs)
            assert applied >= needed, f"the property applied to {applied} examples; at least {needed} are expected"

        return checked

    return decorate
