"""docs/benchmarks/jax.md: results are exact, and what does not depend on the computer is as it is written there."""

import importlib.util
import re
from pathlib import Path

import pytest

from tools.tables.jax_devices import PARTS
from tools.tables.jax_methods import MOST_BYTES

pytestmark = pytest.mark.skipif(importlib.util.find_spec("jax") is None, reason="JAX is not installed (certree[jax])")
PAGE = Path(__file__).parents[4] / "docs" / "benchmarks" / "jax.md"
_MEASURED = re.compile(r" [0-9.]+ (?:m?s|MB) \|")


def counts(lines: list[str]) -> list[str]:
    """Lines of a table without the cells that are times, and sizes of texts that JAX writes."""
    return [_MEASURED.sub("", line) for line in lines if line.startswith("|")]


@pytest.mark.parametrize("part", PARTS)
def test_the_page_is_what_is_measured(part: str) -> None:
    """Executions that are wrong, and modules that are too large, end the program that makes the lines."""
    tables = [counts(block.splitlines()) for block in PAGE.read_text().split("\n\n") if block.startswith("|")]
    found = counts(list(PARTS[part]()))
    assert len(found) > 10
    assert found in tables


def test_every_module_is_small_enough() -> None:
    sizes = [float(one) for one in re.findall(r"\| ([0-9.]+) MB \|", PAGE.read_text())]
    assert len(sizes) > 60
    assert max(sizes) * 1e6 <= MOST_BYTES
