"""Archives: every byte is determined; whatever is not written by `packed` is refused, with nothing written to disk."""

import io
import random
import stat
import struct
import zipfile

import pytest

from certree.extras.bundles.model.archive import packed, unpacked
from certree.models.common.errors import InputError

MEMBERS = {"bundle.json": b'{"a":1}\n', "tables/rows_0000.hex": b"00ff\n" * 40, "RECHECK.md": b"# How\n", "empty": b""}
DATA = packed(MEMBERS)


def refused(data: bytes, reason: str = "^f.certree") -> None:
    with pytest.raises(InputError, match=reason) as error:
        unpacked(data, "f.certree")
    assert "\n" not in str(error.value)


def test_round_trip() -> None:
    assert list(unpacked(DATA, "f").items()) == list(MEMBERS.items())
    assert packed(dict(MEMBERS)) == DATA


def test_altered_bytes_are_found() -> None:
    """A changed byte of a member also needs another CRC-32, so that no single byte passes."""
    for place in range(len(DATA)):
        refused(DATA[:place] + bytes([DATA[place] ^ (1 << place % 8)]) + DATA[place + 1 :])


def test_truncated_and_longer_files() -> None:
    for length in range(0, len(DATA), 7):
        refused(DATA[:length])
    for more in (b"\0", b"PK\x05\x06" + bytes(18), DATA):
        refused(DATA + more)
        refused(more + DATA)


def zipped(*entries: tuple[zipfile.ZipInfo | str, bytes], method: int = zipfile.ZIP_STORED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        for entry, data in entries:
            info = zipfile.ZipInfo(entry) if isinstance(entry, str) else entry
            info.compress_type, info.create_system = method, 3
            info.external_attr = info.external_attr or 0o100644 << 16
            archive.writestr(info, data)
    return buffer.getvalue()


@pytest.mark.parametrize(
    "name",
    [
        "../out",
        "/etc/passwd",
        "a/../../out",
        "..",
        ".hidden",
        "a//b",
        "C:\\out",
        "a\\b",
        "a b",
        "é",
        "x" * 101,
        "a/b/c/d/e",
        "",
    ],
)
def test_names_that_leave_the_folder_or_are_odd(name: str) -> None:
    refused(zipped((name, b"x")), "name that bundles do not use|not those of an archive|is not a bundle")


def test_links_folders_and_devices() -> None:
    for kind in (stat.S_IFLNK, stat.S_IFDIR, stat.S_IFCHR, stat.S_IFIFO):
        entry = zipfile.ZipInfo("link")
        entry.external_attr = (kind | 0o777) << 16
        refused(zipped((entry, b"/etc/passwd")), "not a plain file")


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_name_that_is_there_twice() -> None:
    refused(zipped(("a", b"1"), ("a", b"2")), "there twice")


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_bombs_and_other_compressed_members(method: int) -> None:
    refused(zipped(("a", bytes(1 << 20)), method=method), "compressed or encrypted")


def test_members_that_overlap() -> None:
    """Directory entries that all lead to one member would have the same bytes read many times."""
    archive = zipped(*((f"m{number:03}", bytes(1000)) for number in range(50)))
    start = archive.index(b"PK\x01\x02")
    directory = bytearray(archive[start:])
    step = 46 + 4
    for number in range(50):
        directory[number * step + 42 : number * step + 46] = struct.pack("<I", 0)
    refused(archive[:start] + bytes(directory))


def test_sizes_that_are_not_there() -> None:
    archive = bytearray(zipped(("a", bytes(10))))
    start = archive.index(b"PK\x01\x02")
    archive[start + 20 : start + 28] = struct.pack("<II", 1 << 31, 1 << 31)
    refused(bytes(archive), "more bytes than the file")


def test_encrypted_members() -> None:
    archive = bytearray(zipped(("a", b"x")))
    for start in (archive.index(b"PK\x03\x04") + 6, archive.index(b"PK\x01\x02") + 8):
        archive[start] |= 1
    refused(bytes(archive), "compressed or encrypted")


@pytest.mark.parametrize("change", ["time", "comment", "extra", "order of the directory"])
def test_bytes_that_no_member_needs(change: str) -> None:
    entry, other = zipfile.ZipInfo("a"), zipfile.ZipInfo("b")
    if change == "time":
        entry.date_time = (2026, 1, 1, 0, 0, 0)
    elif change == "comment":
        entry.comment = b"hidden"
    elif change == "extra":
        entry.extra = struct.pack("<HH4s", 0xCAFE, 4, b"data")
    archive = zipped((entry, b"1"), (other, b"2"))
    if change == "order of the directory":
        start, end = archive.index(b"PK\x01\x02"), archive.index(b"PK\x05\x06")
        middle = (start + end) // 2
        archive = archive[:start] + archive[middle:end] + archive[start:middle] + archive[end:]
    refused(archive, "not those of an archive of its members|not a bundle")


def test_noise() -> None:
    draw = random.Random(0)
    for _ in range(300):
        data = bytearray(DATA)
        for _ in range(draw.randrange(1, 9)):
            data[draw.randrange(len(data))] = draw.randrange(256)
        if bytes(data) != DATA:
            refused(bytes(data))
    refused(b"")
    refused(draw.randbytes(5000))
