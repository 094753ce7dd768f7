"""Faults in files: of bytes, and of what the bytes say: numbers, entries, lists, lines, fields."""

import gzip
import io
import json
import re
import zipfile
from collections.abc import Callable
from contextlib import suppress
from random import Random
from typing import Any

import numpy as np

from certree.extras.bundles.model.archive import packed, unpacked
from certree.extras.runtimes.model.protobuf import Wire, read_fields, read_number, written_field, written_number
from certree.models.common.files import canonical_json, sha256

#: texts that replace numbers and words
ODD = (b"-1", b"0", b"1e999", b"NaN", b"9" * 30, b"null", b"[]", b"{}", b'""', b"true", b"1.5", b"\xff\xfe", b"\x00", b"4294967296")
#: numbers that replace numbers
NUMBERS = (0, -1, 1, 2, 3, 63, 64, 255, 4095, 1 << 16, 10**6, (1 << 24) - 1, 1 << 24, 10**9, 1 << 30, (1 << 31) - 1, 1 << 31)
NUMBERS += ((1 << 40), (1 << 50), (1 << 53) + 1, (1 << 60), (1 << 62) - 1, 1 << 63, 10**30, -(1 << 63))
TEXTS = ("", "x", "0", "1/0", "9" * 400, "1e999999999", "../../etc/passwd", "\n", "<script>", "ring:1000000", "é\u2028", "null")
_NUMBER = re.compile(rb"-?[0-9]+")
#: path from a document to one of its values
_Path = tuple[Any, ...]


def damaged(rng: Random, data: bytes, suffix: str) -> bytes:
    """The file with one to four faults; three times of four of what it says, where there is a way to change that."""
    change = _change_of(suffix, data)
    if change is None or rng.random() < 0.25:
        return _damaged_bytes(rng, data)
    for _ in range(rng.choice((1, 1, 1, 2, 3, 4))):
        data = change(rng, data)
    return data


def _change_of(suffix: str, data: bytes) -> Callable[[Random, bytes], bytes] | None:
    if suffix in (".certree", ".npz", ".et"):
        return {".certree": _in_bundle, ".npz": _in_columns, ".et": _in_messages}[suffix]
    if suffix.endswith(".gz"):
        return _in_zipped
    if data.lstrip()[:1] in (b"{", b"[") and b"\n{" not in data:
        return _in_document
    return _in_lines


def _damaged_bytes(rng: Random, data: bytes) -> bytes:
    for _ in range(rng.randint(1, 4)):
        at, end = sorted((rng.randint(0, len(data)), rng.randint(0, len(data))))
        near = min(len(data), at + rng.randint(1, 8))
        options = (
            data[:at],
            data[:at] + data[near:],
            data[:at] + bytes([rng.randrange(256)]) + data[near:],
            data[:near] + data[at:near] + data[near:],
            data[:at] + data[end:] + data[at:end],
            *(_with_odd_token(rng, data, at) for _ in range(3)),
        )
        data = rng.choice(options)
    return data


def _with_odd_token(rng: Random, data: bytes, at: int) -> bytes:
    """The number or word at some place replaced."""
    letters = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_."
    end = at
    while end < len(data) and data[end] in letters:
        end += 1
    while at > 0 and data[at - 1] in letters:
        at -= 1
    return data[:at] + rng.choice(ODD) + data[end:]


def _near_or_far(rng: Random, value: int) -> int:
    return rng.choice((value + 1, value - 1, -value, 2 * value, rng.choice(NUMBERS), rng.choice(NUMBERS)))


def _in_document(rng: Random, data: bytes) -> bytes:
    """JSON with one value changed."""
    try:
        document = json.loads(data)
    except ValueError:
        return _damaged_bytes(rng, data)
    paths = list(_paths(document, ()))
    if not paths:
        return data
    named = [path for path in paths if len(path) <= 3]  # the columns of a schedule are most of it
    path = rng.choice(named if named and rng.random() < 0.5 else paths)
    holder = document
    for key in path[:-1]:
        holder = holder[key]
    _change(rng, holder, path[-1])
    return json.dumps(document).encode()


def _paths(value: Any, path: _Path) -> Any:
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in entries:
        yield (*path, key)
        yield from _paths(inner, (*path, key))


def _change(rng: Random, holder: Any, key: Any) -> None:
    """Change one entry of a list or object: its value, or whether it is there."""
    value, others = holder[key], list(holder) if isinstance(holder, dict) else range(len(holder))
    what = rng.randrange(8)
    if what == 0:
        del holder[key]
    elif what == 1:
        other = rng.choice(list(others))
        holder[key], holder[other] = holder[other], holder[key]
    elif what == 2 and isinstance(holder, list):
        holder.insert(rng.randint(0, len(holder)), value)
    elif what == 3:
        holder[key] = rng.choice((None, [], {}, True, 1.5, value, [value], rng.choice(TEXTS), rng.choice(NUMBERS)))
    elif isinstance(value, list) and value:
        _change_list(rng, value)
    elif isinstance(value, bool) or value is None:
        holder[key] = rng.choice((True, False, 1, 2, [0]))
    elif isinstance(value, int):
        holder[key] = _near_or_far(rng, value)
    elif isinstance(value, str):
        number = re.fullmatch(r"[0-9]+(/[0-9]+)?", value)
        holder[key] = f"{rng.choice(NUMBERS)}/{rng.choice(NUMBERS)}" if number and rng.random() < 0.5 else rng.choice(TEXTS)


