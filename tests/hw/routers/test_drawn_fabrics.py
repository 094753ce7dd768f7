"""What `auto` makes for dragonflies, HyperX and random networks takes its closed form in routers, with no row late."""

import random

import pytest

from tests.bench.small.hundreds import COLLECTIVES, cell

NETWORKS = (
    "dragonfly:3x2x1", "dragonfly:5x4x1", "dragonfly:3x2x2@2", "hyperx:3x3", "hyperx:3x3@2", "hyperx:2x4@2", "jellyfish:8x3x1",
    "jellyfish:10x3x2", "jellyfish:12x4x1",
)  # fmt: skip


def is_exact(network: str, collective: str, size: int) -> None:
    found = cell(network, collective, size, True)
    assert "wrong" not in found, found


def test_a_dragonfly() -> None:
    is_exact("dragonfly:3x2x1", "broadcast", 1 << 10)


@pytest.mark.parametrize("seed", range(20))
def test_twenty_drawn_cells(seed: int) -> None:
    draw = random.Random(f"fabrics {seed}")
    is_exact(draw.choice(NETWORKS), draw.choice(COLLECTIVES), 1 << draw.randrange(10, 19))
