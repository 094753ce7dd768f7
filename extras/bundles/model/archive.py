"""Zip archives whose every byte is determined by the names and contents of their members.

Members are stored, not compressed: the same members give the same bytes with any library, and nothing unpacks to more than the
file.
"""

import io
import re
import struct
import zipfile
from collections.abc import Iterable, Mapping

from certree.models.common.errors import InputError

MAX_MEMBERS = 1 << 14
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}(/[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}){0,3}")
_MODE = 0o100644 << 16  # a regular file
#: what zipfile raises for a damaged or forged archive; RuntimeError includes NotImplementedError
_ERRORS = (zipfile.BadZipFile, ValueError, OSError, EOFError, RuntimeError, struct.error, OverflowError, MemoryError)


def packed(members: Mapping[str, bytes]) -> bytes:
    """The zip of these members, in this order, with fixed times and modes. O(bytes)."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for name, data in members.items():
            entry = zipfile.ZipInfo(name)  # its time is 1980-01-01 00:00
            entry.create_system, entry.external_attr = 3, _MODE
            archive.writestr(entry, data)
    return buffer.getvalue()


def unpacked(data: bytes, where: str) -> dict[str, bytes]:
    """The members of a zip made by `packed`, in order; nothing is written to disk.

    Raises InputError for anything else: truncated or altered archives, names that leave the folder or appear twice, links,
    compressed, encrypted or overlapping members, bytes that belong to no member. O(bytes) time and memory.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            entries = archive.infolist()
            if (fault := _fault(entries, len(data))) is not None:
                raise InputError(f"{where}: {fault}")
            members = {entry.filename: archive.read(entry) for entry in entries}
    except _ERRORS as error:
        raise InputError(f"{where} is not a bundle, or is damaged: {' '.join(str(error).split())}") from None
    if packed(members) != data:
        raise InputError(f"{where} is not a bundle, or is damaged: its bytes are not those of an archive of its members")
    return members


def _fault(entries: Iterable[zipfile.ZipInfo], size: int) -> str | None:
    """Why the members are not read, if they are not."""
    seen: set[str] = set()
    for entry in entries:
        name = repr(entry.filename)[:120]
        if not _NAME.fullmatch(entry.filename):
            return f"member {name} has a name that bundles do not use"
        if entry.filename in seen:
            return f"member {name} is there twice"
        if entry.external_attr != _MODE:
            return f"member {name} is not a plain file"
        if entry.compress_type != zipfile.ZIP_STORED or entry.flag_bits or entry.file_size != entry.compress_size:
            return f"member {name} is compressed or encrypted; those of bundles are not"
        seen.add(entry.filename)
        size -= entry.file_size
    if size < 0:
        return "its members have more bytes than the file"
    return None if len(seen) <= MAX_MEMBERS else f"{len(seen)} members; at most {MAX_MEMBERS} are read"
