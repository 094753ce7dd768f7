"""Results in a folder, a file for each key, and what they took, in one file next to it."""

import csv
import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from certree.extras.workers.task import Outcome
from certree.models.common.errors import InputError
from certree.models.common.files import canonical_json, write_atomically

CELLS, TIMES = "cells", "times.csv"
_COLUMNS = ("key", "cpu_seconds", "wall_seconds", "host")


def is_claimed(folder: Path, name: str, asked: Mapping[str, Any], what: str) -> bool:
    """Whether a folder holds results of the same call, whose fields the file `name` in it has; InputError where it holds anything
    else. `what`: such as "a sweep"."""
    try:
        known = json.loads((folder / name).read_bytes())
    except FileNotFoundError:
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise InputError(f"{folder} exists and holds no results of {what}; name a new folder") from None
        return False
    except (OSError, ValueError) as error:
        raise InputError(f"{folder / name} cannot be read: {error}") from None
    wanted = json.loads(_written(asked))
    if known != wanted:
        other = sorted(one for one in {*known, *wanted} if known.get(one) != wanted.get(one))
        raise InputError(f"{folder} holds results of another specification (other {', '.join(other)}); name another folder")
    return True


def claim(folder: Path, name: str, asked: Mapping[str, Any], what: str) -> "Store":
    """The results in a folder, which is of this call from now on; InputError as `is_claimed`."""
    known = is_claimed(folder, name, asked, what)
    store = Store(folder)
    if not known:
        write_atomically(folder / name, _written(asked), force=True)
    return store


def _written(asked: Mapping[str, Any]) -> bytes:
    return json.dumps(asked, indent=1, sort_keys=True, default=str).encode() + b"\n"


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
