"""Helpers for long columns against what they replace."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from certree.models.common import columns
from certree.models.common.columns import distinct, have_common, is_sorted, json_list


@given(*[st.lists(st.integers(0, 59), max_size=12)] * 2)
def test_have_common(one, other):
    expected = bool(set(one) & set(other))
    assert have_common(np.array(one, np.int64), np.array(other, np.int64)) == expected


@given(st.lists(st.integers(-9, 8).map(lambda value: value << 40), max_size=30))
def test_distinct(values):
    assert distinct(np.array(values, np.int64)).tolist() == sorted(set(values))


@pytest.mark.parametrize(
    "values", [[], [0], [-1], [-1, 0, 12, 9, 10, -1], [5] * 40, [2147483647, -2147483648], list(range(-3, 1200))]
)
@pytest.mark.parametrize("block", [1, 7, 1 << 18])
def test_json_list(values, block, monkeypatch):
    monkeypatch.setattr(columns, "_BLOCK", block)
    text = b"".join(json_list(np.array(values, np.int32)))
    assert text == json.dumps(values, separators=(",", ":")).encode()


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 1), st.integers(0, 1)), min_size=1, max_size=5))
def test_is_sorted(rows):
    assert is_sorted([np.array(key) for key in zip(*rows, strict=True)]) == (rows == sorted(rows))
    assert is_sorted([np.array(key) for key in zip(*sorted(rows), strict=True)])


def test_first_repeated() -> None:
    assert columns.first_repeated([3, 1, 2, 1, 3]) == 1
    assert columns.first_repeated("abc") is None


def test_times_with_large_products_become_ranks() -> None:
    """In the same order, so that a product with them stays within 64 bits."""
    one, other = np.array([5, 1 << 59], np.int64), np.array([1 << 59, 7], np.int64)
    assert all(given is kept for given, kept in zip((one, other), columns.within_words(4, one, other), strict=True))
    ranks = columns.within_words(1 << 20, one, other)
    assert [column.tolist() for column in ranks] == [[0, 2], [2, 1]]
