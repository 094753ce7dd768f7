"""Headers of images (`docs/reference/tables.md`, "Banks"): epoch, numbers of lines, and CRC-32 of the image of each node."""

import zlib
from collections.abc import Mapping, Sequence

import numpy as np

from certree.hw.formats.bit_layout import Field
from certree.models.common.errors import TableFormatError
from certree.models.tables.table_columns import EPOCH_BITS

#: the fields of a header, most significant first
HEADER = [
    Field("epoch", EPOCH_BITS, nullable=False),
    Field("rows", 32, nullable=False),
    Field("arrivals", 32, nullable=False),
    Field("routes", 32, nullable=False),
    Field("crc", 32, nullable=False),
]
HEADER_BITS = sum(field.bits for field in HEADER)
_DIGITS = HEADER_BITS // 4


def bank_file(node: int) -> str:
    """The header of a node's image: `bank_0012.hex`."""
    return f"bank_{node:04d}.hex"


def header(epoch: int, image: Sequence[bytes]) -> bytes:
    """The header of an image, one line of hex digits; `image`: the lines of its rows, arrivals and routes, as files have them."""
    numbers = (epoch, *(part.count(b"\n") for part in image))
    values = (*numbers, _crc(numbers, image))
    return "".join(f"{value:0{field.bits // 4}x}" for value, field in zip(values, HEADER, strict=True)).encode() + b"\n"


def checked_epochs(files: Mapping[str, bytes], images: Mapping[int, Sequence[bytes]]) -> list[int]:
    """The epoch of each image; `images`: by node. TableFormatError names the first header and field that its image contradicts."""
    epochs = []
    for node, image in images.items():
        name = bank_file(node)
        line = files[name]
        if len(line) != _DIGITS + 1 or not line.endswith(b"\n") or line[:-1].translate(None, b"0123456789abcdef"):
            raise TableFormatError(f"{name}: a header is one line of {_DIGITS} hex digits")
        stated, low = {}, 0
        for field in HEADER:
            stated[field.name] = int(line[low : low + field.bits // 4], 16)
            low += field.bits // 4
        epochs.append(stated["epoch"])
        numbers = (stated["epoch"], *(part.count(b"\n") for part in image))
        due = dict(zip(stated, (*numbers, _crc(numbers, image)), strict=True))
        for field in HEADER:
            if stated[field.name] != due[field.name]:
                form = f"0{field.bits // 4}x" if field.name == "crc" else "d"
                told = f"{stated[field.name]:{form}}; the image of node {node} has {due[field.name]:{form}}"
                raise TableFormatError(f"{name}: {field.name} of node {node} is {told}")
    return epochs


def _crc(numbers: Sequence[int], image: Sequence[bytes]) -> int:
    """CRC-32 of IEEE 802.3 of the header without it, and of the lines as whole bytes, zeros on top of each."""
    crc = zlib.crc32(b"".join(value.to_bytes(field.bits // 8, "big") for value, field in zip(numbers, HEADER, strict=False)))
    for lines in image:
        crc = zlib.crc32(_bytes_of(lines), crc)
    return crc


def _bytes_of(lines: bytes) -> bytes:
    """The numbers in lines of hex digits of one length, each as whole bytes."""
    width = lines.find(b"\n") + 1
    if not width:
        return b""
    text = np.frombuffer(lines, np.uint8).reshape(-1, width)[:, :-1]
    if text.shape[1] % 2:
        text = np.pad(text, ((0, 0), (1, 0)), constant_values=ord("0"))
    return bytes.fromhex(text.tobytes().decode())
