"""Results in a folder, a file for each key, and what they took, in one file next to it."""

import csv
import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from certree.api.workers.task import Outcome
from certree.models.common.errors import InputError
from certree.models.common.files import canonical_json, write_atomically

CELLS, TIMES = "cells", "times.csv"
_COLUMNS = ("key", "cpu_seconds", "wall_seconds", "host")


class Store:
    """`cells` and `times.csv` in a folder, which are made; InputError when the system refuses.

    Files of results hold nothing of the computer or the time: they are the same bytes wherever a task ran. One program at a time
    writes to a folder.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        try:
            (folder / CELLS).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"cannot write {folder}: {error.strerror}") from None

    def _path(self, key: str) -> Path:
        return self.folder / CELLS / f"{key}.json"

    def load(self, key: str) -> dict[str, Any] | None:
        """The document kept under a key; None where there is no readable one."""
        try:
            document = json.loads(self._path(key).read_bytes())
        except (OSError, ValueError):
            return None
        return document if isinstance(document, dict) else None

    def keep(self, key: str, document: Mapping[str, Any], outcome: Outcome) -> None:
        """Write a document atomically, and a line on what it took."""
        write_atomically(self._path(key), canonical_json(document), force=True)
        line = io.StringIO()
        if not (self.folder / TIMES).exists():
            csv.writer(line, lineterminator="\n").writerow(_COLUMNS)
        used = [key, *(getattr(outcome, name) for name in _COLUMNS[1:])]
        csv.writer(line, lineterminator="\n").writerow(used)
        with (self.folder / TIMES).open("a", encoding="utf-8") as stream:
            stream.write(line.getvalue())

    def cpu_seconds(self) -> dict[str, float]:
        """The CPU seconds of each key; of several lines on one key the last counts, and one that was cut short does not."""
        found: dict[str, float] = {}
        try:
            text = (self.folder / TIMES).read_text(encoding="utf-8")
        except OSError:
            return found
        for row in csv.DictReader(io.StringIO(text)):
            try:
                found[row["key"]] = float(row["cpu_seconds"])
            except (KeyError, TypeError, ValueError):
                continue
        return found
