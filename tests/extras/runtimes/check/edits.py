"""Comparison of a verifier with an independent interpreter on random edits of a program."""

import random
from collections.abc import Callable
from typing import Any


def compare_on_edits(
    name: str,
    text: str,
    edited: Callable[[str, random.Random], str],
    faults: Callable[[str], Any],
    accepted: Callable[[str], bool],
    edits: int,
) -> None:
    """The verifier accepts an edited program exactly where the interpreter finds no fault; at least half of the edits are faults,
    but not all. `name` seeds the edits."""
    draw = random.Random(f"{name} 1")
    assert not faults(text)
    assert accepted(text)
    wrong = 0
    for _ in range(edits):
        changed = edited(text, draw)
        is_wrong = bool(faults(changed))
        wrong += is_wrong
        assert accepted(changed) != is_wrong, changed
    assert edits // 2 <= wrong < edits
