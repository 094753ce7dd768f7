"""Reading and writing artefacts: files opened once, atomic writes, canonical JSON, hashes."""

import csv
import gzip
import hashlib
import io
import json
import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cached_property
from math import isinf
from pathlib import Path
from typing import Any, BinaryIO

from certree.models.common.budget import MOST_TEXT, require_size
from certree.models.common.columns import first_repeated
from certree.models.common.errors import InputError
from certree.models.common.folders.replacing import replacing_file, replacing_folder

_PIECE = 1 << 20  # bytes that are unzipped at a time
_START = 1 << 16  # bytes that show the kind of a file
_FORMAT = re.compile(rb'\s*\{\s*"format"\s*:\s*"([a-z-]+)"')
_OTHER_KEY = re.compile(rb'\s*\{\s*"')
_UNREADABLE = (OSError, EOFError, zlib.error)  # OSError includes gzip.BadGzipFile


def canonical_json(document: Any) -> bytes:
    """The canonical bytes of a JSON document: key order as built, no spaces, newline at the end."""
    return (json.dumps(document, separators=(",", ":"), ensure_ascii=True, allow_nan=False) + "\n").encode()


def sha256(data: bytes) -> str:
    """The SHA-256 of data in hexadecimal digits."""
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
    """Raise InputError for what the system refuses."""
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


class Opened:
    """A path whose file is opened once: its beginning shows the kind, and what reads the whole of it goes on with the same file.

    Pipes and devices are refused: reading the first bytes would take them from the program that reads the rest.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._stream: BinaryIO | gzip.GzipFile | None = None
        self._parsed: list[Any] = []  # the document, if it was read for its format, until it is taken

    def __str__(self) -> str:
        return str(self.path)

    def __del__(self) -> None:
        if self._stream is not None:
            self._stream.close()

    @cached_property
    def is_folder(self) -> bool:
        """Whether the path is a folder."""
        return self.path.is_dir()

    @cached_property
    def start(self) -> bytes:
        """The first bytes of a file, unzipped when its name ends in .gz; none where it cannot be read (`data` then says why)."""
        if not self.path.is_file():
            return b""
        try:
            stream = self._open()
            start = stream.read(_START)
        except _UNREADABLE:
            return b""
        self._stream = stream
        return start

    @cached_property
    def format(self) -> str | None:
        """The `format` that a JSON document states, at its beginning or, where it begins with another key, anywhere; None for
        anything else."""
        if (found := _FORMAT.match(self.start)) is not None:
            return found[1].decode()
        if _OTHER_KEY.match(self.start) is None:
            return None
        with suppress(InputError):
            document = self.document()
            self._parsed.append(document)
            stated = document.get("format")
            return stated if isinstance(stated, str) else None
        return None

    def document(self) -> Any:
        """The JSON document in the file; InputError as in `parse_json`."""
        return self._parsed.pop() if self._parsed else parse_json(self.data(), str(self))

    def data(self, most: int = MOST_TEXT) -> bytes:
        """The bytes of the file, unzipped when its name ends in .gz; InputError when it cannot be read, or has more than `most`
        bytes (`budget.require_size`), zipped or unzipped."""
        if self.path.exists() and not (self.path.is_file() or self.path.is_dir()):
            raise InputError(f"cannot read {self}: it is a pipe or a device; write what it gives to a file first")
        stream, self._stream = self._stream, None
        try:
            require_size(self.path.stat().st_size, most, str(self))
            with stream or self._open() as file:
                file.seek(0)
                return file.read() if self.path.suffix != ".gz" else self._unzipped(file, most)
        except _UNREADABLE as error:
            reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
            raise InputError(f"cannot read {self}: {reason}") from None

    def _open(self) -> BinaryIO | gzip.GzipFile:
        return gzip.open(self.path) if self.path.suffix == ".gz" else self.path.open("rb")

    def _unzipped(self, file: BinaryIO | gzip.GzipFile, most: int) -> bytes:
        found = bytearray()
        while piece := file.read(_PIECE):
            found += piece
            require_size(len(found), most, str(self), "unzips to")
        return bytes(found)


def as_opened(file: str | Path | Opened) -> Opened:
    """The file at a path, or one that is opened already."""
    return file if isinstance(file, Opened) else Opened(Path(file))


def read_bytes(file: Path | Opened, most: int = MOST_TEXT) -> bytes:
    """The bytes of a file, as `Opened.data` reads them."""
    return as_opened(file).data(most)


def read_json(file: Path | Opened) -> Any:
    """The JSON document in a file, as `Opened.document` reads it."""
    return as_opened(file).document()


def parse_json(data: bytes, where: str) -> Any:
    """The JSON document in `data`; InputError, with the line, when it is not strict JSON (NaN, a key given twice), has a number
    that only infinity could stand for, or more bytes than a text may have."""
    require_size(len(data), MOST_TEXT, where)
    try:
        return json.loads(data, object_pairs_hook=_unique_keys, parse_constant=_no_constant, parse_float=_finite)
    except (ValueError, RecursionError) as error:  # ValueError includes JSONDecodeError and UnicodeDecodeError
        raise InputError(f"{where} is not JSON: {error}") from None


def parse_object(data: bytes, where: str) -> dict[str, Any]:
    """A JSON object, read as by `parse_json`; InputError for anything else."""
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
