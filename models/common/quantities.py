"""Exact parsing of sizes, times and shares as typed by users."""

import re
from fractions import Fraction

from certree.models.common.errors import InputError, short

_SIZE_UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "KIB": 2**10, "MIB": 2**20, "GIB": 2**30}
_SPELLINGS = {"KB": "KB", "MB": "MB", "GB": "GB", "KIB": "KiB", "MIB": "MiB", "GIB": "GiB"}
_TIME_UNITS: dict[str, Fraction | int] = {"": 1, "ms": Fraction(1, 1000), "s": 1, "m": 60, "h": 3600}
_QUANTITY = re.compile(r"([0-9]{1,18}(?:\.[0-9]{1,18})?)\s*([A-Za-z]*)", re.ASCII)
_BITS = re.compile(r"([KMG]I?)?B(IT|ITS|PS)?", re.IGNORECASE)
_BANDWIDTH = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,9})?) ?([KMGT]?)(B/s|b/s|bps)")
_FACTORS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_WANTED = "a positive number of bytes with B, KB, MB, GB, KiB, MiB or GiB, such as 64MiB or 1.5KiB; a bare number is in bytes"

MAX_SIZE = 1 << 50  # bytes of a message: every time derived from it fits 64 bits


def parse_size(text: str) -> int:
    """The number of bytes of `64MiB`, `1.5KiB`, `1MB`, `4096`.

    InputError unless it is a whole number of bytes from 1 to MAX_SIZE. A small b stands for bits, which are refused; the error
    offers both possible spellings in bytes.
    """
    match = _QUANTITY.fullmatch(text.strip())
    number, unit = (Fraction(match[1]), match[2]) if match else (Fraction(0), "")
    if number and not unit.endswith("B") and _BITS.fullmatch(unit) is not None:
        raise InputError(f"size {text!r}: {_offer(match[1] if match else '', number, unit)}")
    if not number or unit.upper() not in _SIZE_UNITS:
        raise InputError(f"size {short(text)}: expected {_WANTED}")
    size = number * _SIZE_UNITS[unit.upper()]
    if size.denominator > 1:
        raise InputError(f"size {text!r}: {_decimal(size)} bytes; expected a whole number of bytes")
    return _in_range(int(size), text)


def read_size(value: object) -> int:
    """The number of bytes of a size in a document or argument, a text as in `parse_size` or a whole number. InputError."""
    if isinstance(value, str):
        return parse_size(value)
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise InputError(f"size {short(value)}: expected {_WANTED}")
    return _in_range(value.__index__(), value)


def _in_range(size: int, given: object) -> int:
    if not 1 <= size <= MAX_SIZE:
        raise InputError(f"size {short(given)}; allowed: 1 to {MAX_SIZE} bytes")
    return size


def _offer(number: str, value: Fraction, unit: str) -> str:
    """The size in bytes with the letters as they are, and with the bits as bytes."""
    prefix = _BITS.fullmatch(unit)[1] or ""  # type: ignore[index]
    spelled = _SPELLINGS.get(f"{prefix.upper()}B", "B")
    size = value * _SIZE_UNITS[f"{prefix.upper()}B"] / 8
    in_bits = f"; {number} {spelled[:-1]}bit are {_decimal(size)}B" if size.denominator == 1 else ""
    return f"{unit!r} stands for bits; sizes are in bytes: write {number}{spelled}{in_bits}"


def _decimal(value: Fraction) -> str:
    """A number whose denominator has no other factors than 2 and 5, in decimals."""
    whole, rest = divmod(value, 1)
    digits = ""
    while rest:
        digit, rest = divmod(rest * 10, 1)
        digits += str(digit)
    return f"{whole}.{digits}" if digits else str(whole)


def parse_duration(text: str) -> Fraction:
    """Seconds of `60s`, `1.5s`, `500ms`, `2m`, or of a bare number; InputError unless positive."""
    match = _QUANTITY.fullmatch(text.strip())
    number, unit = (Fraction(match[1]), match[2].lower()) if match else (Fraction(0), "")
    if not number or unit not in _TIME_UNITS:
        raise InputError(f"time {short(text)}: expected a positive number with ms, s, m or h; a bare number is in seconds")
    return number * _TIME_UNITS[unit]


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


def parse_bandwidth(text: str, where: str, error: type[InputError] = InputError) -> Fraction:
    """Bytes per second of `25GB/s`, `200Gb/s`, `400Gbps`, `15.75GB/s`; `error` unless positive."""
    match = _BANDWIDTH.fullmatch(text)
    if match is None or not Fraction(match[1]):
        raise error(f"{where}: bandwidth {text!r}: expected a positive number with B/s or b/s, such as 25GB/s or 200Gb/s")
    return Fraction(match[1]) * _FACTORS[match[2]] / (1 if match[3] == "B/s" else 8)
