"""Reading and writing artefacts: atomic writes, canonical JSON, hashes, sizes as people type them."""

import gzip
import hashlib
import io
import json
import os
import re
import shutil
import tempfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from fractions import Fraction
from math import isinf
from pathlib import Path
from typing import Any, TypeVar

from certree.models.common.errors import InputError

_SIZE_UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "KIB": 2**10, "MIB": 2**20, "GIB": 2**30}
_TIME_UNITS = {"ms": Fraction(1, 1000), "s": Fraction(1), "m": Fraction(60), "h": Fraction(3600)}

MAX_UNZIPPED = 1 << 30  # bytes of an unzipped file
MAX_SIZE = 1 << 50  # bytes of a message: every time derived from it fits 64 bits

T = TypeVar("T")


def canonical_json(document: Any) -> bytes:
    """The one byte string of a JSON document: key order as built, no spaces, newline at the end."""
    return (json.dumps(document, separators=(",", ":"), ensure_ascii=True, allow_nan=False) + "\n").encode()


def sha256(data: bytes) -> str:
    """Hex SHA-256."""
    return hashlib.sha256(data).hexdigest()


def _gzipped(data: bytes) -> bytes:
    """The bytes as a .gz file, always the same ones."""
    return gzip.compress(data, compresslevel=6, mtime=0)  # 9, the default, takes several times as long for a few per cent


def write_atomically(path: Path, data: bytes, *, force: bool) -> None:
    """Write to a temporary file beside `path`, zipped when its name ends in .gz, then rename; InputError for an existing `path`
    unless `force`, and when the system refuses. Nothing is left behind on failure."""
    check_writable(path, force=force)
    if path.is_dir():
        raise InputError(f"{path} is a folder; name a file")
    try:
        _replace(path, _gzipped(data) if path.suffix == ".gz" else data)
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror or error}") from None


def _replace(path: Path, data: bytes) -> None:
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(temporary, 0o666 & ~umask)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


@contextmanager
def new_folder(path: Path) -> Iterator[Path]:
    """A folder to write into that becomes `path` when the body ends well, and is deleted otherwise.

    InputError for a `path` that exists or has no parent folder, and when the system refuses.
    """
    if path.exists():
        raise InputError(f"{path} exists; name a new folder")
    check_writable(path, force=False)
    try:
        temporary = Path(tempfile.mkdtemp(dir=path.parent, prefix=f".{path.name}."))
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror}") from None
    try:
        fresh = temporary / "new"
        fresh.mkdir()
        yield fresh
        fresh.rename(path)
    finally:
        shutil.rmtree(temporary)


def check_writable(path: Path, *, force: bool) -> None:
    """Raise InputError when `path` cannot become an output: it exists (without `force`) or has no parent folder."""
    if path.exists() and not force:
        raise InputError(f"{path} exists; pass --force to overwrite it")
    if not path.parent.is_dir():
        raise InputError(f"{path}: the folder {path.parent} does not exist")


def read_bytes(path: Path) -> bytes:
    """The bytes of a file, unzipped when its name ends in .gz; InputError when it cannot be read, or unzips to too much."""
    try:
        data = path.read_bytes()
        return _unzipped(data) if path.suffix == ".gz" else data
    except (OSError, EOFError, zlib.error) as error:  # OSError includes gzip.BadGzipFile
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise InputError(f"cannot read {path}: {reason}") from None


def first_bytes(path: Path, count: int) -> bytes:
    """The first bytes of a file, unzipped when its name ends in .gz, and no more of it than that; none when it cannot be read:
    whoever reads it next says what is wrong."""
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as stream:
            return stream.read(count)
    except (OSError, EOFError, zlib.error):
        return b""


def _unzipped(data: bytes) -> bytes:
    pieces, size = [], 0
    with gzip.GzipFile(fileobj=io.BytesIO(data)) as stream:
        while piece := stream.read(1 << 20):
            pieces.append(piece)
            size += len(piece)
            if size > MAX_UNZIPPED:
                raise OSError(f"it unzips to more than {MAX_UNZIPPED} bytes")
    return b"".join(pieces)


def read_json(path: Path) -> Any:
    """The JSON document in a file; InputError as in `parse_json`."""
    return parse_json(read_bytes(path), str(path))


def parse_json(data: bytes, where: str) -> Any:
    """The JSON document in `data`; InputError, with the line, when it is not strict JSON (NaN, a key given twice) or
    has a number that only infinity could stand for."""
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
        keys = [key for key, _ in pairs]
        raise ValueError(f"key {next(key for key in keys if keys.count(key) > 1)!r} is given twice")
    return document


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a number")


def _finite(text: str) -> float:
    value = float(text)
    if isinf(value):
        raise ValueError(f"{text[:60]} is too large a number")
    return value


def check_format(document: Any, expected: str, version: int, where: str) -> Mapping[str, Any]:
    """The document, once its `format` and `version` are those this program reads."""
    if not isinstance(document, Mapping) or "format" not in document:
        raise InputError(f'{where}: no "format" field; expected {expected!r} version {version}')
    if document["format"] != expected:
        raise InputError(f"{where}: format is {document['format']!r}; expected {expected!r} version {version}")
    if type(document.get("version")) is not int or document["version"] != version:
        raise InputError(f"{where}: version {document.get('version')!r} cannot be read; expected {version}")
    return document


def _quantity(text: str, units: dict[str, T], fold: Callable[[str], str]) -> tuple[int, T] | None:
    match = re.fullmatch(r"([0-9]{1,18})\s*([A-Za-z]*)", text.strip())
    if match is None or fold(match[2]) not in units:
        return None
    return int(match[1]), units[fold(match[2])]


def parse_size(text: str) -> int:
    """Bytes of `64MiB`, `375KiB`, `1MB`, `4096`; InputError unless it is a whole number of bytes from 1 to MAX_SIZE."""
    parsed = _quantity(text, _SIZE_UNITS, str.upper)
    if parsed is None or parsed[0] == 0:
        raise InputError(f"size {text!r}: expected a positive whole number with B, KB, MB, GB, KiB, MiB or GiB")
    if parsed[0] * parsed[1] > MAX_SIZE:
        raise InputError(f"size {text!r}: allowed: up to {MAX_SIZE} bytes")
    return parsed[0] * parsed[1]


def parse_duration(text: str) -> Fraction:
    """Seconds of `60s`, `500ms`, `2m`; InputError unless positive."""
    parsed = _quantity(text, _TIME_UNITS, str.lower)
    if parsed is None or parsed[0] == 0:
        raise InputError(f"time {text!r}: expected a positive whole number with ms, s, m or h")
    return parsed[0] * parsed[1]


def parse_fraction(text: str, what: str) -> Fraction:
    """The exact value of `1/4` or `0.25`; InputError unless it lies from 0 to 1."""
    match = re.fullmatch(r"[0-9]{1,12}(/[0-9]{1,12}|\.[0-9]{1,12})?", text.strip(), re.ASCII)
    try:
        value = Fraction(text.strip()) if match else None
    except ZeroDivisionError:
        value = None
    if value is None or value > 1:
        raise InputError(f"{what} {text!r}: expected a number from 0 to 1, such as 1/4 or 0.25")
    return value
