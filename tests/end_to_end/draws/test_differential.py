"""60 draws of `tests.end_to_end.draws.differential.py`, with TLC on some of the smallest; and the draws that disagreed once."""

from itertools import islice

import pytest

from tests.end_to_end.draws.differential import MOST_MODEL_CHECKED, check_draw, draw

BLOCK, BLOCKS = 10, 6
#: seeds of draws that disagreed; each found a fault
ONCE_WRONG: tuple[int, ...] = ()
MODEL_CHECKED = 5


@pytest.mark.parametrize("block", range(BLOCKS))
def test_all_that_decide_agree(block: int) -> None:
    for seed in range(block * BLOCK, (block + 1) * BLOCK):
        assert check_draw(seed)["draws"]


@pytest.mark.parametrize("seed", ONCE_WRONG)
def test_draws_that_disagreed_once(seed: int) -> None:
    assert check_draw(seed)["draws"]


def test_tlc_agrees_on_small_draws() -> None:
    seeds = (seed for seed in range(120) if len(draw(seed).schedule.topology.endpoints) < MOST_MODEL_CHECKED)
    small = list(islice(seeds, MODEL_CHECKED))
    assert len(small) == MODEL_CHECKED
    checked = sum(check_draw(seed, tlc=True)["TLC: success"] for seed in small)
    assert checked >= MODEL_CHECKED // 2
