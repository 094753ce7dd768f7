"""The format `json-uses`: the two counts of the order of uses are written, read back and compared with the rows."""

import json
from pathlib import Path

import pytest

from certree.extras.endpoints.formats.json_uses import JsonUsesFormat
from certree.hw.formats.bit_layout import Widths
from certree.hw.formats.json import JsonFormat
from certree.hw.tables.directory import export_tables, read_tables
from certree.hw.tables.lowering import lower
from certree.models.common.errors import TableFormatError
from certree.models.schedule.schedule_columns import Op
from tests.hw.made import MULTITREE, tables_of
from tests.verify.build import build

EXCHANGE = tables_of("recursive-doubling", "hypercube:2", 4096)
WIDTHS = Widths.of(EXCHANGE)
FILES = JsonUsesFormat().files(EXCHANGE, WIDTHS)


def test_counts_by_hand(tmp_path: Path) -> None:
    """The table of `MCNIUsesBack` (`specs/MCNIUses.tla`), and its counts there."""
    tables = lower(build("full:3", "all-reduce", [(0, Op.REDUCE, 0, 2, 1), (0, Op.REDUCE, 1, 1, 0), (0, Op.REDUCE, 1, 0, 2),
                                                  (0, Op.COPY, 2, 0, 1), (0, Op.COPY, 3, 1, 2)]), 64, MULTITREE)  # fmt: skip
    export_tables(tables, tmp_path / "t", "json-uses")
    assert json.loads((tmp_path / "t" / "uses.json").read_text()) == {
        "use_columns": ["node", "row", "destination", "reads", "writes"],
        "uses": [[0, 0, 2, 1, 0], [0, 1, 1, 1, 1], [1, 0, 0, 1, 0], [1, 1, 2, 1, 1]],
    }
    assert read_tables(tmp_path / "t").schedule.digest == tables.schedule.digest


def test_the_table_is_that_of_json() -> None:
    assert FILES["table.json"] == JsonFormat().files(EXCHANGE, WIDTHS)["table.json"]


def test_trees_have_no_uses() -> None:
    trees = tables_of("multitree", "torus:3x3", 4096)
    assert json.loads(JsonUsesFormat().files(trees, Widths.of(trees))["uses.json"])["uses"] == []


def test_other_files() -> None:
    with pytest.raises(TableFormatError, match=r"json-uses format has the files table\.json, uses\.json, not table\.json$"):
        JsonUsesFormat().columns({"table.json": b""}, WIDTHS, [])


def uses() -> list[list[int]]:
    lines: list[list[int]] = json.loads(FILES["uses.json"])["uses"]
    return lines


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ([], "must hold use_columns, uses"),
        ({"use_columns": [], "uses": []}, "use_columns must be"),
        ({"uses": 3}, "uses a list"),
        ({"uses": uses()[1:]}, r"uses line 0 is .*; the rows give \[0, 0, "),
        ({"uses": uses()[:-1]}, r"has \d+ uses; the rows give \d+"),
        ({"uses": [*uses(), uses()[0]]}, r"has \d+ uses; the rows give \d+"),
        ({"uses": [[*uses()[0][:3], 0, 0], *uses()[1:]]}, "uses line 0 is"),
        ({"uses": [[*uses()[0][:3], float(uses()[0][3]), 0], *uses()[1:]]}, "uses line 0 is"),
        ({"uses": [3]}, "uses line 0 is 3"),
    ],
)
def test_damage(document: object, message: str) -> None:
    right = json.loads(FILES["uses.json"])
    data = json.dumps(right | document if isinstance(document, dict) else document).encode()
    with pytest.raises(TableFormatError, match=message):
        JsonUsesFormat().check(FILES | {"uses.json": data}, EXCHANGE, WIDTHS)
    JsonUsesFormat().check(FILES, EXCHANGE, WIDTHS)
