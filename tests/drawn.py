"""Property tests: how many examples they draw, random numbers to build them from, and examples that say nothing.

`make test` draws the same few examples in every run; `make fuzz` draws twenty times as many, others in every run.
"""

from collections.abc import Callable
from functools import wraps
from random import Random
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

#: for generators that choose as they build: what they make is more varied than what hypothesis would draw bit by bit
rngs = st.builds(Random, st.integers(0, 2**32))


def examples(count: int) -> settings:
    """That many examples in `make test`; other profiles draw more or fewer in proportion."""
    return settings(max_examples=count * settings().max_examples // 100)


def given_at_least(least: int, *drawn: st.SearchStrategy[Any], **named: st.SearchStrategy[Any]) -> Callable[[Any], Any]:
    """As `given`, for a property that does not apply to every example and returns whether it did: fewer than `least` are an error.

    `least` is for `make test`. `examples` goes below this decorator.
    """

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
            assert applied >= least, f"the property applied to {applied} examples; at least {least} are expected"

        return checked

    return decorate
