"""Sizes, times and shares as people type them."""

from fractions import Fraction

import numpy as np
import pytest

from certree.models.common.errors import InputError
from certree.models.common.quantities import MAX_SIZE, parse_duration, parse_size, read_size
from tests.cli.running import assert_bad_input, certree


@pytest.mark.parametrize(
    ("text", "size"),
    [("1", 1), ("4096", 4096), ("17B", 17), ("375KiB", 375 * 1024), ("1MB", 10**6), ("64MiB", 64 << 20), ("2 GiB", 2 << 30),
     ("3gB", 3 * 10**9), ("9kB", 9000), (f"{MAX_SIZE}", MAX_SIZE), ("1.5MiB", 3 << 19), ("0.5KiB", 512), ("1.001KB", 1001),
     ("123456789012.345KB", 123456789012345)],
)  # fmt: skip
def test_size(text, size):
    assert parse_size(text) == size
    assert read_size(text) == size


@pytest.mark.parametrize(
    "text",
    ["", "0", "0MiB", "0.0KB", "-1", "-64MiB", "64TiB", "MiB", "1e6", "64 Mi B", "٣", "9" * 5000, "10M", "1/2MB", "10MB/s", ".5KB"],
)
def test_bad_size(text):
    with pytest.raises(InputError, match="expected a positive number of bytes with B, KB, MB, GB, KiB, MiB or GiB"):
        parse_size(text)


@pytest.mark.parametrize(
    ("text", "offer"),
    [("10Mb", "'Mb' stands for bits; sizes are in bytes: write 10MB; 10 Mbit are 1250000B"),
     ("10Mbit", "'Mbit' stands for bits; sizes are in bytes: write 10MB; 10 Mbit are 1250000B"),
     ("8kbps", "write 8KB; 8 Kbit are 1000B"), ("64mib", "write 64MiB; 64 Mibit are 8388608B"), ("3gb", "write 3GB"),
     ("12b", "'b' stands for bits; sizes are in bytes: write 12B$"), ("16bits", "write 16B; 16 bit are 2B"),
     ("1.5Kb", "write 1.5KB$")],
)  # fmt: skip
def test_bits_are_refused(text, offer):
    with pytest.raises(InputError, match=offer):
        parse_size(text)


def test_whole_bytes():
    with pytest.raises(InputError, match=r"size '0\.1KiB': 102\.4 bytes; expected a whole number of bytes"):
        parse_size("0.1KiB")


def test_size_beyond_the_limit():
    for text in (f"{MAX_SIZE + 1}", "1048576.1GiB"):
        with pytest.raises(InputError, match=f"allowed: 1 to {MAX_SIZE} bytes|whole number of bytes"):
            parse_size(text)


def test_bare_numbers():
    """Numbers mean the same in arguments and documents, whatever their type; half a byte and a truth value are not sizes."""
    assert read_size(4096) == read_size("4096") == read_size(np.int64(4096)) == 4096
    for value in (0, -1, MAX_SIZE + 1, 1.0, True, None, [1]):
        with pytest.raises(InputError, match="size "):
            read_size(value)


@pytest.mark.parametrize(
    ("text", "seconds"), [("60s", 60), ("500ms", Fraction(1, 2)), ("2m", 120), ("1h", 3600), ("60", 60), ("1.5s", Fraction(3, 2))]
)
def test_duration(text, seconds):
    assert parse_duration(text) == seconds


@pytest.mark.parametrize("text", ["", "0", "0s", "-1s", "5 days", "1e3s", "1/2s"])
def test_bad_duration(text):
    with pytest.raises(InputError, match="expected a positive number with ms, s, m or h; a bare number is in seconds"):
        parse_duration(text)


@pytest.mark.parametrize(
    ("line", "reason"),
    [("synthesize ring:4 --size 10Mb", "size '10Mb': 'Mb' stands for bits; sizes are in bytes: write 10MB"),
     ("compare ring:4 --size 1MiB,2Mib", "size '2Mib': 'Mib' stands for bits"),
     ("simulate nothing.json --size 0.3B", "size '0.3B': 0.3 bytes; expected a whole number"),
     ("aggregate switch:4,reducing=switches --size 1,5MB", "size '1,5MB': expected a positive number of bytes"),
     ("cost ring:4 --size 0", "size '0': expected a positive number"),
     ("endpoints ace-torus:4x4x4 --chunk 64k", "size '64k': expected a positive number"),
     ("synthesize ring:4 --time-limit 5min", "time '5min': expected a positive number with ms, s, m or h")],
)  # fmt: skip
def test_commands_refuse(line, reason):
    assert_bad_input(certree(*line.split()), reason)
