"""Reading and writing artefacts: atomic writes, canonical JSON, hashes."""

import csv
import gzip
import hashlib
import io
import json
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import isinf
from pathlib import Path
from typing import Any

from certree.models.common.budget import MOST_TEXT, require_size
from certree.models.common.columns import first_repeated
from certree.models.common.errors import InputError
from certree.models.common.folders.replacing import replacing_file, replacing_folder

_PIECE = 1 << 20  # bytes that are unzipped at a time


def canonical_json(document: Any) -> bytes:
    """The canonical bytes of a JSON document: key order as built, no spaces, newline at the end."""
    return (json.dumps(document, separators=(",", ":"), ensure_ascii=True, allow_nan=False) + "\n").encode()


def sha256(data: bytes) -> str:
    """Hex SHA-256."""
    return hashlib.sha256(data).hexdigest()


def _gzipped(data: bytes) -> bytes:
    """The bytes as a .gz file, always the same ones."""
    return gzip.compress(data, compresslevel=6, mtime=0)  # 9, the default, takes several times as long for a few per cent


def write_atomically(path: Path, data: bytes, *, force: bool) -> None:
    """Write to a hidden file next to `path`, zipped when its name ends in .gz, then rename; InputError for an existing `path`
    unless `force`, and when the system refuses. Nothing is left behind on failure; what a killed process has left is replaced."""
    check_writable(path, force=force)
    if path.is_dir():
        raise InputError(f"{path} is a folder; name a file")
    data = _gzipped(data) if path.suffix == ".gz" else data
    with _refusals(path), replacing_file(path) as hidden:
        check_writable(path, force=force)  # again, now that no other process writes it
        hidden.write_bytes(data)


@contextmanager
def new_folder(path: Path, *, force: bool = False) -> Iterator[Path]:
    """A folder to write into that becomes `path` when the body ends well, and is deleted otherwise. What a killed process has left
    next to `path` is removed.

    InputError for a `path` that exists (unless `force`: a folder is then replaced) or has no parent folder, and when the system
    refuses.
    """
    _check_new(path, force)
    with _refusals(path), replacing_folder(path) as fresh:
        _check_new(path, force)  # again, now that no other process writes it
        yield fresh


def _check_new(path: Path, force: bool) -> None:
    if path.exists() and not force:
        raise InputError(f"{path} exists; name a new folder")
    check_writable(path, force=force)


@contextmanager
def _refusals(path: Path) -> Iterator[None]:
    """Tell what the system refuses as InputError."""
    try:
        yield
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror or error}") from None


def require_suffix(path: Path, suffixes: Sequence[str], what: str) -> None:
    """Raise InputError unless the name of a file ends in one of the suffixes, which stand for its format."""
    if not path.name.lower().endswith(tuple(suffixes)):
        raise InputError(f"{path}: the name of {what} must end in {', '.join(suffixes)}")


def check_writable(path: Path, *, force: bool) -> None:
    """Raise InputError when `path` cannot become an output: it exists (without `force`) or has no parent folder."""
    if path.exists() and not force:
        raise InputError(f"{path} exists; pass --force to overwrite it")
    if not path.parent.is_dir():
        raise InputError(f"{path}: the folder {path.parent} does not exist")


def read_bytes(path: Path, most: int = MOST_TEXT) -> bytes:
    """The bytes of a file, unzipped when its name ends in .gz; InputError when it cannot be read, or has more than `most` bytes
    (`budget.require_size`), zipped or unzipped.

    Pipes and devices are refused: reading the first bytes would take them from the program that reads the rest.
    """
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise InputError(f"cannot read {path}: it is a pipe or a device; write what it gives to a file first")
    try:
        require_size(path.stat().st_size, most, str(path))
        return _unzipped(path, most) if path.suffix == ".gz" else path.read_bytes()
    except (OSError, EOFError, zlib.error) as error:  # OSError includes gzip.BadGzipFile
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise InputError(f"cannot read {path}: {reason}") from None


def first_bytes(path: Path, count: int) -> bytes:
    """The first bytes of a file, unzipped when its name ends in .gz; empty when it cannot be read (reading the whole file then
    reports the error)."""
    if not path.is_file():
        return b""
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as stream:
            return stream.read(count)
    except (OSError, EOFError, zlib.error):
        return b""


def _unzipped(path: Path, most: int) -> bytes:
    found = bytearray()
    with gzip.open(path) as stream:
        while piece := stream.read(_PIECE):
            found += piece
            require_size(len(found), most, str(path), "unzips to")
    return bytes(found)


def read_json(path: Path) -> Any:
    """The JSON document in a file; InputError as in `parse_json`."""
    return parse_json(read_bytes(path), str(path))


def parse_json(data: bytes, where: str) -> Any:
    """The JSON document in `data`; InputError, with the line, when it is not strict JSON (NaN, a key given twice), has a number
    that only infinity could stand for, or more bytes than a text may have."""
    require_size(len(data), MOST_TEXT, where)
    try:
        return json.loads(data, object_pairs_hook=_unique_keys, parse_constant=_no_constant, parse_float=_finite)
    except (ValueError, RecursionError) as error:  # ValueError includes JSONDecodeError and UnicodeDecodeError
        raise InputError(f"{where} is not JSON: {error}") from None


def parse_object(data: bytes, where: str) -> dict[str, Any]:
    """As `parse_json`, and InputError for anything but an object."""
    value = parse_json(data, where)
    if not isinstance(value, dict):
        raise InputError(f"{where}: expected an object")
    return value


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    document = dict(pairs)
    if len(document) != len(pairs):
        raise ValueError(f"key {first_repeated(key for key, _ in pairs)!r} is given twice")
    return document


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a number")


def _finite(text: str) -> float:
    value = float(text)
    if isinf(value):
        raise ValueError(f"{text[:60]} is too large a number")
    return value


def csv_rows(data: bytes, where: str) -> list[list[str]]:
    """The rows of a CSV, an empty list for an empty line; InputError for bytes that are not UTF-8, or not CSV."""
    try:
        return list(csv.reader(io.StringIO(data.decode("utf-8-sig"), newline=""), strict=True))
    except (UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"{where} is not CSV: {error}") from None


def check_format(document: Any, expected: str, version: int, where: str, *more: int) -> Mapping[str, Any]:
    """The document, after checking its `format` and that its `version` is `version` or one of `more`."""
    versions = " or ".join(map(str, (version, *more)))
    if not isinstance(document, Mapping) or "format" not in document:
        raise InputError(f'{where}: no "format" field; expected {expected!r} version {versions}')
    if document["format"] != expected:
        raise InputError(f"{where}: format is {document['format']!r}; expected {expected!r} version {versions}")
    if type(document.get("version")) is not int or document["version"] not in (version, *more):
        raise InputError(f"{where}: version {document.get('version')!r} cannot be read; expected {versions}")
    return document