def _change_list(rng: Random, entries: list[Any]) -> None:
    """Repeated parts, as of a route that passes links twice, other lengths, other orders, one value everywhere."""
    at, end = sorted((rng.randint(0, len(entries)), rng.randint(0, len(entries))))
    what = rng.randrange(6)
    if what == 0:
        entries[at:at] = entries[at:end]
    elif what == 1:
        del entries[at:end]
    elif what == 2:
        rng.shuffle(entries)
    elif what == 3:
        entries[:] = [rng.choice(entries)] * len(entries)
    elif what == 4:
        entries.extend(rng.choice(entries) for _ in range(rng.choice((1, 2, len(entries)))))
    else:
        place = rng.randrange(len(entries))
        if isinstance(entries[place], int):
            entries[place] = _near_or_far(rng, int(entries[place]))


def _in_lines(rng: Random, data: bytes) -> bytes:
    """A text with one number or line changed; of JSON lines one of the documents."""
    lines = data.split(b"\n")
    at, other = rng.randrange(len(lines)), rng.randrange(len(lines))
    what = rng.randrange(7)
    if what == 0:
        del lines[at]
    elif what == 1:
        lines.insert(other, lines[at])
    elif what == 2:
        lines[at], lines[other] = lines[other], lines[at]
    elif lines[at].startswith(b"{"):
        lines[at] = _in_document(rng, lines[at])
    else:
        found = list(_NUMBER.finditer(data))
        if not found:
            return _with_odd_token(rng, data, rng.randint(0, len(data)))
        one = rng.choice(found)
        return data[: one.start()] + str(_near_or_far(rng, int(one[0]))).encode() + data[one.end() :]
    return b"\n".join(lines)


def _in_zipped(rng: Random, data: bytes) -> bytes:
    try:
        inner = gzip.decompress(data)
    except (OSError, EOFError):
        return _damaged_bytes(rng, data)
    return gzip.compress(_in_document(rng, inner), mtime=0)


def _in_columns(rng: Random, data: bytes) -> bytes:
    """An .npz with one column, or its head, changed."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = {name: archive.read(name) for name in archive.namelist()}
    except (zipfile.BadZipFile, OSError):
        return _damaged_bytes(rng, data)
    name = rng.choice(sorted(members))
    if name.endswith(".json"):
        members[name] = _in_document(rng, members[name])
    else:
        column = np.load(io.BytesIO(members[name]), allow_pickle=False)
        values = column.tolist()
        if values and isinstance(values, list):
            _change_list(rng, values)
        stored = io.BytesIO()
        np.save(
            stored, np.array([max(-(1 << 63), min((1 << 63) - 1, one)) for one in values]).astype(rng.choice(("<i4", "<i4", "<i8")))
        )
        members[name] = stored.getvalue()
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for member, content in members.items():
            archive.writestr(zipfile.ZipInfo(member), content, zipfile.ZIP_DEFLATED)
    return out.getvalue()


def _in_bundle(rng: Random, data: bytes) -> bytes:
    """A bundle with one member changed, and the hashes in its manifest those of the members."""
    try:
        members = unpacked(data, "bundle")
    except Exception:  # damaged already
        return _damaged_bytes(rng, data)
    first, *others = members
    if not others:
        return _damaged_bytes(rng, data)
    name = rng.choice([first, *others])
    members[name] = (_in_document if name.endswith(".json") else _in_lines)(rng, members[name])
    if name != first:
        with suppress(ValueError, KeyError, TypeError):  # the manifest is damaged already
            manifest = json.loads(members[first])
            manifest["members"][name] = {"bytes": len(members[name]), "sha256": sha256(members[name])}
            members[first] = canonical_json(manifest)
    return packed(members)


def _in_messages(rng: Random, data: bytes) -> bytes:
    """A Chakra trace with one message, or one field of a message, changed."""
    try:
        messages, at = [], 0
        while at < len(data):
            size, at = read_number(data, at, "trace")
            messages.append(data[at : at + size])
            at += size
        number = rng.randrange(len(messages))
        what = rng.randrange(5)
        if what == 0:
            del messages[number]
        elif what == 1:
            messages.insert(rng.randint(0, len(messages)), messages[number])
        else:
            messages[number] = _in_fields(rng, messages[number])
    except Exception:  # damaged already
        return _damaged_bytes(rng, data)
    return b"".join(written_number(len(message)) + message for message in messages)


def _in_fields(rng: Random, message: bytes) -> bytes:
    fields = list(read_fields(message, "message"))
    if not fields:
        return message
    at = rng.randrange(len(fields))
    number, wire, value = fields[at]
    if isinstance(value, int):
        fields[at] = (number, wire, _near_or_far(rng, value) % (1 << 64))
    elif rng.random() < 0.5 and wire is Wire.TEXT and len(value) > 2:
        fields[at] = (number, wire, _in_fields(rng, value) if number == 10 else _damaged_bytes(rng, value))
    else:
        fields.insert(rng.randint(0, len(fields)), fields.pop(at))
    return b"".join(written_field(*field) for field in fields)
