"""Protocol buffers as bytes on a wire: numbered fields of whole numbers, blocks of 4 and 8 bytes, and texts."""

from collections.abc import Iterator
from enum import IntEnum

from certree.models.common.errors import InputError

_LONGEST = 10  # bytes of a number of 64 bits
_WORD = 1 << 64


class Wire(IntEnum):
    """How a field is written."""

    NUMBER = 0
    EIGHT_BYTES = 1
    TEXT = 2
    FOUR_BYTES = 5


_SIZES = {Wire.EIGHT_BYTES: 8, Wire.FOUR_BYTES: 4}

#: (field, how it is written, value): a number for NUMBER, else bytes
Field = tuple[int, Wire, int | bytes]


def read_number(data: bytes, at: int, where: str) -> tuple[int, int]:
    """(number, position after it). InputError where the data end within it, or it has more than 64 bits."""
    number = 0
    for count in range(_LONGEST):
        if at + count >= len(data):
            raise InputError(f"{where}: byte {at}: the data end within a number")
        byte = data[at + count]
        number |= (byte & 0x7F) << (7 * count)
        if byte < 0x80:
            if number >= _WORD:
                break
            return number, at + count + 1
    raise InputError(f"{where}: byte {at}: a number of more than 64 bits")


def read_fields(data: bytes, where: str) -> Iterator[Field]:
    """The fields of a message, in their order. InputError, with the byte, for bytes that are not a message. O(bytes)."""
    at = 0
    while at < len(data):
        start = at
        key, at = read_number(data, at, where)
        number, kind = key >> 3, key & 7
        if number == 0 or kind not in Wire.__members__.values():
            raise InputError(f"{where}: byte {start}: field {number} of kind {kind}; allowed: fields from 1, kinds 0, 1, 2 and 5")
        wire = Wire(kind)
        if wire is Wire.NUMBER:
            value, at = read_number(data, at, where)
            yield number, wire, value
            continue
        size, at = (_SIZES[wire], at) if wire in _SIZES else read_number(data, at, where)
        if size > len(data) - at:
            raise InputError(f"{where}: byte {start}: field {number} has {size} bytes; {len(data) - at} are left")
        yield number, wire, data[at : at + size]
        at += size


def written_number(number: int) -> bytes:
    """A whole number; negative ones as 64 bits."""
    number %= _WORD
    out = bytearray()
    while number >= 0x80:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*out, number])


def written_field(number: int, wire: Wire, value: int | bytes) -> bytes:
    """One field."""
    key = written_number(number << 3 | wire)
    if isinstance(value, int):
        return key + written_number(value)
    return key + (written_number(len(value)) if wire is Wire.TEXT else b"") + value


def signed(number: int, bits: int = 64) -> int:
    """The number whose last `bits` bits are these, in two's complement."""
    number %= 1 << bits
    return number - (1 << bits) if number >> (bits - 1) else number
