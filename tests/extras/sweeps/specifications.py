"""Specifications of small sweeps, and what their folders hold."""

import csv
import json
from pathlib import Path

SMALL = {
    "networks": ["ring:4", "mesh:2x3"],
    "sizes": ["1KiB", "4KiB"],
    "methods": ["ring", "multitree", "hdrm"],
    "failures": [0, 1],
    "draws": 2,
    "skip": [{"network": "ring:*", "failures": "1 link"}],
}


def written(folder: Path, name: str = "spec.toml", **changes) -> Path:
    """A specification file: SMALL with other fields, None for those that are left out."""
    fields = {key: value for key, value in {**SMALL, **changes}.items() if value is not None}
    path = folder / name
    path.write_text("".join(f"{key} = {_toml(value)}\n" for key, value in fields.items()))
    return path


def _toml(value) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key} = {_toml(one)}" for key, one in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return json.dumps(value)


def table(folder: Path) -> list[dict[str, str]]:
    """The rows of table.csv."""
    with (folder / "table.csv").open() as stream:
        return list(csv.DictReader(stream))


def contents(folder: Path) -> dict[str, bytes]:
    """All files that have to be the same wherever cells ran."""
    files = (path for path in folder.rglob("*") if path.is_file() and path.name != "times.csv")
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}
