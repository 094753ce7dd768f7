"""Helpers for long columns against what they replace."""

import json
from random import Random

import numpy as np
import pytest

from certree.models.common import columns
from certree.models.common.columns import distinct, have_common, is_sorted, json_list


@pytest.mark.parametrize("seed", range(50))
def test_have_common(seed):
    rng = Random(seed)
    one, other = ([rng.randrange(60) for _ in range(rng.randint(0, 12))] for _ in range(2))
    expected = bool(set(one) & set(other))
    assert have_common(np.array(one, np.int64), np.array(other, np.int64)) == expected


@pytest.mark.parametrize("seed", range(20))
def test_distinct(seed):
    rng = Random(seed)
    values = [rng.randrange(-9, 9) << 40 for _ in range(rng.randint(0, 30))]
    assert distinct(np.array(values, np.int64)).tolist() == sorted(set(values))


@pytest.mark.parametrize(
    "values", [[], [0], [-1], [-1, 0, 12, 9, 10, -1], [5] * 40, [2147483647, -2147483648], list(range(-3, 1200))]
)
@pytest.mark.parametrize("block", [1, 7, 1 << 18])
def test_json_list(values, block, monkeypatch):
    monkeypatch.setattr(columns, "_BLOCK", block)
    text = b"".join(json_list(np.array(values, np.int32)))
    assert text == json.dumps(values, separators=(",", ":")).encode()


@pytest.mark.parametrize("seed", range(50))
def test_is_sorted(seed):
    rng = Random(seed)
    rows = [(rng.randrange(3), rng.randrange(2), rng.randrange(2)) for _ in range(rng.randint(1, 5))]
    assert is_sorted([np.array(key) for key in zip(*rows, strict=True)]) == (rows == sorted(rows))
    assert is_sorted([np.array(key) for key in zip(*sorted(rows), strict=True)])
