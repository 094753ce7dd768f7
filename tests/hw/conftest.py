"""Tables of a small mesh, and a directory of them."""

from pathlib import Path

import pytest

from certree.hw.tables.directory import export_tables
from certree.hw.tables.lowering import lower
from certree.models.schedule.collective import CollectiveKind
from certree.models.tables.tables import Tables
from tests.hw.trees import MULTITREE, tree_schedule

SCHEDULE = tree_schedule("mesh:2x3", CollectiveKind.ALL_REDUCE, 3, delay=2, repeats=3, seed=7)


@pytest.fixture
def tables() -> Tables:
    return lower(SCHEDULE, 5000, MULTITREE)


@pytest.fixture
def exported(tables: Tables, tmp_path: Path) -> Path:
    export_tables(tables, tmp_path / "t")
    return tmp_path / "t"
