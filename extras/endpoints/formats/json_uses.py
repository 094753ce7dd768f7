"""The format `json-uses`: `table.json`, and `uses.json` with the order of uses of cells (sentence A14 of the tables)."""

import json
from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from certree.extras.endpoints.run.tables.earlier_uses import earlier_uses
from certree.hw.formats import FORMATS, Columns
from certree.hw.formats.bit_layout import Widths
from certree.hw.formats.json import FILE as READABLE_FILE
from certree.hw.formats.json import JsonFormat
from certree.models.common.errors import TableFormatError, short
from certree.models.common.files import parse_json
from certree.models.routers.lanes import messages_of_tables
from certree.models.tables.tables import Tables

FILE = "uses.json"
COLUMNS = ("node", "row", "destination", "reads", "writes")


@FORMATS.register("json-uses")
class JsonUsesFormat:
    """table.json, and uses.json: for each message that follows other uses of its cell, how many rows and messages come first."""

    has_trace: ClassVar[bool] = False

    def files(self, tables: Tables, widths: Widths) -> dict[str, bytes]:
        """`table.json` as format `json` writes it, and `uses.json`. O(rows log rows)."""
        head, lines = json.dumps(COLUMNS), ",\n".join(json.dumps(line) for line in _lines(tables))
        uses = f'{{"use_columns": {head},\n"uses": [\n{lines}\n]}}\n'
        return JsonFormat().files(tables, widths) | {FILE: uses.encode()}

    def columns(self, files: Mapping[str, bytes], widths: Widths, endpoints: list[int]) -> Columns:
        """The columns in `table.json`; TableFormatError where a file is missing or left over."""
        if set(files) != {READABLE_FILE, FILE}:
            raise TableFormatError(f"the json-uses format has the files {READABLE_FILE}, {FILE}, not {', '.join(sorted(files))}")
        return JsonFormat().columns({READABLE_FILE: files[READABLE_FILE]}, widths, endpoints)

    def check(self, files: Mapping[str, bytes], tables: Tables, widths: Widths) -> None:
        """Raise TableFormatError where `uses.json` does not state the counts that follow from the rows, message by message."""
        document = parse_json(files[FILE], FILE)
        if not isinstance(document, dict) or set(document) != {"use_columns", "uses"}:
            raise TableFormatError(f"{FILE} must hold use_columns, uses")
        stated = document["uses"]
        if document["use_columns"] != list(COLUMNS) or not isinstance(stated, list):
            raise TableFormatError(f"{FILE}: use_columns must be {list(COLUMNS)}, and uses a list")
        expected = _lines(tables)
        for number, (found, right) in enumerate(zip(stated, expected, strict=False)):
            if found != right or any(type(cell) is not int for cell in found):
                raise TableFormatError(f"{FILE}: uses line {number} is {short(found)}; the rows give {right}")
        if len(stated) != len(expected):
            raise TableFormatError(f"{FILE} has {len(stated)} uses; the rows give {len(expected)}")


def _lines(tables: Tables) -> list[list[int]]:
    """A line of `COLUMNS` for each message that has an earlier use, in the order of rows; rows of a node count from 0."""
    reads, writes = earlier_uses(tables)
    _, sent = messages_of_tables(tables)
    if not len(reads):
        return []
    node = tables.node[sent["row"]]
    row = sent["row"] - np.searchsorted(tables.node, node)
    columns = np.stack([node, row, sent["dst"], reads, writes], axis=1).astype(np.int64)
    lines: list[list[int]] = columns[(reads > 0) | (writes > 0)].tolist()
    return lines
