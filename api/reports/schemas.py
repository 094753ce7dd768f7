"""The JSON schemas of all files, by the word behind `certree-` in their format."""

import json
from functools import cache
from importlib import resources
from typing import Any

from certree.hw.formats import load_formats


@cache
def schemas() -> dict[str, dict[str, Any]]:
    """The schema documents: `topology`, `schedule`, `symmetric-schedule`, `certificate`, `machine`, `tables`.

    They are the files `schemas/*.schema.json` of `models` and `hw`; where those leave a name open, with the registered names.

    >>> schemas()["tables"]["properties"]["encoding"]["enum"]
    ['json', 'readmemh']
    """
    folders = [resources.files(f"certree.{part}") / "schemas" for part in ("models", "hw")]
    found = {
        file.name.removesuffix(".schema.json"): json.loads(file.read_text()) for folder in folders for file in folder.iterdir()
    }
    found["tables"]["properties"]["encoding"]["enum"] = list(load_formats())
    return found
